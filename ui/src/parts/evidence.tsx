// SPDX-License-Identifier: Apache-2.0
// Beside a prediction: what would move it, how far to trust it, what was assumed.
import type { JSX } from 'preact';
import { percent, signedPercent } from '../format';
import { address, params } from '../state';
import type { NearestCase, Sensitivity } from '../types';
import { plainly, resourceName } from '../words';
import { Bars } from './bars';
import { Figure } from './figure';

const effectOf = (entry: Sensitivity): number => entry.step_seconds ?? entry.tpot_seconds ?? entry.latency_seconds ?? 0;

/** Below this nothing moves, to the digits shown. */
const still = 0.0005;

export function SensitivityFigure({
  entries,
  summary,
  of,
}: {
  entries: Sensitivity[];
  summary: string | undefined;
  of: string;
}): JSX.Element {
  const sorted = [...entries].sort((a, b) => effectOf(a) - effectOf(b));
  const bars = sorted.map((entry) => {
    const effect = effectOf(entry);
    const faint = Math.abs(effect) < still;
    const sign = entry.change > 0 ? '+' : '\u2212';
    return {
      label: `${sign}${Math.abs(entry.change * 100)} % ${resourceName(entry.parameter)}`,
      value: Math.abs(effect),
      text: signedPercent(effect),
      faint,
      tone: faint ? 'var(--rule)' : 'var(--work)',
    };
  });
  return (
    <Figure
      name="sensitivity"
      title="What would move it"
      note={summary}
      rows={() =>
        sorted.map((entry) => ({ parameter: entry.parameter, change: entry.change, effect: effectOf(entry) }))
      }
    >
      <Bars bars={bars} most={0.02} label={`effect of a tenth more of each resource on ${of}`} />
    </Figure>
  );
}

const likeness = (entry: NearestCase): string =>
  [entry.device ? 'device' : '', entry.runtime ? 'runtime' : ''].filter((word) => word !== '').join(', ') || 'kind';

export function Trust({ cases }: { cases: NearestCase[] }): JSX.Element {
  return (
    <section class="trust">
      <h3>How far to trust it</h3>
      {cases.length === 0 ? (
        <p class="note">
          Only a few of the measured cases are shipped inside the program, and none of <em>those few</em> is on this
          device or runtime: <a href={address('accuracy', params.value)}>these are shipped</a>. How far it lay off all
          others is said above.
        </p>
      ) : (
        <>
          <p class="note">
            Error of the nearest measured cases. <a href={address('accuracy', params.value)}>All of them</a>.
          </p>
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">source</th>
                <th scope="col">like this in</th>
                <th scope="col" class="n">
                  cases
                </th>
                <th scope="col" class="n">
                  median
                </th>
                <th scope="col" class="n">
                  mean
                </th>
              </tr>
            </thead>
            <tbody>
              {cases.map((entry) => (
                <tr key={entry.group}>
                  <th scope="row">{entry.group}</th>
                  <td>{likeness(entry)}</td>
                  <td class="n">{entry.cases}</td>
                  <td class="n">{percent(entry.median_ape)}</td>
                  <td class="n">{percent(entry.mape)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

function Listed({ title, of }: { title: string; of: string[] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <section class="assumptions">
      <h3>{title}</h3>
      <ul>
        {of.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

export const Assumptions = ({ of }: { of: string[] }): JSX.Element | null => (
  <Listed title="Assumed" of={of.map(plainly)} />
);

/** Choices that lie outside of everything measured, each once. */
export const OutsideMeasured = ({ of }: { of: string[] }): JSX.Element | null => (
  <Listed title="Outside of everything measured" of={[...new Set(of)]} />
);
