// SPDX-License-Identifier: Apache-2.0
// Timeline: the pipeline schedule, stages as rows; zoom and pan; a file for ui.perfetto.dev.
import type { JSX } from 'preact';
import { choosing } from '../choose';
import { post } from '../api';
import { devices, grouped, percent, seconds } from '../format';
import { useLive } from '../live';
import { asAnswered } from '../overrides';
import { Answered, TrainingOnly } from '../parts/answered';
import { save } from '../parts/download';
import { Figure } from '../parts/figure';
import { Gantt } from '../parts/gantt';
import { Scenario, modelOf } from '../parts/scenario';
import { describe, legendOf, perfetto } from '../schedule';
import { kind, params, requestOf } from '../state';
import type { Fields, Part, Timeline as Schedule, TrainAnswer } from '../types';
import { usedBy } from '../used';
import { strategyLine } from '../words';
import { Headline, rangeOf, split, trainedOf } from './predict';

/** The part of a breakdown that has this label, wherever it is. */
function partOf(whole: Part, label: string): Part | undefined {
  if (whole.label === label) return whole;
  return whole.parts.map((part) => partOf(part, label)).find((part) => part !== undefined);
}

function Result({ answer, schedule, stale }: { answer: TrainAnswer; schedule: Schedule; stale: boolean }): JSX.Element {
  const spans = schedule.spans ?? [];
  const { stages, microbatches } = schedule;
  const whole = schedule.seconds ?? answer.step_seconds;
  const bubble = partOf(answer.breakdown, 'bubble');
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>One pipeline of {modelOf(answer)}</h1>
        <p class="subtitle">
          {strategyLine(answer.strategy)}; {devices(answer.gpus)} of {answer.system}
          {asAnswered(answer)}; {answer.runtime}
          {trainedOf(answer)}
        </p>
      </header>
      <dl class="headlines">
        <Headline
          main
          label="a step"
          {...split(seconds(answer.step_seconds, 4))}
          range={rangeOf(answer.step_seconds, answer, seconds)}
          detail={`${grouped(answer.batch * answer.seq)} tokens`}
        />
        <Headline
          label="bubble"
          {...split(percent(bubble?.share ?? 0))}
          detail={`${seconds(bubble?.seconds ?? 0)} waiting for the first and last microbatch`}
        />
        <Headline
          label="microbatches"
          value={grouped(microbatches)}
          detail={`${stages} ${stages === 1 ? 'stage' : 'stages'}${answer.strategy.interleave > 1 ? ` of ${answer.strategy.interleave} chunks` : ''}`}
        />
      </dl>
      {schedule.too_large ? (
        <p class="note">
          This schedule has more spans than can be drawn here: fewer microbatches or stages show the same pattern. The
          program’s <code>train --trace</code> writes it whole.
        </p>
      ) : (
        <Figure
          name="timeline"
          title="Schedule"
          rows={() => spans.map((span) => ({ ...span }))}
          extra={
            <button
              type="button"
              class="quiet"
              onClick={() => save('sextant-trace.json', 'application/json', perfetto(spans, stages))}
            >
              Perfetto
            </button>
          }
          note={
            <>
              {legendOf(spans).map(({ tone, kinds }) => (
                <span key={tone} class="legend">
                  <i class="key" style={{ background: tone }} /> {kinds}
                </span>
              ))}
            </>
          }
        >
          <Gantt
            spans={spans}
            names={Array.from({ length: stages }, (_, stage) => `stage ${stage}`)}
            whole={whole}
            wholeName="Whole step"
            label="Pipeline schedule"
            say={describe}
          />
        </Figure>
      )}
    </div>
  );
}

function TrainingTimeline(): JSX.Element {
  const request = choosing.value ? null : requestOf(params.value);
  const body: Fields | null = request && { ...request, timeline: true, choices: true };
  const live = useLive<TrainAnswer>(body && JSON.stringify(body), (signal) => post('/train', body ?? {}, signal));
  const { answer, problems } = live;
  return (
    <div class="columns">
      <Scenario trainingOnly used={{ values: usedBy(answer), choices: answer?.choices, problems }} />
      <Answered busy={live.busy} problems={problems}>
        {answer?.timeline && <Result answer={answer} schedule={answer.timeline} stale={problems.length > 0} />}
      </Answered>
    </div>
  );
}

export function TimelineView(): JSX.Element {
  if (kind.value === 'train') return <TrainingTimeline />;
  return <TrainingOnly>Pipelines are drawn for training.</TrainingOnly>;
}
