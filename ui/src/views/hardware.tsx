// SPDX-License-Identifier: Apache-2.0
// Hardware what-if: the same scenario on a device with more or less of each resource, beside the one there is.
import type { JSX } from 'preact';
import { post } from '../api';
import { choosing } from '../choose';
import {
  byteRate,
  bytes,
  devices,
  flopRate,
  joules,
  percent,
  seconds,
  signedPercent,
  thousands,
  times,
  watts,
} from '../format';
import { useLive, useRested } from '../live';
import { useSystem } from '../made';
import { asAnswered, lastOfEach, overridesIn } from '../overrides';
import { Answered } from '../parts/answered';
import { Breakdown } from '../parts/breakdown';
import { Assumptions } from '../parts/evidence';
import { Choice, NumberField, problemsOf } from '../parts/fields';
import { MemoryFigure, TwoMemories } from '../parts/memory';
import { Scenario, modelOf } from '../parts/scenario';
import { TierFields, useDrams } from '../parts/tier';
import { address, change, kind, numberIn, params, presets, requestOf, systemFacts } from '../state';
import { partsOf, tierSettings } from '../tier';
import type { DramFacts } from '../tier';
import type { Answer, CompareAnswer, Difference, Fields, Problem, SystemFacts } from '../types';
import { isTraining, mainSeconds } from '../types';
import { usedBy } from '../used';
import { Headline, inverseOf, rangeIn, split } from './predict';
import type { Range } from './predict';

/** A resource, what it is now, and the settings that multiply it. */
interface Knob {
  name: string;
  label: string;
  hint: string;
  now: (system: SystemFacts) => string;
  /** Fields of the system with their values and units, to be multiplied. */
  fields: (system: SystemFacts) => [path: string, value: number, unit: string][];
}

const knobs: Knob[] = [
  {
    name: 'x_flops',
    label: 'Arithmetic',
    hint: 'the rate of matrix multiplies, at every precision',
    // Some multiply fp16 alone in 16 bits, some no 16 bits at all.
    now: ({ device: { matrix } }) => flopRate(Math.max(matrix.bf16, matrix.fp16) || matrix.fp32),
    fields: ({ device }) =>
      Object.entries(device.matrix)
        .filter(([, rate]) => rate > 0)
        .map(([precision, rate]) => [`device.matrix.${precision}`, rate, 'FLOP/s']),
  },
  {
    name: 'x_bandwidth',
    label: 'Memory bandwidth',
    hint: 'of the DRAM',
    now: ({ device }) => byteRate(device.memory.bandwidth),
    fields: ({ device }) => [['device.memory.bandwidth', device.memory.bandwidth, 'B/s']],
  },
  {
    name: 'x_capacity',
    label: 'Memory capacity',
    hint: 'of a device',
    now: ({ device }) => bytes(device.memory.capacity),
    fields: ({ device }) => [['device.memory.capacity', device.memory.capacity, 'B']],
  },
  {
    name: 'x_inner',
    label: 'Links in a node',
    hint: 'one direction of a device',
    now: ({ fabrics }) => (fabrics[0] ? byteRate(fabrics[0].bandwidth) : '–'),
    fields: ({ fabrics }) => (fabrics[0] ? [['system.fabrics.0.bandwidth', fabrics[0].bandwidth, 'B/s']] : []),
  },
  {
    name: 'x_outer',
    label: 'Network',
    hint: 'between nodes, of a device',
    now: ({ fabrics }) => (fabrics[1] ? byteRate(fabrics[1].bandwidth) : '–'),
    fields: ({ fabrics }) =>
      fabrics.slice(1).map((fabric, index) => [`system.fabrics.${index + 1}.bandwidth`, fabric.bandwidth, 'B/s']),
  },
  {
    name: 'x_power',
    label: 'Power limit',
    hint: 'of a device; clocks follow',
    now: ({ device }) => watts(device.power.limit),
    fields: ({ device }) => [['device.power.limit', device.power.limit, 'W']],
  },
];

/** Quarters and doublings, in percent: parameters are whole numbers. */
const factors = [25, 50, 75, 90, 100, 110, 125, 150, 200, 300, 400, 600, 800];
const factorOf = (knob: Knob): number => numberIn(knob.name, 100);

/** `set` of a request: every field that a knob moves. */
function settingsOf(system: SystemFacts): string[] {
  return knobs.flatMap((knob) => {
    const factor = factorOf(knob) / 100;
    return factor === 1 ? [] : knob.fields(system).map(([path, value, unit]) => `${path}=${value * factor} ${unit}`);
  });
}

/** The same of a second memory, which serving alone has a use for. */
function settingsOfTier(drams: DramFacts[]): string[] {
  const parts = kind.value === 'infer' ? partsOf(params.value['tier']) : null;
  const part = drams.find((dram) => dram.name === parts?.name);
  return parts && part ? tierSettings(part, parts.count) : [];
}

/** What is put into a second memory. */
const placements: [string, string][] = [
  ['overflow', 'what does not fit'],
  ['weights', 'weights'],
  ['cache', 'cache'],
  ['both', 'both'],
  ['spread', 'the fastest share'],
];

function SecondMemory({ drams, problems }: { drams: DramFacts[]; problems: Problem[] }): JSX.Element {
  const part = drams.find((dram) => dram.name === partsOf(params.value['tier'])?.name);
  return (
    <>
      <TierFields drams={drams} problems={[]} />
      {part && (
        <Choice
          label="What lies there"
          name="placement"
          value={params.value['placement'] ?? 'overflow'}
          options={placements.filter(([name]) => !part.read_only || (name !== 'cache' && name !== 'both'))}
          problems={problemsOf(problems, 'placement')}
          onChange={(placement) => change({ placement: placement === 'overflow' ? undefined : placement })}
        />
      )}
    </>
  );
}

function Knobs({ system }: { system: SystemFacts | null }): JSX.Element {
  return (
    <>
      {knobs.map((knob) => (
        <NumberField
          key={knob.name}
          label={knob.label}
          hint={knob.hint}
          name={knob.name}
          value={factorOf(knob)}
          values={factors}
          show={(value) => (value === 100 ? (system ? knob.now(system) : '×1') : `× ${value / 100}`)}
          onChange={(value) => change({ [knob.name]: value === 100 ? undefined : value })}
        />
      ))}
    </>
  );
}

const rate = (answer: Answer): number =>
  isTraining(answer) ? answer.tokens_per_second : answer.output_tokens_per_second;

/** The same scenario on the system there is, and on one that is not. */
interface Pair {
  before: Answer;
  after: Answer;
}

const against = (now: number, before: number): string => signedPercent(now / before - 1);

/** How much faster, or slower: the later time over the earlier is less than one where it is faster. */
function rangeOfRatio({ ratio, ratio_low: low, ratio_high: high }: Difference): Range {
  return ratio <= 1
    ? { low: 1 / high, value: 1 / ratio, high: 1 / low, show: times }
    : { low, value: ratio, high, show: times };
}

/** How sure the ratio is: two times that are predicted alike err alike. Asked for when the hand rests. */
function useDifference(before: Fields | null, after: Fields | null): Difference | undefined {
  const { choices: _, ...changed } = after ?? {};
  const body: Fields | null = before && after && { kind: kind.value, scenarios: [before, changed] };
  const rested = useRested(body && JSON.stringify(body));
  const live = useLive<CompareAnswer>(rested, (signal) => post('/compare', body ?? {}, signal));
  return rested !== null && live.settled && live.problems.length === 0 ? live.answer?.differences[0] : undefined;
}

function Result({
  before,
  after,
  difference,
  settings,
  stale,
}: Pair & {
  difference: Difference | undefined;
  settings: string[];
  stale: boolean;
}): JSX.Element {
  const [old, now] = [mainSeconds(before), mainSeconds(after)];
  const ratio = old / now;
  const { energy } = after;
  const what = isTraining(after) ? 'step' : 'request';
  const tier = isTraining(after) ? null : partsOf(params.value['tier']);
  // What a knob moved is an override from here on: moved as well it would count twice.
  const moved = {
    ...Object.fromEntries(knobs.map(({ name }) => [name, ''])),
    set: lastOfEach([...overridesIn(params.value['set']), ...settings]).join('; '),
  };
  const changed = asAnswered(before);
  return (
    <div class="result" data-ready={!stale} data-stale={stale}>
      <header class="title">
        <h1>
          {modelOf(after)} <span>on</span> {devices(after.gpus)}{' '}
          <span>{settings.length === 0 ? 'as they are' : `that ${after.gpus === 1 ? 'does' : 'do'} not exist`}</span>
        </h1>
        <p class="subtitle">
          {settings.length === 0
            ? `As ${after.system}${changed} is; move a resource on the left.`
            : `${after.system}${changed ? `${changed}, and then` : ''} with ${[
                ...knobs
                  .filter((knob) => factorOf(knob) !== 100)
                  .map((knob) => `${factorOf(knob) / 100} × ${knob.label.toLowerCase()}`),
                ...(tier ? [`${tier.count} × ${tier.name} beside its memory`] : []),
              ].join(', ')}.`}{' '}
          <a href={address('predict', { ...params.value, ...moved })}>Open it in Predict</a>
        </p>
      </header>
      <dl class="headlines">
        <Headline
          main
          label={Math.abs(Math.log(ratio)) < 0.0005 ? 'as fast' : ratio > 1 ? 'faster' : 'slower'}
          {...split(times(ratio >= 1 ? ratio : 1 / ratio))}
          range={difference ? rangeOfRatio(difference) : 'later'}
          detail={`a ${what} of ${seconds(now)}, ${seconds(old)} before`}
        />
        <Headline
          label="tokens/s"
          value={thousands(rate(after))}
          range={inverseOf(rate(after), after, thousands)}
          detail={`${against(rate(after), rate(before))} against ${thousands(rate(before))}`}
        />
        <Headline
          label="energy a token"
          {...split(joules(energy.joules_per_token))}
          range={rangeIn(energy, 'joules_per_token', joules)}
          detail={`${against(energy.joules_per_token, before.energy.joules_per_token)} against ${joules(before.energy.joules_per_token)}`}
        />
        <Headline
          label="memory"
          over={!after.memory.fits}
          {...split(percent(after.memory.total_bytes / after.memory.capacity_bytes, 0))}
          detail={after.memory.fits ? `of ${bytes(after.memory.capacity_bytes)}` : 'does not fit'}
        />
      </dl>
      <Breakdown of={after.breakdown} title={`Where a ${what} goes then`} />
      <MemoryFigure memory={after.memory} />
      {!isTraining(after) && <TwoMemories answer={after} />}
      <Assumptions of={after.assumptions} />
    </div>
  );
}

export function Hardware(): JSX.Element {
  const training = kind.value === 'train';
  const system = useSystem();
  const request = choosing.value ? null : requestOf(params.value);
  const path = training ? '/train' : '/infer';
  const drams = useDrams();
  const settings = system ? [...settingsOf(system), ...settingsOfTier(drams)] : [];
  const given = (request?.['set'] ?? []) as string[];
  const placement = settings.some((entry) => entry.startsWith('device.tier.')) ? params.value['placement'] : undefined;
  // Of a system that nobody knows the answer says so; of one that is known its numbers come first.
  const unknown = presets.value !== null && !params.value['made'] && !systemFacts(params.value);
  const changed: Fields | null =
    request && (system || unknown)
      ? { ...request, ...(placement ? { placement } : {}), set: [...given, ...settings], choices: true }
      : null;
  // Both at once: a ratio is of two answers to one scenario.
  const live = useLive<Pair>(changed && JSON.stringify([path, request, changed]), async (signal) => {
    const ask = (body: Fields | null): Promise<Answer> => post(path, body ?? {}, signal);
    const [before, after] = await Promise.all([ask(request), ask(changed)]);
    return { before, after };
  });
  const difference = useDifference(request, settings.length > 0 ? changed : null);
  const pair = live.answer && isTraining(live.answer.after) === training ? live.answer : null;
  const { problems } = live;
  return (
    <div class="columns">
      <Scenario
        unfolded
        extra={
          <>
            <h2>What if it had</h2>
            <Knobs system={system} />
            {!training && <SecondMemory drams={drams} problems={problems} />}
          </>
        }
        used={{ values: usedBy(pair?.after), choices: pair?.after.choices, problems }}
      />
      <Answered busy={live.busy} problems={problems}>
        {pair && <Result {...pair} difference={difference} settings={settings} stale={problems.length > 0} />}
      </Answered>
    </div>
  );
}
