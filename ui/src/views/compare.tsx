// SPDX-License-Identifier: Apache-2.0
// Compare: two to six scenarios side by side, and what makes the difference.
import type { JSX } from 'preact';
import { post } from '../api';
import { useConfigOfAddress } from '../configs';
import { bytes, grouped, joules, percent, rates, seconds, times } from '../format';
import { useLive } from '../live';
import { Placeholder } from '../parts/answered';
import { Hatch } from '../parts/breakdown';
import { Bars } from '../parts/bars';
import type { Bar } from '../parts/bars';
import { OutsideMeasured } from '../parts/evidence';
import { Picker, Problems, TypedNumber } from '../parts/fields';
import { Drawing, Figure } from '../parts/figure';
import { excess } from '../parts/memory';
import { Question, modelTitle, runtimeOptions, systemOptions } from '../parts/scenario';
import { address, change, kind, knownFields, params, presets, requestOf, withoutSystem } from '../state';
import type { Params } from '../state';
import type { Answer, CompareAnswer, Difference, Fields } from '../types';
import { isTraining, mainSeconds } from '../types';
import { usedBy } from '../used';
import { fill, toneOf } from '../words';
import { inverseOf, rangeIn, rangeOf } from './predict';

type Change = Readonly<Record<string, string>>;

const atMost = 6;
const generations = ['dgx-a100', 'dgx-h100', 'dgx-b200'];

/** Three generations, before them the scenario's own system where it is none of these. */
function usual({ system = '', made }: Params): string {
  const own = made || !generations.includes(system) ? [''] : [];
  return [...own, ...generations.map((name) => `system:${name}`)].join('|');
}

/** 'system:dgx-a100~tp:4|system:dgx-h100': each scenario as what it changes of the base. */
function changesIn(text: string): Change[] {
  return text
    .split('|')
    .slice(0, atMost)
    .map(
      (part) =>
        Object.fromEntries(
          part
            .split('~')
            .filter((pair) => pair.includes(':'))
            .map((pair) => {
              const at = pair.indexOf(':');
              return [pair.slice(0, at), pair.slice(at + 1)];
            }),
        ) as Change,
    );
}

const textOf = (changes: Change[]): string =>
  changes
    .map((entry) =>
      Object.entries(entry)
        .filter(([, value]) => value !== '')
        .map(([name, value]) => `${name}:${value}`)
        .join('~'),
    )
    .join('|');

const base = (): Params => {
  const { with: _, ...rest } = params.value;
  return rest;
};

/** A column that names a model has it, whatever config.json the others share; so with a system that was made, or
 * changed. One without adapters has nothing of them. */
function scenarioOf(whole: Params, entry: Change): Params {
  const same = (entry['system'] ?? whole['system']) === whole['system'];
  const { config, adapter, lora_targets, ...rest } = same ? whole : withoutSystem(whole);
  const adapted = (entry['lora_rank'] ?? rest['lora_rank']) !== '0';
  return {
    ...rest,
    ...(adapter && adapted ? { adapter } : {}),
    ...(lora_targets && adapted ? { lora_targets } : {}),
    ...(config && !entry['model'] ? { config } : {}),
    ...entry,
  };
}

/** What tells the scenarios apart names them. */
function namesOf(scenarios: Params[]): string[] {
  const named = scenarios.map((scenario): Params => ({ ...scenario, model: modelTitle(scenario) }));
  const varying = [...Object.keys(knownFields.value).filter((field) => field !== 'set'), 'set'].filter(
    (field) => new Set(named.map((scenario) => scenario[field] ?? '')).size > 1,
  );
  const word = (field: string, value: string): string =>
    ['model', 'system', 'runtime', 'precision', 'set'].includes(field) ? value : `${field.replace(/_/g, ' ')} ${value}`;
  return named.map(
    (scenario, index) =>
      varying
        .filter((field) => scenario[field])
        .map((field) => word(field, scenario[field] ?? ''))
        .join(', ') || `scenario ${index + 1}`,
  );
}

interface Editable {
  field: string;
  label: string;
  options?: string[];
}

const editable: Record<'train' | 'infer', Editable[]> = {
  train: [
    { field: 'gpus', label: 'GPUs' },
    { field: 'tp', label: 'tensor' },
    { field: 'pp', label: 'pipeline' },
    { field: 'microbatch', label: 'microbatch' },
    { field: 'recompute', label: 'recompute', options: ['none', 'selective', 'full'] },
    { field: 'precision', label: 'precision', options: ['bf16', 'fp16', 'fp8', 'fp4'] },
    { field: 'lora_rank', label: 'adapters’ rank', options: ['0', '8', '16', '32', '64'] },
  ],
  infer: [
    { field: 'tp', label: 'tensor' },
    { field: 'pp', label: 'pipeline' },
    { field: 'batch', label: 'batch' },
    { field: 'input', label: 'input' },
    { field: 'output', label: 'output' },
    { field: 'precision', label: 'weights', options: ['bf16', 'fp8', 'fp4', 'int8', 'int4'] },
  ],
};

function Editor({
  changes,
  scenarios,
  names,
  used,
  edit,
}: {
  changes: Change[];
  scenarios: Params[];
  names: string[];
  /** What the answers used where a scenario is silent. */
  used: Params[];
  edit: (changes: Change[]) => void;
}): JSX.Element {
  const put = (index: number, field: string, value: string): void =>
    edit(
      changes.map((entry, i) =>
        i === index ? { ...(field === 'system' ? withoutSystem(entry) : entry), [field]: value } : entry,
      ),
    );
  const cell = (index: number, { field, label, options }: Editable): JSX.Element => {
    const value = scenarios[index]?.[field] ?? used[index]?.[field] ?? '';
    const name = `${label} of scenario ${index + 1}`;
    return options ? (
      <select aria-label={name} value={value} onChange={(event) => put(index, field, event.currentTarget.value)}>
        {!options.includes(value) && <option value={value}>{value || '–'}</option>}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    ) : (
      <TypedNumber
        label={name}
        value={Number(value || 1)}
        show={grouped}
        onChange={(next) => put(index, field, String(next))}
      />
    );
  };
  const differs = (index: number, field: string): string =>
    index > 0 && scenarios[index]?.[field] !== scenarios[0]?.[field] ? 'differs' : '';
  const pickers: [string, string, { name: string }[]][] = [
    ['model', 'Model', presets.value?.models ?? []],
    ['system', 'System', systemOptions()],
    ['runtime', 'Runtime', runtimeOptions(kind.value === 'train')],
  ];
  return (
    <div class="scroll editor" tabIndex={0} role="region" aria-label="Scenarios">
      <table class="plain">
        <thead>
          <tr>
            <td />
            {names.map((name, index) => (
              <th scope="col" key={index}>
                <b>{String.fromCharCode(65 + index)}</b>
                <a href={address('predict', scenarios[index] ?? {})} aria-label={`Open ${name} in Predict`}>
                  open
                </a>
                {changes.length > 2 && (
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Remove ${name}`}
                    onClick={() => edit(changes.filter((_, i) => i !== index))}
                  >
                    remove
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pickers.map(([field, label, options]) => (
            <tr key={field}>
              <th scope="row">{label.toLowerCase()}</th>
              {scenarios.map((scenario, index) => (
                <td key={index} class={differs(index, field)}>
                  <Picker
                    bare
                    label={`${label} of scenario ${index + 1}`}
                    name={`${field}-${index}`}
                    value={field === 'model' ? modelTitle(scenario) : (scenario[field] ?? used[index]?.[field] ?? '')}
                    options={options}
                    onChange={(value) => put(index, field, value)}
                  />
                </td>
              ))}
            </tr>
          ))}
          {editable[kind.value].map((entry) => (
            <tr key={entry.field}>
              <th scope="row">{entry.label}</th>
              {scenarios.map((_, index) => (
                <td key={index} class={differs(index, entry.field)}>
                  {cell(index, entry)}
                </td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row">what if</th>
            {scenarios.map((scenario, index) => (
              <td key={index} class={differs(index, 'set')}>
                <input
                  type="text"
                  aria-label={`What if of scenario ${index + 1}`}
                  placeholder="device.… = …"
                  value={scenario['set'] ?? ''}
                  onChange={(event) => put(index, 'set', event.currentTarget.value)}
                />
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

interface Metric {
  name: string;
  of: (answer: Answer) => number | undefined;
  show: (value: number) => string;
  better: 'less' | 'more';
  /** A time, or what is reached in it: known as well as the whole step or request is. */
  timed?: boolean;
  /** What says itself how sure it is. */
  sure?: (answer: Answer) => Bar['range'] | undefined;
}

const metrics: Metric[] = [
  { name: 'step', of: (a) => (isTraining(a) ? a.step_seconds : undefined), show: seconds, better: 'less', timed: true },
  {
    name: 'tokens/s a GPU',
    of: (a) => (isTraining(a) ? a.tokens_per_second_per_gpu : a.output_tokens_per_second_per_gpu),
    show: rates,
    better: 'more',
    timed: true,
  },
  { name: 'MFU', of: (a) => (isTraining(a) ? a.mfu : undefined), show: percent, better: 'more', timed: true },
  {
    name: 'TPOT',
    of: (a) => (isTraining(a) ? undefined : a.tpot_seconds),
    show: seconds,
    better: 'less',
    timed: true,
  },
  {
    name: 'TTFT',
    of: (a) => (isTraining(a) ? undefined : a.ttft_seconds),
    show: seconds,
    better: 'less',
    timed: true,
  },
  {
    name: 'request',
    of: (a) => (isTraining(a) ? undefined : a.latency_seconds),
    show: seconds,
    better: 'less',
    timed: true,
  },
  { name: 'memory', of: (a) => a.memory.total_bytes, show: bytes, better: 'less' },
  {
    name: 'energy a token',
    of: (a) => a.energy?.joules_per_token,
    show: joules,
    better: 'less',
    sure: (a) => rangeIn(a.energy, 'joules_per_token', joules),
  },
];

const letter = (index: number): string => String.fromCharCode(65 + index);

/** How far the value may lie off, where it follows from the predicted time. */
function sureOf({ timed, better, show, sure }: Metric, value: number, answer: Answer | undefined): Pick<Bar, 'range'> {
  const own = answer && sure?.(answer);
  if (own) return { range: own };
  if (!timed || !answer) return {};
  return { range: (better === 'less' ? rangeOf : inverseOf)(value, answer, show) };
}

function MetricFigure({
  metric,
  answers,
  names,
}: {
  metric: Metric;
  answers: Answer[];
  names: string[];
}): JSX.Element | null {
  const values = answers.map((answer) => metric.of(answer) ?? 0);
  const first = values[0];
  if (!first) return null;
  const bars = values.map((value, index) => ({
    label: letter(index),
    value,
    text: metric.show(value),
    after: index === 0 ? '' : times(value / first),
    tone: index === 0 ? 'var(--rest)' : 'var(--work)',
    ...sureOf(metric, value, answers[index]),
  }));
  return (
    <Figure
      name={`compare-${metric.name.replace(/\W+/g, '-')}`}
      title={metric.name}
      class="small"
      note={`${metric.better} is better`}
      rows={() => values.map((value, index) => ({ scenario: names[index], value, relative: value / first }))}
    >
      <Bars
        bars={bars}
        label={`${metric.name}: ${values.map((value, index) => `${names[index]} ${metric.show(value)}`).join(', ')}`}
      />
    </Figure>
  );
}

function Stacks({ answers, names }: { answers: Answer[]; names: string[] }): JSX.Element {
  const most = Math.max(...answers.map(mainSeconds));
  const row = 58;
  return (
    <Figure
      name="compare-breakdown"
      title={answers.every(isTraining) ? 'Where the step goes, on one scale' : 'Where the request goes, on one scale'}
      rows={() =>
        answers.flatMap((answer, index) =>
          answer.breakdown.parts.map((part) => ({
            scenario: names[index],
            part: part.label,
            seconds: part.seconds,
            share: part.share,
          })),
        )
      }
    >
      <Drawing height={answers.length * row} label="breakdown of each scenario">
        {(width) => {
          const scale = Math.max(0, width - 80) / most;
          return (
            <>
              <Hatch />
              {answers.map((answer, index) => {
                let at = 0;
                return (
                  <g key={index} font-size={13} fill="currentColor">
                    <text x={0} y={index * row + 12}>
                      <tspan font-weight={600}>{letter(index)}</tspan> {names[index]}
                    </text>
                    {answer.breakdown.parts.map((part) => {
                      const [x, w] = [at * scale, part.seconds * scale];
                      at += part.seconds;
                      const tone = toneOf(part.label);
                      return (
                        <g key={part.label}>
                          <title>{`${part.label}: ${seconds(part.seconds)}, ${percent(part.share)}`}</title>
                          <rect x={x} y={index * row + 20} width={Math.max(0, w - 1)} height={28} fill={fill(tone)} />
                          {w > part.label.length * 6.8 + 12 && (
                            <text x={x + 6} y={index * row + 34} dy="0.35em" fill={`var(--on-${tone})`}>
                              {part.label}
                            </text>
                          )}
                        </g>
                      );
                    })}
                    <text x={at * scale + 6} y={index * row + 34} dy="0.35em">
                      {seconds(mainSeconds(answer))}
                    </text>
                  </g>
                );
              })}
            </>
          );
        }}
      </Drawing>
    </Figure>
  );
}

/** How likely the later of two is the faster. */
const likely = (later: string, probability: number): string =>
  probability > 0.99
    ? `Surely ${later} is the faster.`
    : probability < 0.01
      ? `Surely ${later} is the slower.`
      : `${later} is the faster with ${percent(probability, 0)} certainty.`;

const faster = (ratio: number): string =>
  Math.abs(Math.log(ratio)) < 0.0005 ? 'as fast' : ratio < 1 ? `${times(1 / ratio)} faster` : `${times(ratio)} slower`;

/** Where the ratio lies, of the faster or of the slower, as its title has it. */
function between({ ratio, ratio_low: low, ratio_high: high }: Difference): string {
  const [from, to] = ratio < 1 ? [1 / high, 1 / low] : [low, high];
  return `Nine times in ten it is ${times(from)} to ${times(to)}.`;
}

function Factors({ difference, names }: { difference: Difference; names: string[] }): JSX.Element {
  const size = (ratio: number): number => Math.log(1 / ratio);
  const factors = [...difference.factors].sort((a, b) => Math.abs(size(b.ratio)) - Math.abs(size(a.ratio)));
  const bars = factors.map((factor) => ({
    label: factor.name,
    value: size(factor.ratio),
    text: faster(factor.ratio),
    faint: Math.abs(size(factor.ratio)) < 0.005,
    tone: factor.ratio <= 1 ? 'var(--work)' : 'var(--rest)',
  }));
  return (
    <Figure
      name={`factors-${letter(difference.from)}-${letter(difference.to)}`}
      title={`${letter(difference.from)} → ${letter(difference.to)}: ${faster(difference.ratio)}`}
      note={`${names[difference.from]} → ${names[difference.to]}; the time of a ${kind.value === 'train' ? 'step' : 'request'}, and the factors that multiply to it. ${between(difference)} ${likely(letter(difference.to), difference.probability_faster)}`}
      rows={() => factors.map((factor) => ({ ...factor }))}
    >
      <Bars
        bars={bars}
        most={0.05}
        label={factors.map((factor) => `${factor.name}: ${faster(factor.ratio)}`).join(', ')}
      />
    </Figure>
  );
}

export function Compare(): JSX.Element {
  const changes = changesIn(params.value['with'] ?? usual(params.value));
  const scenarios: Params[] = changes.map((entry) => scenarioOf(base(), entry));
  const edit = (next: Change[]): void => change({ with: textOf(next) });
  const names = namesOf(scenarios);
  const unread = useConfigOfAddress();
  const requests = scenarios.map((scenario) => requestOf(scenario));
  const ready = requests.every((request): request is Fields => request !== null);
  const body: Fields = { kind: kind.value, scenarios: ready ? requests : [] };
  // The names of the scenarios that were asked about stay with their answer until the next one comes.
  const live = useLive<CompareAnswer & { names: string[] }>(ready ? JSON.stringify(body) : null, async (signal) => ({
    ...(await post<CompareAnswer>('/compare', body, signal)),
    names,
  }));
  const answers = live.answer?.answers ?? [];
  const shown = live.answer?.names ?? names;
  const stale = live.problems.length > 0 || !live.settled;
  // While the next answer comes, its scenarios are not those of this one.
  const current =
    answers.length === scenarios.length && answers.every((answer) => isTraining(answer) === (kind.value === 'train'));
  return (
    <main class="whole">
      <header class="title">
        <h1>Compare</h1>
        <p class="subtitle">Two to six scenarios; each starts from the one of Predict.</p>
      </header>
      <Question />
      <Editor
        changes={changes}
        scenarios={scenarios}
        names={names}
        used={current ? answers.map(usedBy) : []}
        edit={edit}
      />
      <p class="toolbar">
        <button
          type="button"
          disabled={changes.length >= atMost}
          onClick={() => edit([...changes, { ...changes[changes.length - 1] }])}
        >
          Add a scenario
        </button>
      </p>
      <Problems of={unread ? [{ field: 'model', message: unread }] : live.problems} named />
      {current && live.answer ? (
        <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
          {answers.map(
            (answer, index) =>
              !answer.memory.fits && (
                <p key={index} class="red">
                  <strong>{letter(index)} does not fit in memory:</strong> {excess(answer.memory)}.
                </p>
              ),
          )}
          <OutsideMeasured
            of={answers.flatMap((answer, index) =>
              answer.uncertainty.unmeasured.map(({ sentence }) => `${letter(index)}: ${sentence}`),
            )}
          />
          <p class="note">The line at a bar’s end is where nine cases of ten lie.</p>
          <div class="multiples fine">
            {metrics.map((metric) => (
              <MetricFigure key={metric.name} metric={metric} answers={answers} names={shown} />
            ))}
          </div>
          <Stacks answers={answers} names={shown} />
          <h2>What makes the difference</h2>
          <div class="pair">
            {live.answer.differences.map((difference) => (
              <Factors key={difference.to} difference={difference} names={shown} />
            ))}
          </div>
        </div>
      ) : (
        <Placeholder busy={live.busy && live.problems.length === 0} />
      )}
    </main>
  );
}
