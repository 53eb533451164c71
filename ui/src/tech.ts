// SPDX-License-Identifier: Apache-2.0
// Generated devices as systems that can be trained and served on, and the sweep over process nodes.
import { post, preset } from './api';
import type { Answer, DeviceFacts, Fields, InferAnswer, Json, Operator, TechAnswer, TrainAnswer } from './types';

export interface LinkFacts {
  name: string;
  title: string;
  reach: string;
  year: number;
  bandwidth: number;
  latency: number;
  efficiency: number;
  reduces_in_network: boolean;
}

export interface NodeFacts {
  name: string;
  process: string;
  year: number;
  confidence: string;
}

export interface DramFacts {
  name: string;
  kind: string;
  year: number;
  bandwidth: number;
}

/** Answers are numbers in base units; files, and so requests, have quantities with their units. */
const units: Record<string, string> = {
  clock: 'Hz',
  max_clock: 'Hz',
  matrix_clock: 'Hz',
  'matrix.*': 'FLOP/s',
  'vector.fp32': 'FLOP/s',
  'shared.capacity': 'B',
  'shared.per_clock': 'B',
  'l2.capacity': 'B',
  'l2.per_clock': 'B',
  'memory.capacity': 'B',
  'memory.bandwidth': 'B/s',
  'power.limit': 'W',
  'power.idle': 'W',
  'power.matrix_fp16': 'J/FLOP',
  'power.matrix_fp8': 'J/FLOP',
  'power.matrix_fp4': 'J/FLOP',
  'power.memory': 'J/B',
  'die.area': 'm2',
  'mechanism.memory_latency': 's',
};

function withUnits(value: Json, path: string): Json {
  if (typeof value === 'number') {
    const unit = units[path] ?? units[path.replace(/\.[^.]*$/, '.*')];
    return unit ? `${value} ${unit}` : value;
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withUnits(inner, path === '' ? name : `${path}.${name}`)]),
  );
}

export const systemName = (answer: TechAnswer): string => `${answer.device.name}-system`;

/** Nodes of eight such devices behind one switch, and a network between them. */
export function systemOf(answer: TechAnswer, inside: LinkFacts, between: LinkFacts): Fields {
  const fabric = (link: LinkFacts, bandwidth: number, reach: number, topology: string): Fields => ({
    name: link.title,
    reach,
    bandwidth: `${bandwidth} B/s`,
    efficiency: link.efficiency,
    latency: `${link.latency} s`,
    topology,
    reduces_in_network: link.reduces_in_network,
  });
  return {
    name: systemName(answer),
    devices_per_node: 8,
    max_devices: 32768,
    device: withUnits(answer.device as unknown as Json, ''),
    fabrics: [
      fabric(inside, answer.link_bytes_per_second, 8, 'switched'),
      fabric(between, between.bandwidth, 32768, 'fat-tree'),
    ],
  };
}

export const linkFacts = (name: string): Promise<LinkFacts> => preset('links', name);

/** The links inside a node: those asked for, or those that the program took. */
export function linkOf(answer: TechAnswer, asked: Fields): string {
  const chosen = answer.assumptions.map((line) => /^link (\S+)$/.exec(line)?.[1]).find((name) => name !== undefined);
  return String(asked['link_gen'] ?? chosen ?? 'nvlink4');
}

/** What bounds the time, as shares of it. */
export type Shares = Record<string, number>;

function sharesOf(operators: Operator[], seconds: number): Shares {
  const sums: Shares = {};
  let busy = 0;
  for (const operator of operators) {
    const time = operator.exposed_seconds * operator.runs;
    const bound = operator.message_bytes > 0 ? 'network' : operator.bound;
    sums[bound] = (sums[bound] ?? 0) + time / seconds;
    busy += time;
  }
  sums['waiting'] = Math.max(0, 1 - busy / seconds);
  return sums;
}

export interface SweepPoint {
  node: NodeFacts;
  dram: string;
  device: DeviceFacts;
  train: TrainAnswer;
  infer: InferAnswer;
  trainShares: Shares;
  inferShares: Shares;
}

export interface Workloads {
  train: Fields;
  infer: Fields;
}

/** A device of this node and memory, with the workload of training and of serving on it. */
export async function sweepPoint(
  node: NodeFacts,
  dram: string,
  technology: Fields,
  network: string,
  workloads: Workloads,
  signal: AbortSignal,
): Promise<SweepPoint> {
  const answer = await post<TechAnswer>('/tech', { ...technology, node: node.name, dram }, signal);
  const system = systemOf(answer, await linkFacts(linkOf(answer, technology)), await linkFacts(network));
  const ask = <T extends Answer>(path: string, fields: Fields): Promise<T> =>
    post<T>(path, { ...fields, system, explain: true }, signal);
  const [train, infer] = await Promise.all([
    ask<TrainAnswer>('/train', workloads.train),
    ask<InferAnswer>('/infer', workloads.infer),
  ]);
  const decode =
    infer.passes?.find((pass) => pass.title.startsWith('decode')) ?? infer.passes?.[infer.passes.length - 1];
  return {
    node,
    dram,
    device: answer.device,
    train,
    infer,
    trainShares: sharesOf(train.operators ?? [], train.step_seconds),
    inferShares: decode ? sharesOf(decode.operators, decode.seconds) : {},
  };
}
