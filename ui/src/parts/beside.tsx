// SPDX-License-Identifier: Apache-2.0
// Measured beside predicted: what someone measured of this very scenario, or what the reader did.
import type { JSX } from 'preact';
import { inlined } from '../api';
import { flopRate, grouped, percent, rates, readMeasurement, seconds, signedPercent, thousands } from '../format';
import type { Measurement } from '../format';
import { measuredFor } from '../measured';
import { change, kind, params } from '../state';
import type { Answer } from '../types';
import { isTraining, spreadOf } from '../types';
import { OutsideMeasured } from './evidence';

/** What a reader may have measured: a name, the predicted number where the question has one, and how it is written. */
interface Metric {
  name: string;
  of: (answer: Answer) => number | undefined;
  show: (value: number) => string;
}

const metrics: Record<Measurement['metric'], Metric> = {
  time: {
    name: 'step time',
    of: (answer) => (isTraining(answer) ? answer.step_seconds : answer.tpot_seconds),
    show: seconds,
  },
  rate: {
    name: 'tokens/s',
    of: (answer) => (isTraining(answer) ? answer.tokens_per_second : answer.output_tokens_per_second),
    show: thousands,
  },
  rateOfOne: {
    name: 'tokens/s a GPU',
    of: (answer) => (isTraining(answer) ? answer.tokens_per_second_per_gpu : answer.output_tokens_per_second_per_gpu),
    show: rates,
  },
  share: { name: 'MFU', of: (answer) => (isTraining(answer) ? answer.mfu : undefined), show: percent },
  flops: {
    name: 'FLOP/s a GPU',
    of: (answer) => (isTraining(answer) ? answer.model_tflops_per_gpu * 1e12 : undefined),
    show: flopRate,
  },
};

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
  const training = isTraining(answer);
  const usual = training ? 'step time' : 'TPOT';
  const examples = training ? '9.1 s, or 230000 tokens/s' : '18 ms, or 900 tokens/s';
  const metric = read && metrics[read.metric];
  const expected = metric?.of(answer);
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
      {read && metric && expected !== undefined && (
        <Line
          who="You measured"
          name={read.metric === 'time' ? usual : metric.name}
          value={read.value}
          predicted={expected}
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
            placeholder={examples}
            aria-label={`Your measurement of the ${usual}`}
            aria-invalid={own !== '' && expected === undefined}
            onChange={(event) => change({ measured: event.currentTarget.value.trim() })}
          />
        </label>{' '}
        {own !== '' && expected === undefined && <span class="red">expected a time or a rate, such as {examples}</span>}
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
