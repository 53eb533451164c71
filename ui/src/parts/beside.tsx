// SPDX-License-Identifier: Apache-2.0
// Measured beside predicted: what someone measured of this very scenario, or what the reader did.
import type { JSX } from 'preact';
import { inlined } from '../api';
import { grouped, seconds, signedPercent, thousands } from '../format';
import { measuredFor } from '../measured';
import { change, kind, params } from '../state';
import type { Answer } from '../types';
import { isTraining, spreadOf } from '../types';
import { OutsideMeasured } from './evidence';

/** What a reader may have measured: a name, the predicted number, and how its text is read and written. */
interface Metric {
  name: string;
  of: (answer: Answer) => number;
  show: (value: number) => string;
  placeholder: string;
}

const stepTime: Metric = {
  name: 'step time',
  of: (answer) => (isTraining(answer) ? answer.step_seconds : 0),
  show: seconds,
  placeholder: '9.1 s, or 230000 tokens/s',
};
const tokenRate: Metric = {
  name: 'tokens/s',
  of: (answer) => (isTraining(answer) ? answer.tokens_per_second : answer.output_tokens_per_second),
  show: thousands,
  placeholder: '',
};
const tokenTime: Metric = {
  name: 'TPOT',
  of: (answer) => (isTraining(answer) ? 0 : answer.tpot_seconds),
  show: seconds,
  placeholder: '18 ms, or 900 tokens/s',
};

/** '9.1 s', '910 ms', '230k tokens/s', or a bare number of the usual unit. */
export function readMeasurement(text: string): { value: number; rate: boolean } | null {
  const [, number, kilo, unit] =
    /^\s*([\d.,]+)\s*(k)?\s*(s|ms|us|µs|tokens?\/s|tok\/s)?\s*$/i.exec(text.replace(/\u202f/g, ' ')) ?? [];
  if (number === undefined) return null;
  const value = Number(number.replace(/,(?=\d{3}\b)/g, '')) * (kilo ? 1000 : 1);
  if (!Number.isFinite(value) || value <= 0) return null;
  const sizes: Record<string, number> = { s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6 };
  if (unit && /tok/i.test(unit)) return { value, rate: true };
  return { value: value * (sizes[(unit ?? 's').toLowerCase()] ?? 1), rate: false };
}

const labels: Record<string, string> = {
  step_seconds: 'step time',
  latency_seconds: 'a request',
  ttft_seconds: 'TTFT',
  tpot_seconds: 'TPOT',
  tokens_per_second_per_gpu: 'tokens/s a GPU',
};

function Line({
  who,
  name,
  value,
  predicted,
  show,
}: {
  who: string;
  name: string;
  value: number;
  predicted: number;
  show: (value: number) => string;
}): JSX.Element {
  const error = predicted / value - 1;
  return (
    <p>
      {who}: {name} <strong>{show(value)}</strong>. Predicted {show(predicted)},{' '}
      <strong>{Math.abs(error) < 0.0005 ? 'the same' : `${signedPercent(error)}`}</strong>.
    </p>
  );
}

export function Beside({ answer }: { answer: Answer }): JSX.Element | null {
  if (inlined) return null;
  const own = params.value['measured'] ?? '';
  const read = own === '' ? null : readMeasurement(own);
  const usual = isTraining(answer) ? stepTime : tokenTime;
  const metric = read?.rate ? tokenRate : usual;
  const run = measuredFor(answer, kind.value);
  const predicted = run ? (answer as unknown as Record<string, number>)[run.metric] : undefined;
  const { low, high } = spreadOf(answer);
  return (
    <section class="beside" aria-label="Measured beside predicted">
      {run && predicted !== undefined && (
        <Line
          who={`Measured (${run.group}, ${run.id})`}
          name={labels[run.metric] ?? run.metric.replace(/_/g, ' ')}
          value={run.measured}
          predicted={predicted}
          show={run.metric.endsWith('seconds') ? seconds : thousands}
        />
      )}
      {read && (
        <Line
          who="You measured"
          name={metric.name}
          value={read.value}
          predicted={metric.of(answer)}
          show={metric.show}
        />
      )}
      <p class="note">
        <label>
          Measured it yourself?{' '}
          <input
            type="text"
            name="measured"
            value={own}
            size={24}
            placeholder={usual.placeholder}
            aria-label={`Your measurement of the ${usual.name}`}
            aria-invalid={own !== '' && !read}
            onChange={(event) => change({ measured: event.currentTarget.value.trim() })}
          />
        </label>{' '}
        {own !== '' && !read && <span class="red">expected a time or a rate, such as {usual.placeholder}</span>}
        {own === '' && (
          <>
            Of {grouped(answer.uncertainty.cases)} like it nine in ten lay between {signedPercent(low - 1, 0)} and{' '}
            {signedPercent(high - 1, 0)} ({answer.uncertainty.basis}).
          </>
        )}
      </p>
      <OutsideMeasured of={answer.uncertainty.unmeasured.map(({ sentence }) => sentence)} />
    </section>
  );
}
