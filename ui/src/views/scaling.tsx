// SPDX-License-Identifier: Apache-2.0
// Scaling: the best strategy at each number of GPUs, what more of them buy, and what is lost on the way.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { dot, line, pointer, ruleX, text, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { inlined, post } from '../api';
import { bestRequest } from '../choose';
import { bytes, devices, digits, grouped, percent, rates, seconds, thousands } from '../format';
import { problemsIn } from '../live';
import { asChanged, overridesIn } from '../overrides';
import { Placeholder } from '../parts/answered';
import { NumberField, Problems } from '../parts/fields';
import { Figure, PlotBox, SaveCsv, decades, tipStyle } from '../parts/figure';
import { Scenario, modelTitle } from '../parts/scenario';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { scenarioOf } from '../search';
import { address, change, kind, numberIn, params, systemFacts } from '../state';
import type { Params } from '../state';
import type { Found, Problem, SearchAnswer } from '../types';
import { usedBySearch } from '../used';
import { wholeOf } from '../whole';
import { Headline, inverseOf, split } from './predict';

const sizes = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];

interface Point {
  gpus: number;
  found: Found;
  scenario: Params;
  /** Tokens a second, of all GPUs together, and between which it lies nine times in ten. */
  rate: number;
  low: number;
  high: number;
  /** Of what as many GPUs would do if each did what one of the first point does. */
  efficiency: number;
}

interface Curve {
  /** The scenario that it is of, and what the searches held where that is silent. */
  values: Params;
  used: Params;
  points: Point[];
  refused: number[];
  problems: Problem[];
  done: boolean;
}

const rateOf = ({ prediction }: Found): number =>
  prediction.tokens_per_second ?? prediction.total_output_tokens_per_second ?? prediction.output_tokens_per_second ?? 0;

function useCurve(values: Params, list: number[]): Curve {
  const [curve, setCurve] = useState<Curve>({
    values,
    used: {},
    points: [],
    refused: [],
    problems: [],
    done: false,
  });
  const key = JSON.stringify([values, list]);
  useEffect(() => {
    if (inlined) return undefined;
    const controller = new AbortController();
    setCurve((last) => ({ ...last, done: false })); // until this one's first point
    const rest = setTimeout(async () => {
      const points: Point[] = [];
      const refused: number[] = [];
      let problems: Problem[] = [];
      let used: Params = {};
      for (const gpus of list) {
        const asked = { ...values, gpus: String(gpus) };
        const fields = bestRequest(asked);
        if (!fields) return;
        try {
          const answer = await post<SearchAnswer>('/best', fields, controller.signal);
          const [found] = answer.best;
          used = usedBySearch(answer);
          if (found) {
            const rate = rateOf(found);
            const first = points[0];
            const efficiency = first ? rate / gpus / (first.rate / first.gpus) : 1;
            const scenario = scenarioOf(found, asked);
            const { low, high } = inverseOf(rate, await wholeOf(scenario, controller.signal), thousands);
            points.push({ gpus, found, scenario, rate, low, high, efficiency });
          } else refused.push(gpus);
        } catch (error) {
          if (controller.signal.aborted) return;
          refused.push(gpus);
          problems = problemsIn(error);
        }
        setCurve({ values, used, points: [...points], refused: [...refused], problems: [], done: false });
      }
      setCurve({ values, used, points, refused, problems: points.length === 0 ? problems : [], done: true });
    }, 200);
    return () => {
      clearTimeout(rest);
      controller.abort();
    };
  }, [key]);
  return curve;
}

const sides = { marginLeft: 62, marginRight: 60 } as const;

/** As many of the sizes as have room for their numbers, the last among them. */
function ticksOf(gpus: number[], [low, high]: [number, number], width: number): number[] {
  const room = width - sides.marginLeft - sides.marginRight;
  const at = (size: number): number => (room * Math.log(size / low)) / Math.log(high / low);
  const half = (size: number): number => grouped(size).length * 3.5 + 3; // px, of a number and a space
  return gpus.reduceRight<number[]>((kept, size) => {
    const next = kept[0];
    return next === undefined || at(size) + half(size) <= at(next) - half(next) ? [size, ...kept] : kept;
  }, []);
}

function drawing(points: Point[]): (width: number) => PlotOptions {
  const rates = points.flatMap(({ low, high }) => [low, high]);
  const gpus = points.map((point) => point.gpus);
  const y: [number, number] = [Math.min(...rates) / 1.3, Math.max(...rates) * 1.5];
  const x: [number, number] = [Math.min(...gpus) / 1.2, Math.max(...gpus) * 1.2];
  const [first] = points;
  const last = gpus[gpus.length - 1] ?? 1;
  const ideal = first
    ? [
        { gpus: first.gpus, rate: first.rate },
        { gpus: last, rate: (first.rate / first.gpus) * last },
      ]
    : [];
  return (width) => ({
    ...sides,
    marginBottom: 42,
    grid: true,
    x: {
      type: 'log',
      base: 2,
      domain: x,
      ticks: ticksOf(gpus, x, width),
      tickFormat: (value: number) => grouped(value),
      label: 'GPUs →',
    },
    y: { type: 'log', domain: y, ticks: decades(...y), tickFormat: '~s', label: '↑ tokens a second' },
    marks: [
      line(ideal, { x: 'gpus', y: 'rate', stroke: 'var(--faint)', strokeDasharray: '3 4', clip: true }),
      line(points, { x: 'gpus', y: 'rate', stroke: 'var(--work)', strokeWidth: 2 }),
      ruleX(points, { x: 'gpus', y1: 'low', y2: 'high', stroke: 'var(--work)', strokeOpacity: 0.5, strokeWidth: 3 }),
      dot(points, { x: 'gpus', y: 'rate', r: 4.5, fill: 'var(--work)' }),
      text(points, {
        x: 'gpus',
        y: 'rate',
        text: (point: Point) => percent(point.efficiency, 0),
        dy: 14,
        dx: 8,
        textAnchor: 'start',
        fill: 'currentColor',
      }),
      tip(
        points,
        pointer({
          x: 'gpus',
          y: 'rate',
          title: ({ gpus, rate, low, high, found }: Point) =>
            `${devices(gpus)}: ${thousands(rate)} tokens/s, ${thousands(low)} to ${thousands(high)} nine times in ten\n${found.summary}`,
          ...tipStyle,
        }),
      ),
    ],
  });
}

const columns = (training: boolean): Column<Point>[] => [
  { label: 'GPUs', of: ({ gpus }) => grouped(gpus) },
  { label: 'strategy', kind: 'name', of: ({ found }) => found.summary },
  {
    label: training ? 'step' : 'TPOT',
    of: ({ found }) => seconds(found.prediction.step_seconds ?? found.prediction.tpot_seconds ?? 0),
  },
  { label: 'tokens/s a GPU', of: ({ rate, gpus }) => rates(rate / gpus) },
  { label: 'efficiency', of: ({ efficiency }) => percent(efficiency, 0) },
  { label: 'memory', wide: true, of: ({ found }) => bytes(found.prediction.memory.total_bytes) },
  {
    label: 'open',
    silent: true,
    kind: 'text',
    of: ({ gpus, scenario }) => (
      <a href={address('predict', scenario)} aria-label={`Open the strategy of ${gpus} GPUs in Predict`}>
        open
      </a>
    ),
  },
];

function Strategies({ points }: { points: Point[] }): JSX.Element {
  return (
    <section>
      <header class="caption">
        <h3>The best strategy at each size</h3>
        <SaveCsv
          name="scaling-strategies"
          title="Strategies"
          rows={() =>
            points.map(({ gpus, rate, efficiency, found }) => ({ gpus, rate, efficiency, strategy: found.summary }))
          }
        />
      </header>
      <Table label="The best strategy at each size" columns={columns(kind.value === 'train')} rows={points} />
    </section>
  );
}

function Result({ curve, stale }: { curve: Curve; stale: boolean }): JSX.Element {
  const { points, refused } = curve;
  const [first, last] = [points[0], points[points.length - 1]];
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={curve.done}>
      {first && last && (
        <dl class="headlines">
          <Headline
            main
            label={`of ideal, at ${devices(last.gpus)}`}
            {...split(percent(last.efficiency, 0))}
            detail={`against ${devices(first.gpus)}, a GPU`}
          />
          <Headline
            label="tokens/s"
            value={thousands(last.rate)}
            range={{ low: last.low, value: last.rate, high: last.high, show: thousands }}
            detail={`${digits(last.rate / first.rate)} times those of ${devices(first.gpus)}`}
          />
          {refused.length > 0 && (
            <Headline
              label="cannot run on"
              value={refused.map((gpus) => grouped(gpus)).join(', ')}
              detail="GPUs: too little memory, or too small a batch"
            />
          )}
        </dl>
      )}
      {points.length > 0 && (
        <Figure
          name="scaling"
          title="What more GPUs buy"
          note="The dashed line is as many times the first point; the numbers are how much of that is reached; the bars hold nine times in ten."
          rows={() =>
            points.map(({ gpus, rate, low, high, efficiency }) => ({
              gpus,
              tokens_per_second: rate,
              low,
              high,
              efficiency,
            }))
          }
        >
          <PlotBox draw={drawing(points)} of={[points]} height={360} label="tokens a second by number of GPUs" />
        </Figure>
      )}
      {points.length > 0 && <Strategies points={points} />}
      {curve.done && points.length === 0 && (
        <p class="misfit">
          <strong>No size runs.</strong> A larger batch, fewer bits or more memory may.
        </p>
      )}
    </div>
  );
}

export function Scaling(): JSX.Element {
  const facts = systemFacts(params.value);
  const most = numberIn('gpus_to', 1024);
  const reach = Math.min(most, facts?.max_devices ?? most);
  const list = sizes.filter((size) => size <= reach);
  const sized = list.length > 0 ? list : [reach];
  // The sizes are the view's own; a batch that nobody gave is one for all of them.
  const { gpus: _, ...rest } = params.value;
  const values: Params =
    kind.value === 'train' && !rest['batch'] ? { ...rest, batch: String(sized[sized.length - 1]) } : rest;
  const curve = useCurve(values, sized);
  const stale = JSON.stringify(curve.values) !== JSON.stringify(values);
  const of = curve.points.length > 0 ? curve.values : values;
  return (
    <div class="columns">
      <Scenario
        free
        anySize
        used={{
          values: stale ? {} : { ...curve.used, batch: values['batch'] ?? '' },
          choices: undefined,
          problems: curve.problems,
        }}
        aims={
          <NumberField
            label="Up to"
            hint="GPUs at the end of the curve"
            name="gpus_to"
            value={most}
            values={sizes}
            show={grouped}
            onChange={(value) => change({ gpus_to: value })}
          />
        }
      />
      <main>
        <header class="title">
          <h1>Scaling</h1>
          <p class="subtitle">
            {of['kind'] === 'infer' ? 'Serving' : 'Training'} {modelTitle(of)} on {of['system']}
            {asChanged(overridesIn(of['set']))}
            {of['kind'] === 'infer' ? '' : `, ${grouped(Number(of['batch']))} sequences a step at every size`}; at each
            size the best of the strategies that are tried first.
          </p>
        </header>
        <Problems of={curve.problems} named />
        {curve.points.length > 0 || curve.done ? <Result curve={curve} stale={stale} /> : <Placeholder busy />}
      </main>
    </div>
  );
}
