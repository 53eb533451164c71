// SPDX-License-Identifier: Apache-2.0
// What the API answers, as far as the page reads it. SI base units throughout.

export interface Part {
  label: string;
  seconds: number;
  share: number;
  parts: Part[];
}

export interface Strategy {
  tp: number;
  pp: number;
  dp: number;
  cp: number;
  ep: number;
  etp: number;
  microbatch: number;
  interleave: number;
  zero: number;
  shard: number;
  offload: boolean;
  context: string;
  order: string;
  sp: boolean;
  schedule: string;
  recompute: string;
  recompute_layers: number;
  modules: Record<string, boolean>;
  precision: string;
}

export interface Memory {
  weights_bytes: number;
  activation_bytes: number;
  other_bytes: number;
  total_bytes: number;
  capacity_bytes: number;
  fits: boolean;
  gradients_bytes?: number;
  optimizer_bytes?: number;
  kv_cache_bytes?: number;
  kv_cache_bytes_per_token?: number;
  max_batch?: number;
  stage?: number;
}

export interface Energy {
  compute_joules: number;
  memory_joules: number;
  link_joules: number;
  idle_joules: number;
  total_joules: number;
  joules_per_token: number;
}

export interface Operator {
  part: string;
  name: string;
  pass: string;
  shape: string;
  runs: number;
  seconds: number;
  exposed_seconds: number;
  share?: number;
  flops: number;
  dram_bytes: number;
  l2_bytes?: number;
  shared_bytes?: number;
  message_bytes: number;
  intensity?: number;
  bound: string;
}

export interface Sensitivity {
  parameter: string;
  change: number;
  step_seconds?: number;
  latency_seconds?: number;
  tpot_seconds?: number;
  ttft_seconds?: number;
}

export interface NearestCase {
  group: string;
  cases: number;
  median_ape: number;
  mape: number;
  /** Whether the cases were measured on this device, and with this runtime. */
  device?: boolean;
  runtime?: boolean;
}

export type Choices = Partial<Record<string, number[]>>;

interface Prediction {
  model: string;
  system: string;
  runtime: string;
  gpus: number;
  memory: Memory;
  breakdown: Part;
  strategy: Strategy;
  energy?: Energy;
  assumptions?: string[];
  sensitivity?: Sensitivity[];
  sensitivity_summary?: string;
  choices?: Choices;
  nearest_cases?: NearestCase[];
}

export interface TrainFit {
  change: string;
  step_seconds: number;
  total_bytes: number;
  strategy: Strategy;
}

export interface Span {
  stage: number;
  microbatch: number;
  chunk: number;
  kind: string;
  start: number;
  duration: number;
}

export interface Timeline {
  too_large?: boolean;
  stages?: number;
  seconds?: number;
  spans?: Span[];
}

export interface TrainAnswer extends Prediction {
  batch: number;
  seq: number;
  step_seconds: number;
  tokens_per_second: number;
  tokens_per_second_per_gpu: number;
  model_tflops_per_gpu: number;
  mfu: number;
  hfu: number;
  power_watts?: number;
  clock_hz?: number;
  operators?: Operator[];
  timeline?: Timeline;
  would_fit?: TrainFit[];
}

export interface InferFit {
  change: string;
  tp: number;
  pp: number;
  precision: string;
  kv_precision: string;
  batch: number;
  latency_seconds: number;
  total_bytes: number;
}

export interface CurvePoint {
  batch: number;
  ttft_seconds: number;
  tpot_seconds: number;
  latency_seconds: number;
  output_tokens_per_second: number;
  output_tokens_per_second_per_gpu: number;
  total_bytes: number;
  fits: boolean;
  pareto: boolean;
}

export interface Pass {
  title: string;
  seconds: number;
  operators: Operator[];
}

export interface InferAnswer extends Prediction {
  ttft_seconds: number;
  tpot_seconds: number;
  latency_seconds: number;
  output_tokens_per_second: number;
  output_tokens_per_second_per_gpu: number;
  active_requests: number;
  serving: { batch: number; input: number; output: number; batching: string };
  decode?: { power_watts: number; clock_hz: number };
  curve?: CurvePoint[];
  passes?: Pass[];
  would_fit?: InferFit[];
}

export type Answer = TrainAnswer | InferAnswer;

export const isTraining = (answer: Answer): answer is TrainAnswer => 'step_seconds' in answer;

/** The time that scenarios are compared by. */
export const mainSeconds = (answer: Answer): number =>
  isTraining(answer) ? answer.step_seconds : answer.latency_seconds;

export interface OpsAnswer {
  title: string;
  seconds: number;
  precision: string;
  dram_ridge: number;
  l2_ridge?: number;
  operators: Operator[];
  assumptions: string[];
}

export interface Factor {
  name: string;
  ratio: number;
  share: number;
}

export interface Difference {
  from: number;
  to: number;
  ratio: number;
  /** What the ratio is of, such as seconds_per_token. */
  metric?: string;
  factors: Factor[];
}

export interface CompareAnswer {
  answers: Answer[];
  differences: Difference[];
}

export interface DeviceFacts {
  name: string;
  cores: number;
  clock: number;
  matrix: Record<string, number>;
  shared?: { per_clock: number };
  l2: { capacity: number; per_clock: number };
  memory: { kind: string; capacity: number; bandwidth: number };
  power: { limit: number };
  [more: string]: unknown;
}

export interface TechAnswer {
  device: DeviceFacts;
  area_m2: Record<string, number>;
  power_watts: Record<string, number>;
  cores_on_die: number;
  stacks: number;
  links: number;
  link_bytes_per_second: number;
  sustained_flops_per_second: number;
  sustained_clock_hertz: number;
  yield: number;
  die_cost_dollars: number;
  memory_cost_dollars: number;
  package_cost_dollars: number;
  assumptions: string[];
}

export interface Found {
  strategy: Partial<Strategy>;
  /** In a line, as the program prints it. */
  summary?: string;
  prediction: {
    gpus?: number;
    step_seconds?: number;
    tokens_per_second_per_gpu?: number;
    mfu?: number;
    ttft_seconds?: number;
    tpot_seconds?: number;
    output_tokens_per_second_per_gpu?: number;
    memory: { total_bytes: number; capacity_bytes?: number };
  };
  /** Of serving: how many requests at a time, on how many copies. */
  serving?: { batch: number; batching: string; cache: string };
  instances?: number;
}

/** A point of the cloud behind the front. */
export interface Sample {
  step_seconds: number;
  total_bytes: number;
  summary?: string;
}

export interface SearchAnswer {
  kind?: 'train' | 'infer';
  evaluated: number;
  feasible: number;
  seconds: number;
  evaluations_per_second: number;
  best: Found[];
  pareto: Found[];
  sample?: Sample[];
  usual?: Found;
  reasons?: string[];
  rejected: Record<string, number>;
  assumptions?: string[];
}

export interface Job {
  id: string;
  state: 'running' | 'done' | 'cancelled' | 'failed';
  progress: { done: number; total: number; rate: number; seconds_left: number };
  result?: SearchAnswer;
  errors?: Problem[];
}

export interface ValidationGroup {
  name: string;
  cases: number;
  mape: number;
  median_ape: number;
  p90_ape: number;
  bias: number;
  unsupported: number;
}

export interface ValidationRow {
  id: string;
  group: string;
  predicted: number;
  measured: number;
  error: number;
  metric: string;
  bound?: string;
}

export interface ValidateAnswer {
  groups: ValidationGroup[];
  rows: ValidationRow[];
}

export interface Preset {
  name: string;
  [column: string]: unknown;
}

export interface SystemPreset extends Preset {
  device?: string;
  devices_per_node?: number;
  max_devices?: number;
}

export interface RuntimePreset extends Preset {
  trains?: boolean;
  serves?: boolean;
  notes?: string;
}

export interface ModelPreset extends Preset {
  parameters?: number | string;
  layers?: number;
  hidden?: number;
  experts?: number;
}

export interface Presets {
  devices: Preset[];
  systems: SystemPreset[];
  models: ModelPreset[];
  runtimes: RuntimePreset[];
  nodes: Preset[];
  drams: Preset[];
  links: Preset[];
  cores: Preset[];
}

export interface Problem {
  field: string;
  message: string;
  hint?: string;
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json };
