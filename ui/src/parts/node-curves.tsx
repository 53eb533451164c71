// SPDX-License-Identifier: Apache-2.0
// What a process node buys: training and serving on devices generated for each, and what bounds them.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { barY, dot, line, pointer, text, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { byteRate, digits, flopRate, grouped, percent, watts } from '../format';
import { problemsIn } from '../live';
import { params } from '../state';
import { sweepPoint } from '../tech';
import type { NodeFacts, Shares, SweepPoint, Workloads } from '../tech';
import type { Fields, Problem } from '../types';
import { Problems } from './fields';
import { Figure, PlotBox, decades, tipStyle } from './figure';

/** The technology that was chosen; `fields` is the request without node and memory. */
export interface Chosen {
  node: string;
  dram: string;
  network: string;
  fields: Fields;
}

const parallel = 6; // requests at a time, as many as browsers allow a host

interface Sweep {
  points: SweepPoint[];
  problems: Problem[];
  done: boolean;
}

/** Computes node by node, memory by memory, and shows what is there already. */
function useSweep(nodes: NodeFacts[], drams: string[], choice: Chosen, workloads: Workloads): Sweep {
  const [sweep, setSweep] = useState<Sweep>({ points: [], problems: [], done: false });
  const key = JSON.stringify([nodes.map((node) => node.name), drams, choice.fields, workloads]);
  useEffect(() => {
    if (nodes.length === 0 || drams.length === 0) return undefined;
    const controller = new AbortController();
    const queue = drams.flatMap((dram) => nodes.map((node) => ({ node, dram })));
    const points: SweepPoint[] = [];
    let problems: Problem[] = [];
    const worker = async (): Promise<void> => {
      for (let job = queue.shift(); job && !controller.signal.aborted; job = queue.shift()) {
        try {
          points.push(await sweepPoint(job.node, job.dram, choice.fields, workloads, controller.signal));
        } catch (error) {
          if (!controller.signal.aborted) problems = problemsIn(error);
        }
      }
    };
    // While a slider moves, the curves wait for it to rest.
    const rest = setTimeout(() => {
      void Promise.all(Array.from({ length: parallel }, worker)).then(() => {
        if (!controller.signal.aborted) setSweep({ points, problems: points.length === 0 ? problems : [], done: true });
      });
    }, 150);
    return () => {
      clearTimeout(rest);
      controller.abort();
    };
  }, [key]);
  return sweep;
}

const label = (node: NodeFacts): string => node.name.toUpperCase();

const curveHeight = 300;
const lineGap = 13; // px between names at the ends of lines

interface EndLabel {
  point: SweepPoint;
  at: number;
}

/** Names at the ends of the lines, pushed apart where lines end close together. */
function endLabels(ends: SweepPoint[], of: (point: SweepPoint) => number, [low, high]: [number, number]): EndLabel[] {
  const perPixel = Math.log(high / low) / (curveHeight - 65);
  const labels = ends.map((point) => ({ point, at: Math.log(of(point)) })).sort((a, b) => a.at - b.at);
  const gap = lineGap * perPixel;
  labels.forEach((label, index) => {
    const below = labels[index - 1];
    if (below) label.at = Math.max(label.at, below.at + gap);
  });
  const excess = Math.max(0, (labels[labels.length - 1]?.at ?? 0) - Math.log(high));
  return labels.map(({ point, at }) => ({ point, at: Math.exp(at - excess / 2) }));
}

/** Every node has its name where there is room for all of them; every other one else, the last among them. */
const ticksOf = (nodes: NodeFacts[], width: number): string[] => {
  const every = (width - 114) / nodes.length < 30 ? 2 : 1; // px, of a name and a space
  return nodes.map(label).filter((_, index) => (nodes.length - 1 - index) % every === 0);
};

function curves(
  points: SweepPoint[],
  nodes: NodeFacts[],
  picked: Chosen,
  of: (point: SweepPoint) => number,
  axis: string,
): (width: number) => PlotOptions {
  const isPicked = (point: SweepPoint): boolean => point.dram === picked.dram;
  const order = nodes.map((node) => node.name);
  const last = order[order.length - 1];
  const values = points.map(of);
  const range: [number, number] =
    values.length > 0 ? [Math.min(...values) / 1.15, Math.max(...values) * 1.15] : [1, 10];
  return (width) => ({
    marginLeft: 56,
    marginRight: 58,
    marginBottom: 40,
    x: { type: 'point', domain: nodes.map(label), ticks: ticksOf(nodes, width), label: 'process node →' },
    y: { type: 'log', domain: range, label: axis, grid: true, ticks: decades(...range), tickFormat: '~s' },
    marks: [
      line(points, {
        x: (p: SweepPoint) => label(p.node),
        y: of,
        z: 'dram',
        sort: (p: SweepPoint) => order.indexOf(p.node.name),
        stroke: (p: SweepPoint) => (isPicked(p) ? 'var(--work)' : 'var(--rest)'),
        strokeWidth: (p: SweepPoint) => (isPicked(p) ? 2.2 : 1),
      }),
      dot(points.filter(isPicked), {
        x: (p: SweepPoint) => label(p.node),
        y: of,
        r: (p: SweepPoint) => (p.node.name === picked.node ? 6 : 3),
        fill: 'var(--work)',
      }),
      text(
        endLabels(
          points.filter((p) => p.node.name === last),
          of,
          range,
        ),
        {
          x: ({ point }: EndLabel) => label(point.node),
          y: 'at',
          text: ({ point }: EndLabel) => point.dram.toUpperCase(),
          textAnchor: 'start',
          dx: 8,
          fill: ({ point }: EndLabel) => (isPicked(point) ? 'var(--work)' : 'var(--faint)'),
        },
      ),
      tip(
        points,
        pointer({
          x: (p: SweepPoint) => label(p.node),
          y: of,
          ...tipStyle,
          title: (p: SweepPoint) =>
            `${p.node.process}, ${p.dram.toUpperCase()}\n${digits(of(p))}\n${flopRate(p.device.matrix['bf16'] ?? 0)}, ${byteRate(p.device.memory.bandwidth)}, ${watts(p.device.power.limit)}`,
        }),
      ),
    ],
  });
}

const bounds: [name: string, tone: string, text: string][] = [
  ['compute', 'var(--work)', 'arithmetic'],
  ['dram', 'var(--work-2)', 'DRAM'],
  ['l2', 'var(--rest)', 'caches'],
  ['network', 'var(--link)', 'network'],
  ['other', 'var(--rest-2)', 'launch, latency'],
  ['waiting', 'var(--well)', 'waiting'],
];

/** Shares by the bounds drawn; what is rare is gathered. */
function gathered(shares: Shares): Shares {
  const sums: Shares = Object.fromEntries(bounds.map(([name]) => [name, 0]));
  for (const [bound, share] of Object.entries(shares)) {
    const name = bound === 'shared' || bound === 'special' ? 'l2' : bound in sums ? bound : 'other';
    sums[name] = (sums[name] ?? 0) + share;
  }
  return sums;
}

interface Slice {
  node: string;
  bound: string;
  share: number;
}

const slicesOf = (points: SweepPoint[], of: (point: SweepPoint) => Shares): Slice[] =>
  points.flatMap((point) =>
    Object.entries(gathered(of(point))).map(([bound, share]) => ({ node: label(point.node), bound, share })),
  );

function stacks(slices: Slice[], nodes: NodeFacts[]): (width: number) => PlotOptions {
  return (width) => ({
    marginLeft: 56,
    marginRight: 58,
    marginBottom: 40,
    x: {
      type: 'band',
      domain: nodes.map(label),
      ticks: ticksOf(nodes, width),
      label: 'process node →',
      padding: 0.18,
    },
    y: { label: '↑ share of the time', tickFormat: '.0%', domain: [0, 1] },
    color: { domain: bounds.map(([name]) => name), range: bounds.map(([, tone]) => tone) },
    marks: [
      barY(slices, {
        x: 'node',
        y: 'share',
        fill: 'bound',
        order: bounds.map(([name]) => name),
        inset: 0.4,
        title: (slice: Slice) => `${slice.node}: ${slice.bound} ${percent(slice.share)}`,
      }),
    ],
  });
}

const training: Fields = {
  model: 'gpt3-175b',
  gpus: 1024,
  tp: 8,
  pp: 8,
  batch: 1024,
  seq: 2048,
  precision: 'bf16',
  recompute: 'selective',
};
const serving: Fields = { model: 'llama2-13b', tp: 1, batch: 8, input: 1024, output: 256, precision: 'bf16' };

const Legend = (): JSX.Element => (
  <>
    {bounds.map(([name, tone, words]) => (
      <span class="legend" key={name}>
        <i class="key" style={{ background: tone }} /> {words}
      </span>
    ))}
  </>
);

interface BoundsProps {
  what: string;
  title: string;
  dram: string;
  mine: SweepPoint[];
  nodes: NodeFacts[];
  shares: Parameters<typeof slicesOf>[1];
  of: readonly unknown[];
}

/** Which resource a node’s devices wait for. */
function Bounds({ what, title, dram, mine, nodes, shares, of }: BoundsProps): JSX.Element {
  const slices = slicesOf(mine, shares);
  return (
    <Figure
      name={`tech-${what}-bounds`}
      title={`What bounds ${title}, with ${dram.toUpperCase()}`}
      note={<Legend />}
      rows={() => slices.map((slice) => ({ ...slice }))}
    >
      <PlotBox draw={stacks(slices, nodes)} of={of} height={240} label={`bottlenecks of ${what} by node`} />
    </Figure>
  );
}

export function NodeCurves({
  choice,
  nodes,
  drams,
}: {
  choice: Chosen;
  nodes: NodeFacts[];
  drams: string[];
}): JSX.Element {
  const workloads = useMemo<Workloads>(
    () => ({
      train: { ...training, model: params.value['train_model'] ?? 'gpt3-175b' },
      infer: { ...serving, model: params.value['infer_model'] ?? 'llama2-13b' },
    }),
    [params.value['train_model'], params.value['infer_model']],
  );
  const { points, problems, done } = useSweep(nodes, drams, choice, workloads);
  const mine = points.filter((point) => point.dram === choice.dram);
  const throughput = (point: SweepPoint): number => point.train.tokens_per_second_per_gpu;
  const tokenTime = (point: SweepPoint): number => point.infer.tpot_seconds * 1e3;
  const table = () =>
    points.map((point) => ({
      node: point.node.name,
      year: point.node.year,
      dram: point.dram,
      bf16_flops: point.device.matrix['bf16'],
      memory_bytes_per_second: point.device.memory.bandwidth,
      tokens_per_second_per_gpu: throughput(point),
      tpot_seconds: point.infer.tpot_seconds,
      ...Object.fromEntries(Object.entries(point.trainShares).map(([name, share]) => [`train_${name}`, share])),
    }));
  const of = [points, choice.dram, choice.node];
  return (
    <section class={done ? '' : 'stale'} data-curves={done}>
      <h2>What a node buys</h2>
      <Problems of={problems} />
      <div class="pair">
        <Figure
          name="tech-training"
          title={`Training ${String(workloads.train['model'])}`}
          note={`Tokens a second a GPU, on ${grouped(Number(training['gpus']))} GPUs, tp 8, pp 8; a line for each memory.`}
          rows={table}
        >
          <PlotBox
            draw={curves(points, nodes, choice, throughput, '↑ tokens a second a GPU')}
            of={of}
            height={curveHeight}
            label="training throughput by node"
          />
        </Figure>
        <Figure
          name="tech-inference"
          title={`Serving ${String(workloads.infer['model'])}`}
          note="Time of an output token in ms, batch 8 on one GPU; a line for each memory."
          rows={table}
        >
          <PlotBox
            draw={curves(points, nodes, choice, tokenTime, '↑ ms a token')}
            of={of}
            height={curveHeight}
            label="time of a token by node"
          />
        </Figure>
        <Bounds
          what="training"
          title="training"
          shares={(p) => p.trainShares}
          {...{ mine, nodes, of, dram: choice.dram }}
        />
        <Bounds
          what="inference"
          title="a token"
          shares={(p) => p.inferShares}
          {...{ mine, nodes, of, dram: choice.dram }}
        />
      </div>
    </section>
  );
}
