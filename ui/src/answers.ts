// SPDX-License-Identifier: Apache-2.0
// What the API answers, in SI base units. Written by sextant-manual from the answers
// themselves: after a change, copy build/ui/answers.ts here.

export interface CollectiveAnswer {
  system: string;
  collective: string;
  library: string;
  gpus: number;
  gpus_per_node: number;
  bytes: number;
  seconds: number;
  start_seconds: number;
  latency_seconds: number;
  transfer_seconds: number;
  algorithm: string;
  protocol: string;
  bus_bytes_per_second: number;
  bound: string;
}

export interface CompareAnswer {
  answers: InferAnswer[];
  differences: Difference[];
}

export interface CorePreset {
  name: string;
  node: string;
  area_m2: number;
  clock_hz: number;
  confidence: string;
}

export interface CurvePoint {
  batch: number;
  ttft_seconds: number;
  tpot_seconds: number;
  latency_seconds: number;
  output_tokens_per_second: number;
  output_tokens_per_second_per_gpu: number;
  decode_step_seconds: number;
  active_requests: number;
  total_bytes: number;
  fits: boolean;
  pareto: boolean;
}

export interface DeviceFacts {
  name: string;
  vendor: string;
  architecture: string;
  notes: string;
  cores: number;
  clock: number;
  max_clock: number;
  matrix_clock: number;
  matrix: DeviceFactsMatrix;
  vector: DeviceFactsVector;
  shared: DeviceFactsShared;
  l2: DeviceFactsL2;
  memory: DeviceFactsMemory;
  power: DeviceFactsPower;
  die: DeviceFactsDie;
  mechanism: DeviceFactsMechanism;
  provenance: DeviceFactsProvenance;
}

export interface DeviceFactsDie {
  process: string;
  area: number;
  transistors: number;
}

export interface DeviceFactsL2 {
  capacity: number;
  per_clock: number;
}

export interface DeviceFactsMatrix {
  fp32: number;
  tf32: number;
  fp16: number;
  bf16: number;
  fp8: number;
  int8: number;
  fp6: number;
  fp4: number;
  int4: number;
}

export interface DeviceFactsMechanism {
  asynchronous: boolean;
  start_cycles: number;
  memory_latency: number;
  memory_efficiency: number;
  matrix_efficiency: number;
  matrix_efficiency_8bit: number;
  tile_cycles: number;
  drain_cycles: number;
  feed: number;
  split_cycles: number;
  tail: number;
}

export interface DeviceFactsMemory {
  kind: string;
  capacity: number;
  bandwidth: number;
}

export interface DeviceFactsPower {
  limit: number;
  idle: number;
  matrix_fp16: number;
  memory: number;
}

export interface DeviceFactsProvenance {
  method: string;
  data: string;
  cases: number;
  fit_error: number;
  left_out_error: number;
}

export interface DeviceFactsShared {
  capacity: number;
  per_clock: number;
}

export interface DeviceFactsVector {
  fp32: number;
  special_per_clock: number;
}

export interface DevicePreset {
  name: string;
  architecture: string;
  cores: number;
  peak_16bit_flops_per_second: number;
  memory_bytes: number;
  memory_bytes_per_second: number;
  l2_bytes: number;
  power_watts: number;
  fitted_cases: number;
}

export interface Difference {
  from: number;
  to: number;
  metric: string;
  ratio: number;
  factors: Factor[];
}

export interface DramPreset {
  name: string;
  kind: string;
  bytes_per_second: number;
  capacity_bytes: number;
  joules_per_byte: number;
  confidence: string;
}

export interface Energy {
  compute_joules: number;
  memory_joules: number;
  link_joules: number;
  idle_joules: number;
  total_joules: number;
  joules_per_token: number;
}

export interface FabricFacts {
  name: string;
  reach: number;
  bytes_per_second: number;
}

export interface Factor {
  name: string;
  ratio: number;
  share: number;
}

export interface Found {
  strategy: Strategy;
  summary: string;
  prediction: FoundPrediction;
  serving?: Serving;
  instances?: number;
}

export interface FoundPrediction {
  gpus: number;
  step_seconds?: number;
  tokens_per_second?: number;
  tokens_per_second_per_gpu?: number;
  model_tflops_per_gpu?: number;
  mfu?: number;
  hfu?: number;
  forward_backward_seconds?: number;
  optimizer_seconds?: number;
  memory: Memory;
  breakdown: Part;
  total_output_tokens_per_second?: number;
  ttft_seconds?: number;
  tpot_seconds?: number;
  latency_seconds?: number;
  output_tokens_per_second?: number;
  output_tokens_per_second_per_gpu?: number;
  decode_step_seconds?: number;
  active_requests?: number;
}

export interface InferAnswer {
  model: string;
  system: string;
  runtime: string;
  gpus: number;
  batch: number;
  input: number;
  output: number;
  ttft_seconds: number;
  tpot_seconds: number;
  latency_seconds: number;
  output_tokens_per_second: number;
  output_tokens_per_second_per_gpu: number;
  decode_step_seconds: number;
  active_requests: number;
  memory: Memory;
  breakdown: Part;
  prefill: PassCost;
  decode: PassCost;
  serving: Serving;
  strategy: Strategy;
  active_parameters: number;
  kv_cache_bytes_per_token: number;
  energy: Energy;
  would_fit?: InferFit[];
  curve?: CurvePoint[];
  sensitivity?: Sensitivity[];
  sensitivity_summary?: string;
  choices?: Record<string, number[]>;
  nearest_cases?: NearestCase[];
  passes?: Pass[];
  assumptions: string[];
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

export interface KernelAnswer {
  device: string;
  seconds: number;
  flops: number;
  tflops: number;
  bytes: KernelBytes;
  bound: string;
  busy_seconds: Record<string, number>;
  clock_hz: number;
  power_watts: number;
  tile?: Tile;
  assumptions: string[];
}

export interface KernelBytes {
  dram: number;
  l2: number;
  shared: number;
}

export interface LinkPreset {
  name: string;
  reach: string;
  bytes_per_second: number;
  latency_seconds: number;
  joules_per_byte: number;
  confidence: string;
}

export interface Memory {
  weights_bytes: number;
  gradients_bytes?: number;
  optimizer_bytes?: number;
  activation_bytes: number;
  other_bytes: number;
  total_bytes: number;
  capacity_bytes: number;
  fits: boolean;
  stage?: number;
  activation_bytes_after_forward?: number;
  peak_bytes_forward_backward?: number;
  kv_cache_bytes?: number;
  max_batch?: number;
  kv_cache_bytes_per_token?: number;
}

export interface ModelPreset {
  name: string;
  family: string;
  parameters: number;
  active_parameters: number;
  layers: number;
  hidden: number;
  heads: number;
  kv_heads: number;
  vocab: number;
  experts: number;
  max_context: number;
}

export interface NearestCase {
  group: string;
  cases: number;
  median_ape: number;
  mape: number;
  device: boolean;
  runtime: boolean;
}

export interface NodePreset {
  name: string;
  process: string;
  logic: number;
  sram: number;
  analog: number;
  power: number;
  speed: number;
  wafer_dollars: number;
  confidence: string;
}

export interface Operator {
  part: string;
  name: string;
  pass: string;
  shape: string;
  runs: number;
  seconds: number;
  share: number;
  flops: number;
  dram_bytes: number;
  l2_bytes: number;
  shared_bytes: number;
  message_bytes: number;
  exposed_seconds: number;
  intensity?: number;
  bound: string;
}

export interface OpsAnswer {
  title: string;
  seconds: number;
  precision: string;
  dram_ridge: number;
  l2_ridge: number;
  operators: Operator[];
  assumptions: string[];
}

export interface Part {
  label: string;
  seconds: number;
  share: number;
  parts: Part[];
}

export interface Pass {
  title: string;
  seconds: number;
  precision: string;
  dram_ridge: number;
  l2_ridge: number;
  operators: Operator[];
}

export interface PassCost {
  seconds: number;
  parts: Record<string, number>;
  flops: number;
  dram_bytes: number;
  clock_hz: number;
  power_watts: number;
}

export interface Presets {
  devices: DevicePreset[];
  systems: SystemPreset[];
  models: ModelPreset[];
  runtimes: RuntimePreset[];
  nodes: NodePreset[];
  drams: DramPreset[];
  links: LinkPreset[];
  cores: CorePreset[];
}

export interface RuntimePreset {
  name: string;
  attention: string;
  graph: boolean;
  trains: boolean;
  serves: boolean;
  notes: string;
}

export interface Sample {
  step_seconds: number;
  total_bytes: number;
  gpus: number;
  summary: string;
}

export interface SearchAnswer {
  model: string;
  system: string;
  runtime: string;
  gpus: number;
  kind: string;
  objective: string;
  evaluated: number;
  feasible: number;
  stopped: boolean;
  seconds: number;
  evaluations_per_second: number;
  batch?: number;
  seq?: number;
  points?: number;
  best: Found[];
  pareto: Found[];
  usual?: Found;
  sample?: Sample[];
  reasons: string[];
  rejected: Record<string, number>;
  assumptions: string[];
}

export interface Sensitivity {
  parameter: string;
  change: number;
  step_seconds?: number;
  tpot_seconds?: number;
  ttft_seconds?: number;
  latency_seconds?: number;
  output_tokens_per_second?: number;
}

export interface Serving {
  batch: number;
  input: number;
  output: number;
  batching: string;
  chunk: number;
  cache: string;
  speculation: ServingSpeculation;
}

export interface ServingSpeculation {
  tokens: number;
  acceptance: number;
  draft_cost: number;
}

export interface Span {
  stage: number;
  microbatch: number;
  chunk: number;
  kind: string;
  start: number;
  duration: number;
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
  modules: StrategyModules;
  precision: string;
}

export interface StrategyModules {
  norms: boolean;
  activation: boolean;
  mlp: boolean;
  experts: boolean;
  latent: boolean;
}

export interface SystemPreset {
  name: string;
  device: string;
  devices_per_node: number;
  max_devices: number;
  fabrics: FabricFacts[];
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
  design_clock_hertz: number;
  natural_power_watts: number;
  edge_used_m: number;
  edge_usable_m: number;
  yield: number;
  die_cost_dollars: number;
  memory_cost_dollars: number;
  package_cost_dollars: number;
  assumptions: string[];
}

export interface Tile {
  m: number;
  n: number;
  split: number;
  waves: number;
}

export interface Timeline {
  stages: number;
  seconds: number;
  spans: Span[];
  perfetto: boolean;
}

export interface TrainAnswer {
  model: string;
  system: string;
  runtime: string;
  gpus: number;
  batch: number;
  seq: number;
  step_seconds: number;
  tokens_per_second: number;
  tokens_per_second_per_gpu: number;
  model_tflops_per_gpu: number;
  mfu: number;
  hfu: number;
  forward_backward_seconds: number;
  optimizer_seconds: number;
  memory: Memory;
  breakdown: Part;
  strategy: Strategy;
  slowest_stage: number;
  clock_hz: number;
  power_watts: number;
  model_flops: number;
  hardware_flops: number;
  energy: Energy;
  would_fit?: TrainFit[];
  operators?: Operator[];
  sensitivity?: Sensitivity[];
  sensitivity_summary?: string;
  timeline?: Timeline;
  choices?: Record<string, number[]>;
  nearest_cases?: NearestCase[];
  assumptions: string[];
}

export interface TrainFit {
  change: string;
  step_seconds: number;
  total_bytes: number;
  strategy: Strategy;
}

export interface ValidateAnswer {
  groups: ValidationGroup[];
  rows: ValidationRow[];
}

export interface ValidationRow {
  id: string;
  group: string;
  device: string;
  metric: string;
  predicted: number;
  measured: number;
  error: number;
  bound: string;
  unsupported?: unknown;
}
