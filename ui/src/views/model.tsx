// SPDX-License-Identifier: Apache-2.0
// Model: the graph, layer by layer; parameters, FLOPs and cache of each operator, and its time in the scenario.
import type { JSX } from 'preact';
import { choosing } from '../choose';
import { post } from '../api';
import { bytes, flops, grouped, parameters, percent } from '../format';
import { amountOf, between, layersOf, measures, operatorsOf, shareOf, sharesOf } from '../graph';
import type { Layer, Measure, Shares } from '../graph';
import { useLive } from '../live';
import { asAnswered } from '../overrides';
import { Answered } from '../parts/answered';
import { Choice } from '../parts/fields';
import { Figure, SaveCsv, useWidth } from '../parts/figure';
import { Scenario, modelOf } from '../parts/scenario';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { change, kind, numberOf, params, requestOf } from '../state';
import type { Fields, ModelAnswer, ModelBranch, ModelOperator, OpsAnswer } from '../types';
import { usedBy } from '../used';
import { useWhole } from '../whole';
import { Headline, split } from './predict';

const some = (value: number, show: (value: number) => string): string => (value > 0 ? show(value) : '–');

const shows: Record<Measure, (value: number) => string> = {
  time: (value) => percent(value, 2),
  parameters,
  flops: (value) => `${flops(value)} a token`,
  cache: (value) => `${bytes(value)} a token`,
};
const titles: Record<Measure, string> = {
  time: 'Where the time goes',
  parameters: 'Where the parameters are',
  flops: 'Where the arithmetic is',
  cache: 'What is cached',
};

/** A branch's name at the beginning of a title. */
const titled = (name: string): string =>
  name.replace(/\bmlp\b/, 'MLP').replace(/^[a-z]/, (first) => first.toUpperCase());

const height = 150;
const axis = 20;

/** A column a layer: what mixes tokens below, its MLP or experts above. */
function Strip({
  layers,
  measure,
  shares,
  at,
}: {
  layers: Layer[];
  measure: Measure;
  shares: Shares;
  at: number;
}): JSX.Element {
  const [holder, width] = useWidth<HTMLDivElement>();
  const amounts = layers.map(({ branches }) => branches.map((branch) => amountOf(branch, measure, shares)));
  const highest = Math.max(...amounts.map((own) => own.reduce((sum, amount) => sum + amount, 0))) || 1;
  const pitch = width / layers.length;
  const said = (index: number): string => {
    const layer = layers[index];
    return `${layer?.name ?? ''}: ${(layer?.branches ?? [])
      .map((branch, i) => `${branch.name} ${shows[measure](amounts[index]?.[i] ?? 0)}`)
      .join(', ')}`;
  };
  const select = (index: number): void => {
    const name = layers[Math.max(0, Math.min(layers.length - 1, index))]?.name;
    change({ layer: name });
  };
  const steps: Record<string, number> = {
    ArrowRight: 1,
    ArrowUp: 1,
    ArrowLeft: -1,
    ArrowDown: -1,
    PageUp: 8,
    PageDown: -8,
  };
  return (
    <div ref={holder} style={{ minHeight: `${height + axis}px` }}>
      {width > 0 && (
        <svg
          class="drawing strip"
          width={width}
          height={height + axis}
          viewBox={`0 0 ${width} ${height + axis}`}
          tabindex={0}
          role="slider"
          aria-label="Layer"
          aria-valuemin={0}
          aria-valuemax={layers.length - 1}
          aria-valuenow={at}
          aria-valuetext={said(at)}
          onKeyDown={(event) => {
            const step = steps[event.key];
            if (step === undefined && event.key !== 'Home' && event.key !== 'End') return;
            event.preventDefault();
            select(step !== undefined ? at + step : event.key === 'Home' ? 0 : layers.length - 1);
          }}
          onClick={(event) =>
            select(Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left) / pitch))
          }
        >
          {layers.map(({ name, branches, tones }, index) => {
            let base = height;
            return (
              <g key={name}>
                <title>{said(index)}</title>
                <rect
                  x={index * pitch}
                  width={pitch}
                  height={height}
                  fill={index === at ? 'var(--well)' : 'transparent'}
                  stroke={index === at ? 'currentColor' : 'none'}
                />
                {branches.map((branch, i) => {
                  const size = ((amounts[index]?.[i] ?? 0) / highest) * (height - 6);
                  base -= size;
                  return (
                    <rect
                      key={branch.name}
                      x={index * pitch + Math.min(1, pitch * 0.08)}
                      y={base}
                      width={Math.max(0.5, pitch - Math.min(2, pitch * 0.16))}
                      height={size}
                      fill={`var(--${tones[i] ?? 'rest'})`}
                    />
                  );
                })}
              </g>
            );
          })}
          <g font-size={12} fill="currentColor">
            <text x={0} y={height + 15}>
              {layers[0]?.name}
            </text>
            <text x={width} y={height + 15} text-anchor="end">
              {layers[layers.length - 1]?.name}
            </text>
          </g>
        </svg>
      )}
    </div>
  );
}

interface Row {
  operator: ModelOperator | null;
  share: number | null;
}

const columns = (timed: boolean): Column<Row>[] => [
  { label: 'operator', kind: 'name', of: ({ operator }) => operator?.name ?? between },
  ...(timed ? [{ label: 'of the time', of: ({ share }: Row) => (share === null ? '–' : percent(share, 2)) }] : []),
  { label: 'shape', kind: 'text', wide: true, of: ({ operator }) => operator?.shape ?? '' },
  { label: 'parameters', of: ({ operator }) => some(operator?.parameters ?? 0, parameters) },
  { label: 'by a token', wide: true, of: ({ operator }) => some(operator?.active_parameters ?? 0, parameters) },
  { label: 'FLOPs a token', of: ({ operator }) => some(operator?.flops_per_token ?? 0, flops) },
  {
    label: 'cache a token',
    of: ({ operator }) =>
      operator && operator.state_bytes > 0
        ? `${bytes(operator.state_bytes)} in all`
        : some(operator?.cache_bytes_per_token ?? 0, bytes),
  },
];

function BranchTable({ branch, shares, timed }: { branch: ModelBranch; shares: Shares; timed: boolean }): JSX.Element {
  const own = shares.get(branch.name);
  const rows: Row[] = operatorsOf(branch).map((operator) => ({ operator, share: own?.get(operator.name) ?? null }));
  const sent = own?.get(between);
  if (sent !== undefined) rows.push({ operator: null, share: sent });
  return (
    <section>
      <header class="caption">
        <h3>
          {titled(branch.name)}
          {branch.layers > 1 ? `, in ${grouped(branch.layers)} layers` : ''}
        </h3>
        <SaveCsv
          name={`model-${branch.name}`}
          title={branch.name}
          rows={() => rows.map(({ operator, share }) => ({ ...operator, share }))}
        />
      </header>
      <p class="note">
        {parameters(branch.parameters)} parameters{branch.layers > 1 ? ' each' : ''}, {flops(branch.flops_per_token)} a
        token{branch.cache_bytes_per_token > 0 ? `, ${bytes(branch.cache_bytes_per_token)} of cache a token` : ''}
        {timed ? `; ${percent(shareOf(shares, branch))} of the time, all layers together` : ''}.
      </p>
      <Table label={`Operators of ${branch.name}`} class="operators" columns={columns(timed)} rows={rows} />
    </section>
  );
}

const phases: [string, string][] = [
  ['decode', 'a token'],
  ['prefill', 'a prompt'],
];

function Result({ answer, ops, stale }: { answer: ModelAnswer; ops: OpsAnswer | null; stale: boolean }): JSX.Element {
  const layers = layersOf(answer);
  const shares = ops ? sharesOf(ops.operators, ops.seconds) : new Map<string, Map<string, number>>();
  const wanted = measures.find((name) => name === params.value['measure']);
  const measure = wanted ?? (ops ? 'time' : 'parameters');
  const found = layers.findIndex(({ name }) => name === params.value['layer']);
  const at =
    found >= 0
      ? found
      : Math.max(
          0,
          layers.findIndex(({ name }) => name.startsWith('layer ')),
        );
  const layer = layers[at];
  const sees = answer.image_patches > 0;
  const idle = answer.parameters - answer.active_parameters;
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>{modelOf(answer)}, layer by layer</h1>
        <p class="subtitle">
          {grouped(answer.layers)} layers of {grouped(answer.hidden)};{' '}
          {ops ? ops.title + asAnswered(ops) : 'what a token costs before any strategy or device'}
        </p>
      </header>
      <dl class="headlines">
        <Headline
          main
          label="parameters"
          {...split(parameters(answer.parameters))}
          detail={
            idle > answer.parameters * 1e-3
              ? `${parameters(answer.active_parameters)} used by a token`
              : 'all used by a token'
          }
        />
        <Headline
          label="a token, forward"
          {...split(flops(answer.flops_per_token))}
          detail={`of a sequence of ${grouped(answer.seq)}`}
        />
        <Headline
          label="cache a token"
          {...split(bytes(answer.cache_bytes_per_token))}
          detail={
            answer.state_bytes > 0 ? `and ${bytes(answer.state_bytes)} a sequence` : `in ${answer.cache_precision}`
          }
        />
        {sees && (
          <Headline
            label="an image"
            {...split(flops(answer.image_flops))}
            detail={`${grouped(answer.image_patches)} patches, ${grouped(answer.image_tokens)} tokens`}
          />
        )}
      </dl>
      <Figure
        name="layers"
        title={titles[measure]}
        note={
          <>
            <span class="legend">
              <i class="key" style={{ background: 'var(--work)' }} /> attention or recurrence
            </span>
            <span class="legend">
              <i class="key" style={{ background: 'var(--work-2)' }} /> MLP or experts
            </span>
            <span class="legend">
              <i class="key" style={{ background: 'var(--rest)' }} /> {sees ? 'images, ' : ''}embedding, head
            </span>{' '}
            Click a layer, or move with the arrows, to see its operators.
          </>
        }
        rows={() =>
          layers.map(({ name, branches }) => ({
            layer: name,
            branches: branches.map((branch) => branch.name).join(' '),
            amount: branches.reduce((sum, branch) => sum + amountOf(branch, measure, shares), 0),
          }))
        }
      >
        <Strip layers={layers} measure={measure} shares={shares} at={at} />
      </Figure>
      <div class="choices">
        <Choice
          label="Show"
          name="measure"
          value={measure}
          options={measures
            .filter((name) => name !== 'time' || ops)
            .map((name): [string, string] => [name, name === 'flops' ? 'FLOPs' : name])}
          onChange={(next) => change({ measure: next })}
        />
        {kind.value === 'infer' && (
          <Choice
            label="Of"
            name="phase"
            value={params.value['phase'] ?? 'decode'}
            options={phases}
            onChange={(phase) => change({ phase })}
          />
        )}
      </div>
      <h2 class="layer-name">{layer?.name}</h2>
      {layer?.branches.map((branch) => (
        <BranchTable key={branch.name} branch={branch} shares={shares} timed={ops !== null} />
      ))}
    </div>
  );
}

export function ModelView(): JSX.Element {
  const request = choosing.value ? null : requestOf(params.value);
  const training = kind.value === 'train';
  const model = request?.['model'];
  const { answer: whole } = useWhole(choosing.value ? null : params.value);
  const used = usedBy(whole);
  const said = (name: string, usual: number): number => numberOf(params.value[name] ?? used[name], usual);
  const length = training ? said('seq', 2048) : said('input', 512) + said('output', 128);
  const asked: Fields | null =
    model === undefined ? null : { model, seq: length, kv_precision: params.value['kv_precision'] ?? 'bf16' };
  const graph = useLive<ModelAnswer>(asked && JSON.stringify(asked), (signal) => post('/model', asked ?? {}, signal));
  const body: Fields | null = request && {
    ...request,
    kernel: training ? 'train' : 'infer',
    ...(training ? {} : { phase: params.value['phase'] ?? 'decode' }),
  };
  const ops = useLive<OpsAnswer>(body && JSON.stringify(body), (signal) => post('/ops', body ?? {}, signal));
  // Both questions have the model in common, and what is wrong with it.
  const problems = [
    ...new Map([...graph.problems, ...ops.problems].map((one) => [one.field + one.message, one])).values(),
  ];
  return (
    <div class="columns">
      <Scenario used={{ values: used, choices: whole?.choices, problems }} />
      <Answered busy={graph.busy} problems={problems}>
        {graph.answer && (
          <Result
            answer={graph.answer}
            ops={ops.problems.length > 0 ? null : ops.answer}
            stale={graph.problems.length > 0 || (ops.busy && !ops.answer)}
          />
        )}
      </Answered>
    </div>
  );
}
