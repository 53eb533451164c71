// SPDX-License-Identifier: Apache-2.0
// Run: a training run of so many tokens: days, dollars, energy, and what failures and checkpoints take of it.
import type { JSX } from 'preact';
import { post } from '../api';
import { choosing } from '../choose';
import { bytes, devices, digits, dollars, grouped, parameters, percent, seconds, thousands } from '../format';
import { useLive } from '../live';
import { asAnswered } from '../overrides';
import { Answered, TrainingOnly } from '../parts/answered';
import { Bars } from '../parts/bars';
import { Assumptions } from '../parts/evidence';
import { TextField, problemsOf } from '../parts/fields';
import { Figure } from '../parts/figure';
import { excess } from '../parts/memory';
import { PriceField, Scenario, modelOf } from '../parts/scenario';
import { change, kind, params, requestOf } from '../state';
import type { Fields, Problem, Run as WholeRun, TrainAnswer } from '../types';
import { usedBy } from '../used';
import { strategyLine } from '../words';
import { Headline, rangeIn, split, trainedOf } from './predict';

const usualTokens = '1T';

function Aims({ problems }: { problems: Problem[] }): JSX.Element {
  return (
    <>
      <TextField
        label="Tokens"
        name="tokens"
        value={params.value['tokens'] ?? usualTokens}
        placeholder="15T"
        problems={problemsOf(problems, 'tokens')}
        onChange={(tokens) => change({ tokens })}
      />
      <PriceField problems={problems} />
    </>
  );
}

const days = (value: number): string => `${digits(value)}\u202fdays`;

const megawattHours = (value: number): string => `${digits(value)}\u202fMWh`;

const about = (value: number): string => `$\u202f${thousands(value)}`;

function Headlines({ run, gpus, fits }: { run: WholeRun; gpus: number; fits: boolean }): JSX.Element {
  return (
    <dl class={`headlines ${fits ? '' : 'unfit'}`}>
      <Headline
        main
        label="the whole run"
        {...split(days(run.days))}
        range={rangeIn(run, 'days', days)}
        detail={`${grouped(run.steps)} steps on ${devices(gpus)}`}
      />
      <Headline
        label="cost"
        value={run.dollars !== undefined ? dollars(run.dollars) : '–'}
        range={rangeIn(run, 'dollars', about)}
        detail={
          run.dollars !== undefined
            ? `${grouped(run.gpu_hours)} GPU hours`
            : `${grouped(run.gpu_hours)} GPU hours; a price gives the cost`
        }
      />
      <Headline
        label="energy"
        {...split(megawattHours(run.megawatt_hours))}
        range={rangeIn(run, 'megawatt_hours', megawattHours)}
        detail={run.co2_tonnes > 0 ? `${digits(run.co2_tonnes)} t of CO₂` : ''}
      />
      <Headline
        label="goodput"
        means="the share of the run's time that trains; the rest is lost to failures and checkpoints"
        {...split(percent(run.goodput))}
        detail={`${digits(run.interruptions)} interruptions, one every ${seconds(run.between_interruptions_seconds)}`}
      />
    </dl>
  );
}

function Losses({ run }: { run: WholeRun }): JSX.Element {
  const parts: [string, number, string][] = [
    ['training', run.days_without_failures, 'var(--work)'],
    ['checkpoints', run.lost_to_checkpoints_days, 'var(--link)'],
    ['work done again', run.lost_work_days, 'var(--rest)'],
    ['restarts', run.lost_to_restarts_days, 'var(--rest)'],
  ];
  return (
    <Figure
      name="run"
      title="Where the days go"
      note={`A checkpoint of ${bytes(run.checkpoint_bytes)} every ${seconds(run.checkpoint_interval_seconds)} takes ${seconds(run.checkpoint_seconds)}. One run in a hundred takes more than ${days(run.days_p99)}.`}
      rows={() => parts.map(([part, value]) => ({ part, days: value }))}
    >
      <Bars
        bars={parts.map(([label, value, tone]) => ({
          label,
          value,
          tone,
          text: days(value),
          after: percent(value / run.days),
        }))}
        label={parts.map(([label, value]) => `${label}: ${days(value)}`).join(', ')}
      />
    </Figure>
  );
}

function Result({ answer, run, stale }: { answer: TrainAnswer; run: WholeRun; stale: boolean }): JSX.Element {
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>
          {modelOf(answer)} <span>on</span> {parameters(run.tokens)}{' '}
          <span>{run.tokens === 1 ? 'token' : 'tokens'}</span>
        </h1>
        <p class="subtitle">
          {devices(answer.gpus)} of {answer.system}
          {asAnswered(answer)}; {strategyLine(answer.strategy)}; {answer.runtime}
          {trainedOf(answer)}
        </p>
      </header>
      <Headlines run={run} gpus={answer.gpus} fits={answer.memory.fits} />
      {!answer.memory.fits && (
        <section class="verdict bad" role="status">
          <p>
            <strong>Does not fit in memory:</strong> {excess(answer.memory)}; the run is that of one with more.
          </p>
        </section>
      )}
      <Losses run={run} />
      <Assumptions of={answer.assumptions} />
    </div>
  );
}

function TrainingRun(): JSX.Element {
  const request = choosing.value ? null : requestOf(params.value, true);
  const price = params.value['price'];
  const body: Fields | null = request && {
    ...request,
    tokens: params.value['tokens'] ?? usualTokens,
    ...(price ? { price } : {}),
    choices: true,
  };
  const live = useLive<TrainAnswer>(body && JSON.stringify(body), (signal) => post('/train', body ?? {}, signal));
  const { answer, problems } = live;
  return (
    <div class="columns">
      <Scenario
        trainingOnly
        aims={<Aims problems={problems} />}
        used={{ values: usedBy(answer), choices: answer?.choices, problems }}
      />
      <Answered busy={live.busy} problems={problems}>
        {answer?.run && <Result answer={answer} run={answer.run} stale={problems.length > 0} />}
      </Answered>
    </div>
  );
}

export function Run(): JSX.Element {
  if (kind.value === 'train') return <TrainingRun />;
  return <TrainingOnly>A run is of training.</TrainingOnly>;
}
