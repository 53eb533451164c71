// SPDX-License-Identifier: Apache-2.0
// The strategies of a search as dots: what each takes and gives, and the front of the best.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { dot, line, pointer, ruleX, text, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { bytes, grouped, seconds, timeUnit } from '../format';
import { scenarioOf } from '../search';
import { open } from '../state';
import type { Params } from '../state';
import type { Found, Sample, SearchAnswer } from '../types';
import { strategyLine } from '../words';
import { Figure, PlotBox, decades, tipStyle } from './figure';

export const nameOf = (found: Found): string => (found.summary ?? strategyLine(found.strategy)).replace(/_/g, ' ');

/** A point of the scatter: where it lies, and what was found there. */
interface Point {
  x: number;
  y: number;
  words: string;
  found: Found | null;
}

interface Space {
  title: string;
  note: string;
  xLabel: string;
  /** Of an axis whose values are divided by `size`. */
  yLabel: (unit: string) => string;
  point: (found: Found) => Point;
  curve: 'step-before' | 'linear';
}

const slowest = 12; // times the best step: slower is left out of the drawing

const gib = (size: number): number => size / 2 ** 30;

/** Training trades time against memory, serving throughput against the time of a token. */
const spaces: Record<'train' | 'infer', Space> = {
  train: {
    title: 'Time against memory',
    xLabel: 'memory of the fullest device (GiB) →',
    yLabel: (unit) => `↑ time of a step (${unit})`,
    curve: 'step-before',
    note: 'Each dot a strategy that runs; the line is the front on which nothing is both faster and smaller. Those more than twelve times slower than the best are left out. The circle is the best, the square the usual recipe; click a dot of the front to open it.',
    point: (found) => ({
      x: gib(found.prediction.memory.total_bytes),
      y: found.prediction.step_seconds ?? 0,
      found,
      words: `${nameOf(found)}\n${seconds(found.prediction.step_seconds ?? 0, 4)} a step, ${bytes(found.prediction.memory.total_bytes)}`,
    }),
  },
  infer: {
    title: 'Throughput against the time of a token',
    xLabel: 'time of an output token (ms) →',
    yLabel: () => '↑ output tokens a second a GPU',
    curve: 'linear',
    note: 'The front on which nothing is both quicker for the reader and better for the owner. The circle is the best by the objective. Click a dot to open it.',
    point: (found) => ({
      x: (found.prediction.tpot_seconds ?? 0) * 1e3,
      y: found.prediction.output_tokens_per_second_per_gpu ?? 0,
      found,
      words: `${nameOf(found)}\n${seconds(found.prediction.tpot_seconds ?? 0)} a token, ${seconds(found.prediction.ttft_seconds ?? 0)} to the first\n${grouped(found.prediction.output_tokens_per_second_per_gpu ?? 0)} tokens/s a GPU`,
    }),
  },
};

const samplePoint = (sample: Sample): Point => ({
  x: gib(sample.total_bytes),
  y: sample.step_seconds,
  found: null,
  words: `${sample.summary ?? ''}\n${seconds(sample.step_seconds, 4)} a step, ${bytes(sample.total_bytes)}`,
});

function scatter(result: SearchAnswer, space: Space): (width: number) => PlotOptions {
  const cloud = (result.sample ?? []).map(samplePoint);
  const front = result.pareto.map(space.point).sort((a, b) => a.x - b.x);
  const best = result.best.map(space.point);
  const usual = result.usual ? [space.point(result.usual)] : [];
  const all = [...cloud, ...front, ...best, ...usual];
  const training = space === spaces.train;
  const capacity = result.best[0]?.prediction.memory.capacity_bytes;
  const limit = training && capacity ? [gib(capacity)] : [];
  const [low, high] = [Math.min(...all.map((point) => point.y)), Math.max(...all.map((point) => point.y))];
  const { size, unit } = training ? timeUnit(low) : { size: 1, unit: '' };
  // Strategies that nobody would choose must not press the others together.
  const top = training ? Math.min(high, low * slowest) * 1.1 : high * 1.1;
  const range: [number, number] = [low / 1.1 / size, top / size];
  const inside = (point: Point): boolean => point.y <= top;
  const y = (point: Point): number => point.y / size;
  return () => ({
    marginLeft: 56,
    marginBottom: 42,
    grid: true,
    x: { label: space.xLabel, zero: true },
    y: {
      type: 'log',
      domain: range,
      ticks: decades(...range),
      label: space.yLabel(unit),
      tickFormat: training ? '~g' : '~s',
    },
    marks: [
      ruleX(limit, { stroke: 'var(--red)', strokeDasharray: '4 3' }),
      text(limit, {
        x: (size: number) => size,
        frameAnchor: 'top',
        text: () => 'capacity',
        textAnchor: 'end',
        dx: -6,
        fill: 'var(--red)',
      }),
      dot(cloud.filter(inside), { x: 'x', y, r: 1.6, fill: 'var(--rest)', fillOpacity: 0.45 }),
      line(front.filter(inside), {
        x: 'x',
        y,
        stroke: 'var(--work)',
        curve: training ? 'step-after' : 'linear',
        strokeWidth: 1.5,
      }),
      dot(front.filter(inside), { x: 'x', y, r: 3.6, fill: 'var(--work)' }),
      dot(usual, { x: 'x', y, r: 6, stroke: 'currentColor', strokeWidth: 1.5, symbol: 'square' }),
      dot(best.slice(0, 1), { x: 'x', y, r: 8, stroke: 'currentColor', strokeWidth: 1.5 }),
      tip(all.filter(inside), pointer({ x: 'x', y, title: 'words', ...tipStyle })),
    ],
  });
}

export function Scatter({ result, asked }: { result: SearchAnswer; asked: Params }): JSX.Element {
  const space = spaces[result.kind === 'infer' ? 'infer' : 'train'];
  const holder = useRef<HTMLDivElement>(null);
  // Plot's own value is the point under the pointer.
  const openPointed = (): void => {
    const drawing = holder.current?.querySelector<SVGSVGElement & { value?: Point | null }>('.plot > svg');
    const found = drawing?.value?.found;
    if (found) open('predict', scenarioOf(found, asked));
  };
  const row =
    (set: string) =>
    ({ x, y, words }: Point) => ({
      set,
      [space.xLabel.replace(/[→↑]/g, '').trim()]: x,
      [space.yLabel('s').replace(/[→↑]/g, '').trim()]: y,
      strategy: words.split('\n')[0] ?? '',
    });
  return (
    <Figure
      name="search"
      title={space.title}
      note={space.note}
      rows={() => [
        ...result.pareto.map(space.point).map(row('pareto')),
        ...result.best.map(space.point).map(row('best')),
        ...(result.sample ?? []).map(samplePoint).map(row('sample')),
      ]}
    >
      <div ref={holder} class="clickable" onClick={openPointed}>
        <PlotBox draw={scatter(result, space)} of={[result]} height={380} label={space.title} />
      </div>
    </Figure>
  );
}
