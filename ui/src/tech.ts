// SPDX-License-Identifier: Apache-2.0
// Generated devices as systems that can be trained and served on, and the sweep over process nodes.
import { post } from './api';
import type { Answer, DeviceFacts, Fields, InferAnswer, Operator, TechAnswer, TrainAnswer } from './types';

/** A part of which some numbers are known within bounds only. */
export interface Ranged {
  ranges?: Record<string, unknown>;
}

export interface LinkFacts extends Ranged {
  name: string;
  title: string;
  reach: string;
  year: number;
  bandwidth: number;
  latency: number;
  efficiency: number;
  reduces_in_network: boolean;
}

export interface NodeFacts extends Ranged {
  name: string;
  process: string;
  year: number;
  confidence: string;
}

/** A device, and the system of eight a node that the program makes of it: requests give it as it came. */
export async function generated(fields: Fields, signal?: AbortSignal): Promise<{ answer: TechAnswer; system: Fields }> {
  const answer = await post<TechAnswer>('/tech', { ...fields, system: true }, signal);
  return { answer, system: answer.system as Fields };
}

export const systemName = (answer: TechAnswer): string => `${answer.device.name}-system`;

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
  workloads: Workloads,
  signal: AbortSignal,
): Promise<SweepPoint> {
  const { answer, system } = await generated({ ...technology, node: node.name, dram }, signal);
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
