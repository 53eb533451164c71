// SPDX-License-Identifier: Apache-2.0
// Serving: requests over time on engines; what their users wait, how far the limit is, what it costs, how few GPUs do.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { post } from '../api';
import { choosing } from '../choose';
import { bytes, devices, digits, grouped, joules, percent, seconds, thousands } from '../format';
import { useLive } from '../live';
import { asAnswered } from '../overrides';
import { Refused, Unanswered } from '../parts/answered';
import { Assumptions } from '../parts/evidence';
import { Planner } from '../parts/planner';
import { modelOf, modelTitle } from '../parts/scenario';
import type { Used } from '../parts/bound';
import { ServingFigures } from '../parts/serving-figures';
import { ServingForm } from '../parts/serving-form';
import { keyOf, limitOf, request, trace, traced } from '../serving';
import { bare, examples, kind, params, replaceQuietly } from '../state';
import type { Fields, Percentiles, TrafficAnswer, Uncertainty } from '../types';
import { useWhole } from '../whole';
import { termOf } from '../words';
import { Headline, rangeIn, split } from './predict';
import type { Range } from './predict';

/** What was measured are medians; what follows from the same times is known no better. */
const around = (
  value: number,
  { p50 }: Percentiles,
  { low, high }: Uncertainty,
  show: (value: number) => string,
): Range => ({
  low: (value * low) / p50,
  value,
  high: (value * high) / p50,
  show,
});

/** What 99 in 100 wait at most. */
function Latency({ name, of, sure }: { name: 'ttft' | 'tpot'; of: Percentiles; sure: Uncertainty }): JSX.Element {
  const limit = limitOf(`max_${name}_p99`);
  const word = name.toUpperCase();
  return (
    <Headline
      label={`${word} p99`}
      means={termOf(word)}
      over={limit !== null && of.p99 > limit}
      {...split(seconds(of.p99))}
      range={around(of.p99, of, sure, seconds)}
      detail={`half within ${seconds(of.p50)}`}
    />
  );
}

/** The more can be served, the less of it this is. */
function rangeOfLoad(answer: TrafficAnswer): Range {
  const { saturation: value, tpot_seconds: times, uncertainty } = answer;
  const show = (share: number): string => percent(share, 0);
  const most = rangeIn(answer, 'capacity_requests_per_second', digits);
  if (!most) return around(value, times, uncertainty, show);
  return { low: (value * most.value) / most.high, value, high: (value * most.value) / most.low, show };
}

const price = (value: number): string => `$ ${digits(value)}`;

function Headlines({ answer }: { answer: TrafficAnswer }): JSX.Element {
  return (
    <dl class="headlines">
      <Headline
        main
        label="of what it can serve"
        over={answer.saturation > 1}
        {...split(percent(answer.saturation, 0))}
        detail={`${digits(answer.offered_requests_per_second)} of ${digits(answer.capacity_requests_per_second)} requests/s, on ${devices(answer.gpus)}`}
        range={rangeOfLoad(answer)}
      />
      <Latency name="ttft" of={answer.ttft_seconds} sure={answer.first_token_uncertainty} />
      <Latency name="tpot" of={answer.tpot_seconds} sure={answer.uncertainty} />
      <Headline
        label="tokens/s"
        means={termOf('output tokens/s')}
        value={grouped(answer.output_tokens_per_second)}
        range={rangeIn(answer, 'output_tokens_per_second', thousands)}
        detail={`${grouped(answer.output_tokens_per_second / answer.gpus)} a GPU`}
      />
      {answer.dollars_per_million_tokens !== undefined ? (
        <Headline
          label="a million tokens"
          value={price(answer.dollars_per_million_tokens)}
          range={rangeIn(answer, 'dollars_per_million_tokens', price)}
          detail={`${joules(answer.joules_per_token)} a token`}
        />
      ) : (
        <Headline
          label="energy a token"
          {...split(joules(answer.joules_per_token))}
          range={rangeIn(answer, 'joules_per_token', joules)}
          detail="a price gives the cost"
        />
      )}
    </dl>
  );
}

function Result({ answer, stale, body }: { answer: TrafficAnswer; stale: boolean; body: Fields | null }): JSX.Element {
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>
          {modelOf(answer)} <span>served by</span> {devices(answer.gpus)} <span>of</span> {answer.system}
          <span>{asAnswered(answer)}</span>
        </h1>
        <p class="subtitle">
          {answer.runtime}; {grouped(answer.completed)} requests over {seconds(answer.seconds)}; room for{' '}
          {grouped(answer.memory.cache_tokens)} tokens of cache in {bytes(answer.memory.kv_cache_bytes)}.
        </p>
      </header>
      <Headlines answer={answer} />
      {answer.warnings.length > 0 && (
        <section class="verdict" role="status">
          {answer.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </section>
      )}
      <ServingFigures answer={answer} />
      {(body?.['rate'] !== undefined || traced()) && <Planner body={body} />}
      <Assumptions of={answer.assumptions} />
    </div>
  );
}

/** A training scenario has a model and a system to serve; its strategy and batch are another question's. */
function adopt(): void {
  const { model, config, system, made } = params.value;
  if (kind.value === 'infer') return;
  const own = bare.value
    ? {}
    : { ...(config ? { config } : model ? { model } : {}), ...(system ? { system } : {}), ...(made ? { made } : {}) };
  const { model: usual, ...rest } = examples.infer;
  replaceQuietly({ ...rest, ...(config && !bare.value ? {} : usual ? { model: usual } : {}), ...own });
}

export function Serving(): JSX.Element {
  useEffect(adopt, []);
  const asks = kind.value === 'infer' && !choosing.value;
  const body = asks ? request() : null;
  // Which degrees are legal does not depend on the requests.
  const { input: _in, output: _out, batch: _batch, engine, ...engines } = params.value;
  const whole = useWhole(asks ? { ...engines, ...(engine ? { runtime: engine } : {}) } : null);
  const live = useLive<TrafficAnswer>(body && keyOf(body), (signal) => post('/traffic', body ?? {}, signal));
  const { answer, problems } = live;
  const used: Used = { values: {}, choices: whole.problems.length > 0 ? undefined : whole.answer?.choices, problems };
  return (
    <div class="columns">
      <ServingForm used={used} runtime={params.value['engine'] ?? answer?.runtime ?? 'vllm'} />
      <main>
        <Refused problems={answer ? problems : []} />
        {answer ? (
          <Result answer={answer} stale={problems.length > 0 || !live.settled} body={body} />
        ) : (
          <Unanswered busy={live.busy} problems={problems}>
            {traced() && !trace.value ? 'Choose a trace of requests on the left.' : `Serving ${modelTitle()}`}
          </Unanswered>
        )}
      </main>
    </div>
  );
}
