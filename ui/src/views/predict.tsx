// SPDX-License-Identifier: Apache-2.0
// Predict: a scenario on the left, its answer on the right, following every movement.
import type { JSX } from 'preact';
import { dot, line, text } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { choosing } from '../choose';
import { inlined, post } from '../api';
import {
  bytes,
  devices,
  digits,
  grouped,
  hertz,
  joules,
  parameters,
  percent,
  seconds,
  thousands,
  watts,
} from '../format';
import { useLive, useRested } from '../live';
import { asAnswered } from '../overrides';
import { Refused, Unanswered } from '../parts/answered';
import { Breakdown } from '../parts/breakdown';
import { Assumptions, SensitivityFigure, Trust } from '../parts/evidence';
import { Figure, PlotBox, Steady, decades } from '../parts/figure';
import { MemoryFigure, TwoMemories, excess } from '../parts/memory';
import { Beside } from '../parts/beside';
import { Scenario, adapterTitle, modelOf } from '../parts/scenario';
import { Welcome } from '../parts/welcome';
import { scenarioOf } from '../search';
import { bare, change, kind, params, replace, requestOf } from '../state';
import type { Answer, CurvePoint, Fields, InferAnswer, InferFit, Part, Problem, TrainAnswer, TrainFit } from '../types';
import { isTraining, spreadOf } from '../types';
import { partsOn, usedBy } from '../used';
import { changeInWords, strategyLine, termOf } from '../words';

export interface Range {
  low: number;
  value: number;
  high: number;
  show: (value: number) => string;
  /** Of ten cases, those that lie between: nine where nothing else is said. */
  cases?: string;
}

export function Headline({
  value,
  unit,
  label,
  detail,
  main,
  over,
  means,
  range,
}: {
  value: string;
  unit?: string;
  label: string;
  detail?: string;
  main?: boolean;
  /** More than there is. */
  over?: boolean;
  /** What the word says, for those who hover or ask. */
  means?: string;
  /** Where the number lies, as a rule; what is asked for only when the hand rests has its room before. */
  range?: Range | 'later' | undefined;
}): JSX.Element {
  return (
    <div class={`headline ${main ? 'main' : ''} ${over ? 'over' : ''}`}>
      <dt>{means ? <abbr title={means}>{label}</abbr> : label}</dt>
      <dd>
        <span class="value">{value}</span>
        {unit && <span class="unit"> {unit}</span>}
        {range === 'later' ? <span class="room"> </span> : range && <ErrorBar {...range} />}
        {detail && <small>{detail}</small>}
      </dd>
    </div>
  );
}

/** "10.8 – 14.5 TB/s": what both are counted in is said once. */
export function between(low: string, high: string): string {
  const [first, last] = [split(low), split(high)];
  return `${first.unit === last.unit ? first.value : low} – ${high}`;
}

/** From low to high, the value between them; the scale is the range's own. */
function ErrorBar({ low, value, high, show, cases = 'nine' }: Range): JSX.Element | null {
  // What is as sure as what was given, a rate that is served whatever a token takes, needs no bar.
  if (show(low) === show(high)) return null;
  // Of numbers that may turn out on one side alone the stated one lies at the end, or beyond it.
  const at = Math.min(1, Math.max(0, (value - low) / (high - low || 1))) * 38 + 1;
  const words = `${show(low)} to ${show(high)} in ${cases} cases of ten`;
  return (
    <span class="error-bar" title={words}>
      <svg width="40" height="9" role="img" aria-label={words}>
        <path d={`M1 4.5H39M1 1V8M39 1V8`} stroke="currentColor" />
        <circle cx={at} cy={4.5} r={3.4} fill="var(--work)" />
      </svg>{' '}
      {between(show(low), show(high))}
    </span>
  );
}

/** "11.2 s" as its number and its unit, which are set in different sizes. */
export function split(text: string): { value: string; unit: string } {
  const at = text.search(/\s\D*$/);
  return at < 0 ? { value: text, unit: '' } : { value: text.slice(0, at), unit: text.slice(at + 1) };
}

/** A number of an answer with the interval that stands beside it, where one does. */
export function rangeIn(of: object, name: string, show: (value: number) => string): Range | undefined {
  const [low, value, high] = [`${name}_low`, name, `${name}_high`].map((key) => (of as Record<string, unknown>)[key]);
  return typeof low === 'number' && typeof value === 'number' && typeof high === 'number'
    ? { low, value, high, show }
    : undefined;
}

/** A time with the interval of the whole answer. */
export const rangeOf = (value: number, answer: Answer, show: (value: number) => string) => {
  const { low, high } = spreadOf(answer);
  return { low: value * low, value, high: value * high, show };
};

/** What is reached a second is the less the longer it takes. */
export const inverseOf = (value: number, answer: Answer, show: (value: number) => string) => {
  const { low, high } = spreadOf(answer);
  return { low: value / high, value, high: value / low, show };
};

/** What is trained, where it is not all of the model. */
export function trainedOf({ training, trained_parameters: some, parameters: all }: TrainAnswer): string {
  const frozen = partsOn(training.frozen);
  if (training.lora_rank === 0 && frozen.length === 0) return '';
  const how =
    training.lora_rank > 0
      ? `${adapterTitle(training.adapter)} of rank ${grouped(training.lora_rank)} on ${partsOn(training.lora_targets).join(', ')}`
      : `all but ${frozen.join(', ')}`;
  return `; trained: ${how}, ${parameters(some)} of ${parameters(all)} parameters`;
}

const muchMasked = 0.2; // of the model's FLOPs, from which on the program says so

/** MFU counts what attention's mask leaves out, and of long sequences comes near all of the peak. */
function maskedOf({ masked_share: masked, mfu, hardware_flops, model_flops }: TrainAnswer): string {
  if (masked < muchMasked) return '';
  // More than the peak cannot have been reached: then the program leaves it out of HFU.
  const hfu = (mfu * hardware_flops) / model_flops > 1 ? '; HFU is without' : '';
  return `; of these FLOPs ${percent(masked, 0)} are attention’s that its mask leaves out: without, MFU ${percent(mfu * (1 - masked))}${hfu}`;
}

/** What it takes of a device, whatever is asked. */
function Needs({ answer, drawn }: { answer: Answer; drawn: string }): JSX.Element {
  const { memory, energy } = answer;
  return (
    <>
      <Headline
        label="memory"
        over={!memory.fits}
        {...split(bytes(memory.total_bytes))}
        detail={memory.fits ? `of ${bytes(memory.capacity_bytes)}` : 'does not fit'}
      />
      {energy && (
        <Headline
          label="energy a token"
          {...split(joules(energy.joules_per_token))}
          range={rangeIn(energy, 'joules_per_token', joules)}
          detail={drawn}
        />
      )}
    </>
  );
}

function TrainHeadlines({ answer }: { answer: TrainAnswer }): JSX.Element {
  return (
    <dl class={`headlines ${answer.memory.fits ? '' : 'unfit'}`}>
      <Headline
        main
        label="step time"
        means={termOf('step time')}
        {...split(seconds(answer.step_seconds, 4))}
        range={rangeOf(answer.step_seconds, answer, seconds)}
        detail={`${grouped(answer.batch * answer.seq)} tokens`}
      />
      <Headline
        label="tokens/s"
        means={termOf('tokens/s')}
        value={grouped(answer.tokens_per_second)}
        range={inverseOf(answer.tokens_per_second, answer, thousands)}
        detail={`${grouped(answer.tokens_per_second_per_gpu)} a GPU`}
      />
      <Headline
        label="MFU"
        means={termOf('MFU')}
        {...split(percent(answer.mfu))}
        range={inverseOf(answer.mfu, answer, (value) => percent(Math.min(1, value), 0))}
        detail={`${digits(answer.model_tflops_per_gpu)} TFLOP/s a GPU; HFU ${percent(answer.hfu)}${maskedOf(answer)}`}
      />
      <Needs
        answer={answer}
        drawn={answer.power_watts ? `${watts(answer.power_watts)} a GPU at ${hertz(answer.clock_hz ?? 0)}` : ''}
      />
    </dl>
  );
}

/** What comes with a request: its tokens, and its images where there are some. */
const promptOf = ({ input, images }: InferAnswer['serving']): string =>
  `${grouped(input)} tokens${images > 0 ? ` and ${images} ${images === 1 ? 'image' : 'images'}` : ''} in`;

/** Who proposes tokens, where somebody does. */
const draftedBy = ({ speculate, draft }: InferAnswer['serving']): string =>
  speculate > 0
    ? `, ${speculate} ${speculate === 1 ? 'token' : 'tokens'} drafted a step${draft ? ` by ${draft}` : ''}`
    : '';

function InferHeadlines({ answer }: { answer: InferAnswer }): JSX.Element {
  return (
    <dl class={`headlines ${answer.memory.fits ? '' : 'unfit'}`}>
      <Headline
        main
        label="TPOT"
        means={termOf('TPOT')}
        {...split(seconds(answer.tpot_seconds, 4))}
        range={rangeOf(answer.tpot_seconds, answer, seconds)}
        detail={`${seconds(answer.latency_seconds)} a request`}
      />
      <Headline
        label="TTFT"
        means={termOf('TTFT')}
        {...split(seconds(answer.ttft_seconds))}
        range={rangeOf(answer.ttft_seconds, answer, seconds)}
        detail={promptOf(answer.serving)}
      />
      <Headline
        label="tokens/s"
        means={termOf('output tokens/s')}
        value={grouped(answer.output_tokens_per_second)}
        range={inverseOf(answer.output_tokens_per_second, answer, thousands)}
        detail={`${grouped(answer.output_tokens_per_second_per_gpu)} a GPU`}
      />
      <Needs answer={answer} drawn={answer.decode ? `${watts(answer.decode.power_watts)} a GPU, decoding` : ''} />
    </dl>
  );
}

function adoptTraining({ strategy }: TrainFit): void {
  const gpus = strategy.tp * strategy.cp * strategy.pp * strategy.dp;
  replace(scenarioOf({ strategy, prediction: { gpus } }, params.value));
}

interface Fit {
  change: string;
  time: number;
  size: number;
  take: () => void;
}

const mostFits = 4; // neighbours offered

function fitsOf(answer: Answer): Fit[] {
  if (isTraining(answer))
    return (answer.would_fit ?? []).map((fit) => ({
      change: fit.change,
      time: fit.step_seconds,
      size: fit.total_bytes,
      take: () => adoptTraining(fit),
    }));
  return (answer.would_fit ?? []).map((fit: InferFit) => ({
    change: fit.change,
    time: fit.latency_seconds,
    size: fit.total_bytes,
    take: () =>
      change({ tp: fit.tp, pp: fit.pp, precision: fit.precision, kv_precision: fit.kv_precision, batch: fit.batch }),
  }));
}

function Misfit({ answer }: { answer: Answer }): JSX.Element {
  const fits = fitsOf(answer);
  return (
    <section class="verdict bad misfit-memory" role="status">
      <p>
        <strong>Does not fit in memory: {excess(answer.memory)}.</strong>{' '}
        {fits.length > 0
          ? 'What would fit:'
          : 'Nothing near this strategy fits; more GPUs, or a smaller model or batch, would.'}
      </p>
      {fits.length > 0 && (
        <ul class="fits">
          {fits.slice(0, mostFits).map((fit) => (
            <li key={fit.change}>
              <button type="button" onClick={fit.take}>
                {changeInWords(fit.change)}
              </button>
              {seconds(fit.time)}, {bytes(fit.size)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The two largest parts, in a sentence. */
function mostOf(whole: Part): string {
  const [first, second] = [...whole.parts].sort((a, b) => b.seconds - a.seconds);
  if (!first) return '';
  return `Of a ${whole.label}, ${percent(first.share)} is ${first.label}${second ? `, ${percent(second.share)} ${second.label}` : ''}.`;
}

/** Whether it runs, whether it fits, and where it goes: always there, always of one height. */
function Verdict({ answer, problems }: { answer: Answer; problems: Problem[] }): JSX.Element {
  if (problems.length > 0) return <Refused problems={problems} />;
  if (!answer.memory.fits) return <Misfit answer={answer} />;
  return (
    <section class="verdict" role="status">
      <p>
        Fits: {bytes(answer.memory.total_bytes)} of {bytes(answer.memory.capacity_bytes)} on the fullest device.
      </p>
      <p class="note">{mostOf(answer.breakdown)}</p>
    </section>
  );
}

function curveOptions(points: CurvePoint[], batch: number): (width: number) => PlotOptions {
  const shown = points.filter((point) => point.fits);
  const range = (values: number[]): [number, number] => [Math.min(...values) / 1.12, Math.max(...values) * 1.12];
  const [x, y] = [
    range(shown.map((point) => point.tpot_seconds * 1e3)),
    range(shown.map((point) => point.output_tokens_per_second_per_gpu)),
  ];
  return () => ({
    marginLeft: 62,
    marginBottom: 40,
    grid: true,
    x: { type: 'log', domain: x, ticks: decades(...x), label: 'time per output token (ms) →', tickFormat: '~g' },
    y: { type: 'log', domain: y, ticks: decades(...y), label: '↑ output tokens a second a GPU', tickFormat: '~s' },
    marks: [
      line(shown, {
        x: (p: CurvePoint) => p.tpot_seconds * 1e3,
        y: 'output_tokens_per_second_per_gpu',
        stroke: 'var(--work)',
        strokeWidth: 1.5,
      }),
      dot(shown, {
        x: (p: CurvePoint) => p.tpot_seconds * 1e3,
        y: 'output_tokens_per_second_per_gpu',
        r: (p: CurvePoint) => (p.batch === batch ? 6 : 3),
        fill: 'var(--work)',
        title: (p: CurvePoint) =>
          `batch ${p.batch}\n${seconds(p.tpot_seconds)} a token\n${grouped(p.output_tokens_per_second_per_gpu)} tokens/s a GPU`,
        tip: true,
      }),
      text(shown, {
        x: (p: CurvePoint) => p.tpot_seconds * 1e3,
        y: 'output_tokens_per_second_per_gpu',
        text: (p: CurvePoint) => String(p.batch),
        dy: -11,
        fill: 'currentColor',
      }),
    ],
  });
}

function CurveFigure({ points, batch }: { points: CurvePoint[]; batch: number }): JSX.Element {
  return (
    <Figure
      name="batch-curve"
      title="What a larger batch buys"
      note="Throughput against the time of a token; the numbers are batch sizes, up to the largest that fits."
      rows={() => points.map((point) => ({ ...point }))}
    >
      <PlotBox
        draw={curveOptions(points, batch)}
        of={[points, batch]}
        height={280}
        label="throughput against latency by batch size"
      />
    </Figure>
  );
}

interface ResultProps {
  answer: Answer;
  /** The same with what would move it, a moment later. */
  moves: Answer | null;
  stale: boolean;
  problems: Problem[];
}

function Result({ answer, moves, stale, problems }: ResultProps): JSX.Element {
  const training = isTraining(answer);
  return (
    <div class="result" data-ready={!stale} data-stale={stale}>
      <header class="title">
        <h1>
          {modelOf(answer)} <span>on</span> {devices(answer.gpus)} <span>of</span> {answer.system}
          <span>{asAnswered(answer)}</span>
        </h1>
        <p class="subtitle">
          {strategyLine({ ...answer.strategy, ...(training ? {} : { microbatch: undefined }) })};{' '}
          {answer.strategy.precision};{' '}
          {training
            ? `batch ${grouped(answer.batch)}, ${grouped(answer.seq)} tokens${answer.predict_ahead > 0 ? `, ${grouped(answer.predict_ahead)} predicted ahead` : ''}${trainedOf(answer)}`
            : `batch ${grouped(answer.serving.batch)}, ${promptOf(answer.serving)}, ${grouped(answer.serving.output)} out${draftedBy(answer.serving)}`}
          ; {answer.runtime}
        </p>
      </header>
      {training ? <TrainHeadlines answer={answer} /> : <InferHeadlines answer={answer} />}
      <Beside answer={answer} />
      <Steady reset={training ? 'train' : 'infer'}>
        <Verdict answer={answer} problems={problems} />
      </Steady>
      <Breakdown of={answer.breakdown} title={training ? 'Where a step goes' : 'Where a request goes'} />
      <MemoryFigure memory={answer.memory} />
      {!isTraining(answer) && <TwoMemories answer={answer} />}
      {!training && answer.curve && answer.curve.length > 1 && (
        <CurveFigure points={answer.curve} batch={answer.serving.batch} />
      )}
      <div class="pair">
        <div class="moves">
          {moves?.sensitivity && (
            <SensitivityFigure
              entries={moves.sensitivity}
              summary={moves.sensitivity_summary}
              of={training ? 'a step' : 'a token'}
            />
          )}
        </div>
        <div>
          {answer.nearest_cases && <Trust cases={answer.nearest_cases} />}
          <Assumptions of={answer.assumptions ?? []} />
        </div>
      </div>
    </div>
  );
}

/** On narrow screens the form hides the answer: its essence stays in sight. */
function Glance({ answer, stale }: { answer: Answer; stale: boolean }): JSX.Element {
  const { memory } = answer;
  return (
    <p class={`glance ${stale ? 'stale' : ''}`} aria-hidden="true">
      <b>
        {isTraining(answer)
          ? `${seconds(answer.step_seconds, 4)} a step`
          : `${seconds(answer.tpot_seconds, 4)} a token`}
      </b>
      <span>
        {isTraining(answer) ? `MFU ${percent(answer.mfu)}` : `${grouped(answer.output_tokens_per_second)} tokens/s`}
      </span>
      <span class={memory.fits ? '' : 'red'}>
        {bytes(memory.total_bytes)} of {bytes(memory.capacity_bytes)}
      </span>
    </p>
  );
}

export function Predict(): JSX.Element {
  const training = kind.value === 'train';
  const request = choosing.value ? null : requestOf(params.value);
  const body: Fields | null = request && {
    ...request,
    choices: true,
    nearest: true,
    ...(training ? {} : { curve: true }),
  };
  const live = useLive<Answer>(body && JSON.stringify(body) + kind.value, (signal) =>
    post(training ? '/train' : '/infer', body ?? {}, signal),
  );
  // What would move it takes several predictions: it is asked for when the hand rests.
  const rested = useRested(request && JSON.stringify(request) + kind.value);
  const moves = useLive<Answer>(inlined ? null : rested, (signal) =>
    post(training ? '/train' : '/infer', { ...request, sensitivity: true }, signal),
  );
  // The answer of the other question must not stand under this one's form.
  const answer = live.answer && isTraining(live.answer) === training ? live.answer : null;
  const moved = inlined ? answer : moves.answer && isTraining(moves.answer) === training ? moves.answer : null;
  const problems = live.problems;
  return (
    <div class="columns">
      {/* Where the form stands above the answer, who comes first wants to know what this is. */}
      <Scenario unfolded={!bare.value} used={{ values: usedBy(answer), choices: answer?.choices, problems }} />
      <main>
        {bare.value && <Welcome />}
        {answer ? (
          <Result answer={answer} moves={moved} stale={problems.length > 0} problems={problems} />
        ) : (
          <Unanswered busy={live.busy} problems={problems} />
        )}
      </main>
      {answer && <Glance answer={answer} stale={problems.length > 0} />}
    </div>
  );
}
