// SPDX-License-Identifier: Apache-2.0
// Serving: requests over time on engines; what their users wait, how far the limit is, what it costs, how few GPUs do.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { areaY, dot, line, ruleX, ruleY, text, tip, pointer } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { inlined, post } from '../api';
import { bytes, digits, grouped, joules, percent, seconds, timeUnit } from '../format';
import { problemsIn, useLive } from '../live';
import { Assumptions } from '../parts/evidence';
import { Choice, NumberField, Picker, Problems, TextField, Toggle, problemsOf } from '../parts/fields';
import { Figure, PlotBox, SaveCsv, decades, tipStyle } from '../parts/figure';
import { ModelField, ServePrecision, modelTitle, runtimeOptions, systemOptions } from '../parts/scenario';
import type { Used } from '../parts/scenario';
import { Side } from '../parts/side';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { bare, change, examples, kind, params, replaceQuietly, requestOf } from '../state';
import type { Fields, Percentiles, Problem, RatePoint, TrafficAnswer } from '../types';
import { meaningOf } from '../words';
import { Headline, Placeholder, Refused, split } from './predict';

const rates = [0.1, 0.2, 0.5, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 150, 200, 300, 500, 1000];
const counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const lengths = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const limits = [0, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000];
const degrees = [1, 2, 4, 8, 16, 32];

const number = (name: string, fallback: number): number => {
  const value = Number(params.value[name]);
  return Number.isFinite(value) && params.value[name] ? value : fallback;
};

/** The workload as both questions take it: how requests come, and how long they are. */
function workload(): Fields {
  const fields: Fields = { input: number('input', 1024), output: number('output', 256) };
  for (const name of ['max_ttft_p99', 'max_tpot_p99'])
    if (params.value[name]) fields[name] = `${params.value[name]} ms`;
  if (params.value['price']) fields['price'] = params.value['price'];
  return fields;
}

const split2 = (): boolean => params.value['pools'] === '2';

/** The request for `traffic`; what is not set is the engine's default. */
function request(): Fields | null {
  const known = requestOf(params.value, false);
  if (!known) return null;
  const { model, system, precision, kv_precision, set } = known;
  const arrivals = params.value['arrivals'] ?? 'poisson';
  const engine: Fields = split2()
    ? {
        prefill_workers: number('prefill_workers', 1),
        prefill_tp: number('prefill_tp', number('tp', 4)),
        decode_workers: number('decode_workers', 1),
        decode_tp: number('decode_tp', number('tp', 4)),
      }
    : { tp: number('tp', 4), pp: number('pp', 1), replicas: number('replicas', 1) };
  return {
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system }),
    ...(set === undefined ? {} : { set }),
    ...(precision === undefined ? {} : { precision }),
    ...(kv_precision === undefined ? {} : { kv_precision }),
    ...(params.value['engine'] ? { runtime: params.value['engine'] } : {}),
    ...workload(),
    ...engine,
    arrivals,
    ...(arrivals === 'closed' ? { concurrency: number('concurrency', 32) } : {}),
    ...(arrivals === 'closed' || arrivals === 'burst' ? {} : { rate: number('rate', 2) }),
    ...(params.value['lengths'] ? { lengths: params.value['lengths'] } : {}),
    requests: 4000,
    curve: true,
    series: true,
  };
}

function Limit({ name, label, problems }: { name: string; label: string; problems: Problem[] }): JSX.Element {
  return (
    <NumberField
      label={label}
      hint="99 in 100 requests within; 0: any"
      name={name}
      free
      value={number(name, 0)}
      values={limits}
      show={(value) => (value === 0 ? 'any' : `${grouped(value)} ms`)}
      problems={problemsOf(problems, name)}
      onChange={(value) => change({ [name]: value === 0 ? undefined : value })}
    />
  );
}

function Count({
  name,
  label,
  fallback,
  values = counts,
  hint,
  free,
  problems,
}: {
  name: string;
  label: string;
  fallback: number;
  values?: number[];
  hint?: string;
  free?: boolean;
  problems: Problem[];
}): JSX.Element {
  return (
    <NumberField
      label={label}
      name={name}
      {...(hint ? { hint } : {})}
      {...(free ? { free } : {})}
      value={number(name, fallback)}
      values={values}
      show={(value) => (value < 1 ? String(value) : grouped(value))}
      problems={problemsOf(problems, name)}
      onChange={(value) => change({ [name]: value })}
    />
  );
}

function Engines({ problems }: { problems: Problem[] }): JSX.Element {
  const both = split2();
  return (
    <>
      <h2>Engines</h2>
      <Toggle
        label="prompts and tokens on engines of their own"
        name="pools"
        checked={both}
        onChange={(on) => change({ pools: on ? '2' : undefined })}
      />
      {both ? (
        <>
          <Count name="prefill_workers" label="Prompt engines" fallback={1} problems={problems} />
          <Count
            name="prefill_tp"
            label="Tensor of each"
            fallback={number('tp', 4)}
            values={degrees}
            problems={problems}
          />
          <Count name="decode_workers" label="Token engines" fallback={1} problems={problems} />
          <Count
            name="decode_tp"
            label="Tensor of each"
            fallback={number('tp', 4)}
            values={degrees}
            problems={problems}
          />
        </>
      ) : (
        <>
          <Count name="replicas" label="Engines" hint="replicas behind a router" fallback={1} problems={problems} />
          <Count name="tp" label="Tensor" fallback={4} values={degrees} problems={problems} />
          <Count name="pp" label="Pipeline" fallback={1} values={degrees} problems={problems} />
        </>
      )}
    </>
  );
}

function Form({ used, runtime }: { used: Used; runtime: string }): JSX.Element {
  const problems = used.problems;
  const arrivals = params.value['arrivals'] ?? 'poisson';
  return (
    <Side title="Serving" unfolded>
      <form class="scenario" onSubmit={(event) => event.preventDefault()}>
        <fieldset class="all" disabled={inlined !== null}>
          <ModelField problems={problems} take={change} />
          <Picker
            label="System"
            name="system"
            value={params.value['system'] ?? ''}
            options={systemOptions()}
            problems={problemsOf(problems, 'system')}
            onChange={(system) => change({ system })}
          />
          <Picker
            label="Engine"
            name="engine"
            value={runtime}
            options={runtimeOptions(false)}
            problems={problemsOf(problems, 'runtime')}
            onChange={(engine) => change({ engine })}
          />
          <h2>Requests</h2>
          <Choice
            label="Arrive"
            name="arrivals"
            value={arrivals}
            options={[
              ['poisson', 'at random'],
              ['uniform', 'evenly'],
              ['burst', 'all at once'],
              ['closed', 'as users wait'],
            ]}
            problems={problemsOf(problems, 'arrivals')}
            onChange={(next) => change({ arrivals: next === 'poisson' ? undefined : next })}
          />
          {arrivals === 'closed' ? (
            <Count
              name="concurrency"
              label="Users"
              hint="each waits for its answer, then asks again"
              fallback={32}
              problems={problems}
            />
          ) : (
            arrivals !== 'burst' && (
              <Count
                name="rate"
                label="Rate"
                hint="requests a second"
                fallback={2}
                values={rates}
                problems={problems}
              />
            )
          )}
          <Count
            name="input"
            label="Input"
            hint="tokens of a prompt"
            fallback={1024}
            values={lengths}
            free
            problems={problems}
          />
          <Count
            name="output"
            label="Output"
            hint="tokens generated"
            fallback={256}
            values={lengths}
            free
            problems={problems}
          />
          <Choice
            label="Lengths"
            name="lengths"
            value={params.value['lengths'] ?? 'fixed'}
            options={['fixed', 'uniform', 'lognormal']}
            problems={problemsOf(problems, 'lengths')}
            onChange={(next) => change({ lengths: next === 'fixed' ? undefined : next })}
          />
          <h2>Limits</h2>
          <Limit name="max_ttft_p99" label="TTFT p99" problems={problems} />
          <Limit name="max_tpot_p99" label="TPOT p99" problems={problems} />
          <TextField
            label="Price"
            name="price"
            value={params.value['price'] ?? ''}
            placeholder="$ a GPU and hour, or aws, lambda"
            problems={problemsOf(problems, 'price')}
            onChange={(price) => change({ price })}
          />
          <Engines problems={problems} />
          <ServePrecision used={used} />
        </fieldset>
      </form>
    </Side>
  );
}

const limitOf = (name: string): number | null => (params.value[name] ? number(name, 0) / 1e3 : null);

function Headlines({ answer }: { answer: TrafficAnswer }): JSX.Element {
  const over = (p: Percentiles, name: string): boolean => {
    const limit = limitOf(name);
    return limit !== null && p.p99 > limit;
  };
  return (
    <dl class="headlines">
      <Headline
        main
        label="of what it can serve"
        over={answer.saturation > 1}
        {...split(percent(answer.saturation, 0))}
        detail={`${digits(answer.offered_requests_per_second)} of ${digits(answer.capacity_requests_per_second)} requests/s, on ${grouped(answer.gpus)} ${answer.gpus === 1 ? 'GPU' : 'GPUs'}`}
      />
      <Headline
        label="TTFT p99"
        means={meaningOf('TTFT')}
        over={over(answer.ttft_seconds, 'max_ttft_p99')}
        {...split(seconds(answer.ttft_seconds.p99))}
        detail={`half within ${seconds(answer.ttft_seconds.p50)}`}
      />
      <Headline
        label="TPOT p99"
        means={meaningOf('TPOT')}
        over={over(answer.tpot_seconds, 'max_tpot_p99')}
        {...split(seconds(answer.tpot_seconds.p99))}
        detail={`half within ${seconds(answer.tpot_seconds.p50)}`}
      />
      <Headline
        label="tokens/s"
        means={meaningOf('output tokens/s')}
        value={grouped(answer.output_tokens_per_second)}
        detail={`${grouped(answer.output_tokens_per_second / answer.gpus)} a GPU`}
      />
      {answer.dollars_per_million_tokens > 0 ? (
        <Headline
          label="a million tokens"
          value={`$ ${digits(answer.dollars_per_million_tokens)}`}
          detail={`${joules(answer.joules_per_token)} a token`}
        />
      ) : (
        <Headline label="energy a token" {...split(joules(answer.joules_per_token))} detail="a price gives the cost" />
      )}
    </dl>
  );
}

type Metric = 'ttft_seconds' | 'tpot_seconds';
const names: Record<Metric, string> = { ttft_seconds: 'TTFT', tpot_seconds: 'TPOT' };
const tones: Record<Metric, string> = { ttft_seconds: 'var(--work)', tpot_seconds: 'var(--link)' };

interface CurveRow {
  metric: Metric;
  quantile: 'p50' | 'p99';
  rate: number;
  time: number;
}

function byRate(answer: TrafficAnswer): (width: number) => PlotOptions {
  const metrics: Metric[] = ['ttft_seconds', 'tpot_seconds'];
  const rows = (answer.curve ?? []).flatMap((point: RatePoint) =>
    metrics.flatMap((metric) =>
      (['p50', 'p99'] as const).map((quantile): CurveRow => ({
        metric,
        quantile,
        rate: point.rate,
        time: point[metric][quantile] * 1e3,
      })),
    ),
  );
  const range: [number, number] = [
    Math.min(...rows.map((row) => row.time)) / 1.2,
    Math.max(...rows.map((row) => row.time)) * 1.2,
  ];
  const knee = answer.knee_requests_per_second;
  const last = rows.filter((row) => row.rate === Math.max(...rows.map((other) => other.rate)));
  // The half is named where its name does not lie on the other's.
  const ends = last.filter(
    (row) =>
      row.quantile === 'p99' ||
      last.every(
        (other) => other === row || Math.abs(Math.log(other.time / row.time)) > 0.05 * Math.log(range[1] / range[0]),
      ),
  );
  const bounds = metrics.flatMap((metric) => {
    const limit = limitOf(metric === 'ttft_seconds' ? 'max_ttft_p99' : 'max_tpot_p99');
    return limit === null || limit * 1e3 < range[0] || limit * 1e3 > range[1] ? [] : [{ metric, limit: limit * 1e3 }];
  });
  return () => ({
    marginLeft: 62,
    marginRight: 76,
    marginBottom: 42,
    x: { label: 'requests a second →', zero: true, grid: true },
    y: { type: 'log', domain: range, ticks: decades(...range), label: '↑ time (ms)', tickFormat: '~g', grid: true },
    marks: [
      ruleY(bounds, { y: 'limit', stroke: (row: { metric: Metric }) => tones[row.metric], strokeDasharray: '2 4' }),
      ruleX(answer.offered_requests_per_second > 0 ? [answer.offered_requests_per_second] : [], {
        stroke: 'currentColor',
        strokeDasharray: '4 3',
      }),
      text(answer.offered_requests_per_second > 0 ? [answer.offered_requests_per_second] : [], {
        x: (value: number) => value,
        frameAnchor: 'top',
        text: () => 'offered',
        dy: -10,
        fill: 'currentColor',
      }),
      line(rows, {
        x: 'rate',
        y: 'time',
        z: (row: CurveRow) => row.metric + row.quantile,
        stroke: (row: CurveRow) => tones[row.metric],
        strokeWidth: 1.8,
        strokeOpacity: (row: CurveRow) => (row.quantile === 'p99' ? 1 : 0.55),
      }),
      dot(rows, {
        x: 'rate',
        y: 'time',
        r: (row: CurveRow) => (row.rate === knee ? 6 : 2.5),
        fill: (row: CurveRow) => tones[row.metric],
      }),
      text(ends, {
        x: 'rate',
        y: 'time',
        text: (row: CurveRow) => `${names[row.metric]} ${row.quantile}`,
        textAnchor: 'start',
        dx: 8,
        fill: 'currentColor',
      }),
      tip(
        rows,
        pointer({
          x: 'rate',
          y: 'time',
          title: (row: CurveRow) =>
            `${names[row.metric]} ${row.quantile}\n${seconds(row.time / 1e3)} at ${digits(row.rate)} requests/s`,
          ...tipStyle,
        }),
      ),
    ],
  });
}

interface ShareRow {
  metric: Metric;
  time: number;
  share: number;
}

function distribution(answer: TrafficAnswer): (width: number) => PlotOptions {
  const rows = (answer.distribution ?? []).flatMap((point): ShareRow[] => [
    { metric: 'ttft_seconds', time: point.ttft_seconds * 1e3, share: point.share },
    { metric: 'tpot_seconds', time: point.tpot_seconds * 1e3, share: point.share },
  ]);
  const times = rows.map((row) => row.time).filter((time) => time > 0);
  const range: [number, number] = [Math.min(...times) / 1.1, Math.max(...times) * 1.1];
  return () => ({
    marginLeft: 52,
    marginBottom: 42,
    x: { type: 'log', domain: range, ticks: decades(...range), label: 'time (ms) →', tickFormat: '~g', grid: true },
    y: { domain: [0, 1], tickFormat: '.0%', label: '↑ of the requests, within', grid: true },
    marks: [
      ruleY([0.99], { stroke: 'var(--faint)', strokeDasharray: '2 3' }),
      line(
        rows.filter((row) => row.time > 0),
        { x: 'time', y: 'share', z: 'metric', stroke: (row: ShareRow) => tones[row.metric], strokeWidth: 1.8 },
      ),
    ],
  });
}

function load(answer: TrafficAnswer): (width: number) => PlotOptions {
  const points = answer.load ?? [];
  const last = points[points.length - 1]?.seconds ?? 1;
  const { size, unit } = last >= 600 ? { size: 60, unit: 'min' } : timeUnit(last);
  const x = (point: { seconds: number }): number => point.seconds / size;
  return () => ({
    marginLeft: 52,
    marginBottom: 42,
    x: { label: `time (${unit}) →`, grid: true },
    y: { label: '↑ requests', grid: true, zero: true },
    marks: [
      areaY(points, { x, y: 'running', fill: 'var(--work-2)', fillOpacity: 0.6 }),
      line(points, { x, y: 'waiting', stroke: 'var(--red)', strokeWidth: 1.6 }),
    ],
  });
}

function Key({ tone, children }: { tone: string; children: ComponentChildren }): JSX.Element {
  return (
    <span class="legend">
      <i class="key" style={{ background: tone }} /> {children}
    </span>
  );
}

function Figures({ answer }: { answer: TrafficAnswer }): JSX.Element {
  const keys = (
    <>
      <Key tone={tones.ttft_seconds}>TTFT</Key>
      <Key tone={tones.tpot_seconds}>TPOT</Key>
    </>
  );
  return (
    <>
      {answer.curve && (
        <Figure
          name="rates"
          title={
            answer.knee_requests_per_second
              ? `Good up to ${digits(answer.knee_requests_per_second)} requests a second`
              : 'Latency against the rate'
          }
          note={
            <>
              {keys} The pale line is the half, the full one 99 in 100; the large dots are the knee, the most that stays
              within{' '}
              {limitOf('max_ttft_p99') || limitOf('max_tpot_p99') ? 'the limits' : 'twice the wait of an idle engine'}.
            </>
          }
          rows={() =>
            (answer.curve ?? []).map((point) => ({
              rate: point.rate,
              ttft_p50: point.ttft_seconds.p50,
              ttft_p99: point.ttft_seconds.p99,
              tpot_p50: point.tpot_seconds.p50,
              tpot_p99: point.tpot_seconds.p99,
              output_tokens_per_second: point.output_tokens_per_second,
              goodput_requests_per_second: point.goodput_requests_per_second,
            }))
          }
        >
          <PlotBox draw={byRate(answer)} of={[answer]} height={320} label="latencies by rate" />
        </Figure>
      )}
      <div class="pair">
        {answer.distribution && (
          <Figure
            name="distribution"
            title="How long users wait"
            note={keys}
            rows={() => (answer.distribution ?? []).map((point) => ({ ...point }))}
          >
            <PlotBox draw={distribution(answer)} of={[answer]} height={260} label="latencies by share of requests" />
          </Figure>
        )}
        {answer.load && (
          <Figure
            name="load"
            title="Requests over time"
            note={
              <>
                <Key tone="var(--work-2)">running</Key>
                <Key tone="var(--red)">waiting</Key>
              </>
            }
            rows={() => (answer.load ?? []).map((point) => ({ ...point }))}
          >
            <PlotBox draw={load(answer)} of={[answer]} height={260} label="requests that run and wait, over time" />
          </Figure>
        )}
      </div>
    </>
  );
}

/** One layout of a search for capacity. */
interface Layout {
  strategy: { tp: number; pp: number; dp: number; ep: number };
  prediction: {
    devices: number;
    replicas: number;
    decode_replicas: number;
    most_requests_per_second: number;
    headroom: number;
    ttft_p99_seconds: number;
    tpot_p99_seconds: number;
    dollars_per_million_tokens: number;
  };
}

interface Plan {
  key: string;
  layouts: Layout[];
  rejected: Record<string, number>;
}

function planRequest(body: Fields): Fields {
  const { model, system, precision, kv_precision, set, runtime, rate } = body;
  const kept = Object.entries({ model, system, set, runtime }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(kept) as Fields),
    ...workload(),
    ...(precision === undefined ? {} : { precision: [precision] }),
    ...(kv_precision === undefined ? {} : { kv_precision: [kv_precision] }),
    traffic: 'poisson',
    rate: rate ?? 2,
    gpus: number('gpus_most', 64),
    ...(params.value['price'] && Number(params.value['price']) ? { price: Number(params.value['price']) } : {}),
  };
}

const engines = ({ prediction: p }: Layout): string =>
  p.decode_replicas > 0 ? `${p.replicas} for prompts, ${p.decode_replicas} for tokens` : grouped(p.replicas);

function take({ strategy, prediction }: Layout): void {
  const two = prediction.decode_replicas > 0;
  change({
    tp: strategy.tp,
    pp: two ? undefined : strategy.pp,
    replicas: two ? undefined : prediction.replicas,
    pools: two ? '2' : undefined,
    prefill_workers: two ? prediction.replicas : undefined,
    decode_workers: two ? prediction.decode_replicas : undefined,
    prefill_tp: undefined,
    decode_tp: undefined,
  });
}

const degreesOf = ({ strategy }: Layout): string =>
  Object.entries(strategy)
    .filter(([name, value]) => ['tp', 'pp', 'dp', 'ep'].includes(name) && Number(value) > 1)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ') || 'one GPU';

const layoutColumns: Column<Layout>[] = [
  { label: 'GPUs', of: ({ prediction }) => grouped(prediction.devices) },
  { label: 'engines', kind: 'text', of: engines },
  { label: 'each', kind: 'text', of: degreesOf },
  { label: 'TTFT p99', of: ({ prediction }) => seconds(prediction.ttft_p99_seconds) },
  { label: 'TPOT p99', of: ({ prediction }) => seconds(prediction.tpot_p99_seconds) },
  { label: 'up to', wide: true, of: ({ prediction }) => `${digits(prediction.most_requests_per_second)}/s` },
  {
    label: 'use',
    silent: true,
    kind: 'text',
    of: (layout) => (
      <button type="button" class="quiet" onClick={() => take(layout)}>
        use
      </button>
    ),
  },
];

/** How few GPUs hold the limits: every layout of engines, simulated. */
function Planner({ body }: { body: Fields | null }): JSX.Element | null {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [busy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Problem[]>([]);
  const wanted = body && planRequest(body);
  const key = JSON.stringify(wanted);
  const limited = limitOf('max_ttft_p99') !== null || limitOf('max_tpot_p99') !== null;
  const ask = async (): Promise<void> => {
    if (!wanted) return;
    setBusy(true);
    setProblems([]);
    try {
      const answer = await post<{ best: Layout[]; rejected: Record<string, number> }>('/best', wanted);
      setPlan({ key, layouts: answer.best, rejected: answer.rejected });
    } catch (error) {
      setProblems(problemsIn(error));
    }
    setBusy(false);
  };
  if (inlined) return null;
  const current = plan?.key === key ? plan : null;
  return (
    <section class="planner">
      <header class="caption">
        <h3>How few GPUs?</h3>
        {current && (
          <SaveCsv
            name="layouts"
            title="Layouts"
            rows={() => current.layouts.map(({ strategy, prediction }) => ({ ...strategy, ...prediction }))}
          />
        )}
      </header>
      <p class="note">
        Every way to lay out engines on up to {grouped(number('gpus_most', 64))} GPUs, simulated with these requests;
        the fewest that keep both limits first.
      </p>
      <p class="toolbar">
        <button type="button" class="primary" disabled={busy || !limited} onClick={() => void ask()}>
          {busy ? 'Simulating …' : 'Find the fewest GPUs'}
        </button>
        {!limited && <span class="hint">set a limit on the left first</span>}
      </p>
      <Problems of={problems} named />
      {current && current.layouts.length > 0 && (
        <Table label="Layouts that keep the limits" columns={layoutColumns} rows={current.layouts} />
      )}
      {current && current.layouts.length === 0 && (
        <p class="misfit">
          <strong>No layout keeps these limits.</strong>{' '}
          {Object.entries(current.rejected)
            .map(([reason, count]) => `${reason}: ${count}`)
            .join('; ')}
        </p>
      )}
    </section>
  );
}

function Result({ answer, stale, body }: { answer: TrafficAnswer; stale: boolean; body: Fields | null }): JSX.Element {
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>
          {answer.model} <span>served by</span> {grouped(answer.gpus)} {answer.gpus === 1 ? 'GPU' : 'GPUs'}{' '}
          <span>of</span> {answer.system}
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
      <Figures answer={answer} />
      <Planner body={body} />
      <Assumptions of={answer.assumptions} />
    </div>
  );
}

/** A training scenario has a model and a system to serve; its strategy and batch are another question's. */
function adopt(): void {
  const { model, config, system } = params.value;
  if (kind.value === 'infer') return;
  const own = bare.value ? {} : { ...(config ? { config } : model ? { model } : {}), ...(system ? { system } : {}) };
  const { model: usual, ...rest } = examples.infer;
  replaceQuietly({ ...rest, ...(config && !bare.value ? {} : usual ? { model: usual } : {}), ...own });
}

export function Serving(): JSX.Element {
  useEffect(adopt, []);
  const body = kind.value === 'infer' ? request() : null;
  const live = useLive<TrafficAnswer>(body && JSON.stringify(body), (signal) => post('/traffic', body ?? {}, signal));
  const { answer, problems } = live;
  const used: Used = { values: {}, choices: undefined, problems };
  return (
    <div class="columns">
      <Form used={used} runtime={params.value['engine'] ?? answer?.runtime ?? 'vllm'} />
      <main>
        <Refused problems={answer ? problems : []} />
        {answer ? (
          <Result answer={answer} stale={problems.length > 0} body={body} />
        ) : (
          <Placeholder busy={live.busy && problems.length === 0}>
            <Problems of={problems} named />
            {problems.length === 0 && `Serving ${modelTitle()}`}
          </Placeholder>
        )}
      </main>
    </div>
  );
}
