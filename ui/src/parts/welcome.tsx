// SPDX-License-Identifier: Apache-2.0
// The first five seconds: what this is, and four runs that someone measured, each a click away.
import type { JSX } from 'preact';
import { inlined } from '../api';
import { grouped, seconds, signedPercent } from '../format';
import { measured, paramsOf } from '../measured';
import { address, params, validation } from '../state';
import type { MeasuredCase } from '../types';

/** Of the cases that come with the program; those it does not have are left out. */
const shown: [id: string, title: string, detail: string][] = [
  ['175b-selective', 'Train GPT-3 175B', '64 A100, Megatron-LM'],
  ['1t-selective', 'Train a 1T model', '512 A100, Megatron-LM'],
  ['llama2-70b-h100-tp8', 'Answer with Llama 2 70B', '8 H100, NeMo'],
  ['llama2-7b-a100-tp1', 'Answer with Llama 2 7B', 'one A100, NeMo'],
];

function Card({ of, title, detail }: { of: MeasuredCase; title: string; detail: string }): JSX.Element {
  const row = validation.value?.rows.find((entry) => entry.id === of.id);
  return (
    <a class="card" href={address('predict', paramsOf(of))}>
      <b>{title}</b>
      <span>{detail}</span>
      <span>
        measured <strong>{seconds(of.measured)}</strong>
      </span>
      <span>
        {row ? (
          <>
            predicted <strong>{seconds(row.predicted)}</strong>, {signedPercent(row.error)}
          </>
        ) : (
          ' '
        )}
      </span>
    </a>
  );
}

export function Welcome(): JSX.Element | null {
  const cases = measured.value;
  if (inlined || params.value['hello'] === 'no') return null;
  return (
    <section class="welcome" aria-label="What this is">
      <p>
        <strong>Sextant predicts how fast a large language model trains or serves, in how much memory, and why</strong>:
        before anyone buys or runs anything.{' '}
        {validation.value && (
          <a href={address('accuracy', params.value)}>
            Checked against {grouped(validation.value.rows.length)} measurements
          </a>
        )}
      </p>
      <div class="cards">
        {shown.map(([id, title, detail]) => {
          const found = cases.find((entry) => entry.id === id);
          return found ? <Card key={id} of={found} title={title} detail={detail} /> : <span key={id} class="card" />;
        })}
      </div>
    </section>
  );
}
