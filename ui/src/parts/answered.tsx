// SPDX-License-Identifier: Apache-2.0
// What stands beside a form: the answer, or why there is none.
import type { ComponentChildren, JSX } from 'preact';
import type { Problem } from '../types';
import { Problems } from './fields';
import { switchKind } from './scenario';

export function Placeholder({ busy, children }: { busy: boolean; children?: ComponentChildren }): JSX.Element {
  return <div class="placeholder">{busy ? 'Computing …' : children}</div>;
}

export function Refused({ problems }: { problems: Problem[] }): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <section class="verdict bad refused" role="status">
      <p>
        {problems.some(({ unreachable }) => unreachable) ? (
          <>
            <strong>No answer.</strong> The one shown is of the last question that had one; this one is asked again.
          </>
        ) : (
          <>
            <strong>This cannot run.</strong> The answer shown is the last one that could.
          </>
        )}
      </p>
      <Problems of={problems} named />
    </section>
  );
}

interface State {
  busy: boolean;
  problems: Problem[];
  children?: ComponentChildren;
}

/** What keeps an answer from being given; or where nothing does, what the children say. */
export function Unanswered({ busy, problems, children }: State): JSX.Element {
  return (
    <Placeholder busy={busy && problems.length === 0}>
      <Problems of={problems} named />
      {problems.length === 0 && children}
    </Placeholder>
  );
}

/** The answer, its children, and what is wrong with the question since; or why there is none. */
export function Answered({ busy, problems, children }: State): JSX.Element {
  return (
    <main>
      <Refused problems={children ? problems : []} />
      {children || <Unanswered busy={busy} problems={problems} />}
    </main>
  );
}

/** Of a view that has nothing to say of serving. */
export function TrainingOnly({ children }: { children: string }): JSX.Element {
  return (
    <main class="whole">
      <p class="note">
        {children}{' '}
        <button type="button" onClick={() => switchKind('train')}>
          Switch to training
        </button>
      </p>
    </main>
  );
}
