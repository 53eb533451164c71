// SPDX-License-Identifier: Apache-2.0
// What the API answers (answers.ts, written by the program), and what the page makes of it. SI base units throughout.
import type {
  BestSoFar,
  CompareAnswer as Compared,
  DeviceFacts,
  InferAnswer,
  SearchAnswer,
  TrainAnswer,
} from './answers';

export type * from './answers';

export type Choices = Partial<Record<string, number[]>>;

export type Answer = TrainAnswer | InferAnswer;

export const isTraining = (answer: Answer): answer is TrainAnswer => 'step_seconds' in answer;

/** The time that scenarios are compared by. */
export const mainSeconds = (answer: Answer): number =>
  isTraining(answer) ? answer.step_seconds : answer.latency_seconds;

/** The interval of the headline, as factors of it: what follows from that time in proportion has the same. */
export const spreadOf = (answer: Answer): { low: number; high: number } => ({
  low: answer.uncertainty.low / mainSeconds(answer),
  high: answer.uncertainty.high / mainSeconds(answer),
});

export interface CompareAnswer extends Omit<Compared, 'answers'> {
  answers: Answer[];
}

/** A system preset in full, as far as the page looks. */
export interface SystemFacts {
  name: string;
  devices_per_node: number;
  max_devices: number;
  device: DeviceFacts;
  fabrics: { name: string; bandwidth: number }[];
}

export interface Job {
  id: string;
  state: 'running' | 'done' | 'cancelled' | 'failed';
  progress: { done: number; total: number; rate: number; seconds_left: number; best?: BestSoFar };
  result?: SearchAnswer;
  errors?: Problem[];
}

export interface Problem {
  field: string;
  message: string;
  hint?: string;
  /** Nobody answered; the question may be asked again. */
  unreachable?: boolean;
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json };
