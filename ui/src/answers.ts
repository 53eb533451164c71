// SPDX-License-Identifier: Apache-2.0
// What the API answers, in SI base units. Written by sextant-manual from the answers
// themselves: after a change, copy build/ui/answers.ts here.

export type Alike = {
  first: number;
  last: number;
  recommended: number;
  summary: string;
  probability_first_is_faster: number;
};

export type AllocationFacts = {
  objective: string;
  value: number;
  usual_value: number;
  starts: number;
  agreeing: number;
  spread: number;
  evaluations: number;
};

export type Arrangement = {
  order: string;
  one_system: boolean;
  fits: boolean;
  training_budget?: number;
  training_days?: number;
  training_tokens_per_second: number;
  gpus: number;
  watts: number;
  dollars_per_hour?: number;
  spent?: number;
  budget_share?: number;
  dollars?: number;
  megawatt_hours?: number;
  why: string;
  jobs: JobPlaced[];
};

export type BestSoFar = {
  summary: string;
  gap: number;
  gpus: number;
  step_seconds: number;
  tokens_per_second: number;
  mfu: number;
  memory_bytes: number;
};

export type Budget = {
  kind: string;
  amount: number;
  text: string;
  counts: string;
};

export type CapacityAnswer = {
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
  rate: number;
  simulations: number;
  best: ClusterFound[];
  pareto: ClusterFound[];
  reasons: string[];
  rejected: Record<string, number>;
  assumptions: string[];
};

export type ChosenTogether = {
  strategy: Strategy;
  summary: string;
  network: string;
  settled: boolean;
  exact: boolean;
  rounds: number;
  strategies: number;
  combinations: number;
};

export type ClusterFound = {
  strategy: Strategy;
  kv_precision: string;
  summary: string;
  prediction: ClusterPrediction;
};

export type ClusterPrediction = {
  gpus: number;
  devices: number;
  replicas: number;
  decode_replicas: number;
  max_requests: number;
  most_requests_per_second: number;
  headroom: number;
  ttft_p99_seconds: number;
  tpot_p99_seconds: number;
  dollars_per_million_tokens?: number;
};

export type CollectiveAnswer = {
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
  uncertainty: Uncertainty;
};

export type CompareAnswer = {
  answers: InferAnswer[];
  differences: Difference[];
};

export type CorePreset = {
  name: string;
  node: string;
  area_m2: number;
  clock_hz: number;
  confidence: string;
};

export type CurvePoint = {
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
};

export type DeviceFacts = {
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
  tier: DeviceFactsTier;
  power: DeviceFactsPower;
  die: DeviceFactsDie;
  mechanism: DeviceFactsMechanism;
  provenance: DeviceFactsProvenance;
};

export type DeviceFactsDie = {
  process: string;
  area: number;
  transistors: number;
};

export type DeviceFactsL2 = {
  capacity: number;
  per_clock: number;
  dies: number;
};

export type DeviceFactsMatrix = {
  fp32: number;
  tf32: number;
  fp16: number;
  bf16: number;
  fp8: number;
  int8: number;
  fp6: number;
  fp4: number;
  int4: number;
};

export type DeviceFactsMechanism = {
  asynchronous: boolean;
  start_cycles: number;
  dispatch: number;
  memory_latency: number;
  memory_efficiency: number;
  matrix_efficiency: number;
  matrix_efficiency_8bit: number;
  matrix_efficiency_4bit: number;
  vector_efficiency: number;
  tile_cycles: number;
  drain_cycles: number;
  feed: number;
  split_cycles: number;
  tail: number;
  epilogue: number;
  page_reach: number;
  walk_cycles: number;
};

export type DeviceFactsMemory = {
  kind: string;
  capacity: number;
  bandwidth: number;
};

export type DeviceFactsPower = {
  limit: number;
  idle: number;
  matrix_fp16: number;
  matrix_fp8: number;
  matrix_fp4: number;
  memory: number;
};

export type DeviceFactsProvenance = {
  method: string;
  data: string;
  cases: number;
  fit_error: number;
  left_out_error: number;
};

export type DeviceFactsShared = {
  capacity: number;
  per_clock: number;
};

export type DeviceFactsTier = {
  kind: string;
  capacity: number;
  bandwidth: number;
  energy: number;
  latency: number;
  read_only: boolean;
};

export type DeviceFactsVector = {
  fp32: number;
  special_per_clock: number;
};

export type DevicePreset = {
  name: string;
  architecture: string;
  cores: number;
  peak_16bit_flops_per_second: number;
  memory_bytes: number;
  memory_bytes_per_second: number;
  l2_bytes: number;
  power_watts: number;
  fitted_cases: number;
};

export type Difference = {
  from: number;
  to: number;
  metric: string;
  ratio: number;
  ratio_low: number;
  ratio_high: number;
  probability_faster: number;
  factors: Factor[];
};

export type DramPreset = {
  name: string;
  kind: string;
  bytes_per_second: number;
  capacity_bytes: number;
  joules_per_byte: number;
  confidence: string;
};

export type Energy = {
  compute_joules: number;
  memory_joules: number;
  link_joules: number;
  idle_joules: number;
  host_joules: number;
  total_joules: number;
  joules_per_token: number;
  joules_per_token_low: number;
  joules_per_token_high: number;
};

export type FabricFacts = {
  name: string;
  reach: number;
  bytes_per_second: number;
};

export type Factor = {
  name: string;
  ratio: number;
  share: number;
};

export type Found = {
  strategy: Strategy;
  summary: string;
  prediction: FoundPrediction;
  uncertainty: Uncertainty;
  serving?: Serving;
  instances?: number;
};

export type FoundPrediction = {
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
};

export type ImportAnswer = {
  format: string;
  task: string;
  scenario: ImportedScenario;
  toml: string;
  arguments: ImportedArgument[];
  defaults: ImportedDefault[];
  missing: string[];
};

export type ImportedArgument = {
  name: string;
  value: string;
  disposition: string;
  field: string;
  why: string;
  line: number;
};

export type ImportedDefault = {
  field: string;
  value: string;
};

export type ImportedScenario = {
  task: string;
  model?: string;
  system?: string;
  runtime: string;
  gpus?: number;
  batch?: number;
  microbatch?: number;
  zero?: number;
  set?: string[];
};

export type InferAnswer = {
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
  uncertainty: Uncertainty;
  energy: Energy;
  dollars_per_million_tokens?: number;
  dollars_per_million_tokens_low?: number;
  dollars_per_million_tokens_high?: number;
  dollars_per_million_tokens_in_and_out?: number;
  dollars_per_million_tokens_in_and_out_low?: number;
  dollars_per_million_tokens_in_and_out_high?: number;
  would_fit?: InferFit[];
  curve?: CurvePoint[];
  sensitivity?: Sensitivity[];
  sensitivity_summary?: string;
  choices?: Record<string, number[]>;
  nearest_cases?: NearestCase[];
  passes?: Pass[];
  assumptions: string[];
};

export type InferFit = {
  change: string;
  tp: number;
  pp: number;
  precision: string;
  kv_precision: string;
  batch: number;
  latency_seconds: number;
  total_bytes: number;
};

export type JobPlaced = {
  name: string;
  system: string;
  gpus: number;
  bought_gpus: number;
  spent?: number;
  tokens_per_second: number;
  watts: number;
  dollars_per_hour?: number;
  dollars?: number;
  megawatt_hours?: number;
  summary: string;
  strategy: Strategy;
};

export type KernelAnswer = {
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
  uncertainty: Uncertainty;
  assumptions: string[];
};

export type KernelBytes = {
  dram: number;
  l2: number;
  shared: number;
};

export type LatencyShare = {
  share: number;
  ttft_seconds: number;
  tpot_seconds: number;
  latency_seconds: number;
};

export type LinkPreset = {
  name: string;
  reach: string;
  bytes_per_second: number;
  latency_seconds: number;
  joules_per_byte: number;
  confidence: string;
};

export type LoadPoint = {
  seconds: number;
  waiting: number;
  running: number;
  cache_share: number;
};

export type MeasuredCase = {
  id: string;
  group: string;
  kind: string;
  metric: string;
  measured: number;
  request: Record<string, unknown>;
};

export type MeasuredCases = {
  cases: MeasuredCase[];
};

export type Memory = {
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
  first_capacity_bytes?: number;
  second_capacity_bytes?: number;
  second_bytes?: number;
  second_weights_bytes?: number;
  second_cache_bytes?: number;
  max_batch?: number;
  kv_cache_bytes_per_token?: number;
};

export type ModelAnswer = {
  model: string;
  layers: number;
  hidden: number;
  max_context: number;
  seq: number;
  cache_precision: string;
  parameters: number;
  active_parameters: number;
  flops_per_token: number;
  cache_bytes_per_token: number;
  state_bytes: number;
  image_patches: number;
  image_tokens: number;
  image_flops: number;
  stretches: ModelStretch[];
  branches: ModelBranch[];
};

export type ModelBranch = {
  name: string;
  layers: number;
  parameters: number;
  active_parameters: number;
  flops_per_token: number;
  cache_bytes_per_token: number;
  state_bytes: number;
  operators: ModelOperator[];
};

export type ModelOperator = {
  name: string;
  kind: string;
  shape: string;
  parameters: number;
  active_parameters: number;
  flops_per_token: number;
  cache_bytes_per_token: number;
  state_bytes: number;
};

export type ModelPreset = {
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
};

export type ModelStretch = {
  first: number;
  count: number;
  mixer: string;
  mlp: string;
};

export type NearestCase = {
  group: string;
  cases: number;
  median_ape: number;
  mape: number;
  device: boolean;
  runtime: boolean;
};

export type NodePreset = {
  name: string;
  process: string;
  logic: number;
  sram: number;
  analog: number;
  power: number;
  speed: number;
  wafer_dollars: number;
  confidence: string;
};

export type Operator = {
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
  branch: string;
  node: string;
};

export type OpsAnswer = {
  title: string;
  seconds: number;
  precision: string;
  dram_ridge: number;
  l2_ridge: number;
  operators: Operator[];
  uncertainty: Uncertainty;
  assumptions: string[];
};

export type ParetoDesign = {
  time_seconds?: number;
  cost_dollars?: number;
  power_watts?: number;
  node: string;
  dram: string;
  dies: number;
  die_m2: number;
  cores: number;
  l2_bytes: number;
  stacks: number;
  links: number;
  clock_hertz: number;
  limit_watts: number;
  balanced: boolean;
  token_joules?: number;
  area_m2?: number;
};

export type Part = {
  label: string;
  seconds: number;
  share: number;
  parts: Part[];
};

export type Pass = {
  title: string;
  seconds: number;
  precision: string;
  dram_ridge: number;
  l2_ridge: number;
  operators: Operator[];
};

export type PassCost = {
  seconds: number;
  parts: Record<string, number>;
  flops: number;
  dram_bytes: number;
  first_memory_seconds?: number;
  second_memory_seconds?: number;
  clock_hz: number;
  power_watts: number;
};

export type Percentiles = {
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
};

export type PlanAnswer = {
  kind: string;
  model: string;
  seconds: number;
  arrangements: Arrangement[];
  jobs: PlanJob[];
  budget?: Budget;
};

export type PlanJob = {
  name: string;
  days?: number;
  answer: SystemsAnswer;
};

export type Presets = {
  devices: DevicePreset[];
  systems: SystemPreset[];
  models: ModelPreset[];
  runtimes: RuntimePreset[];
  nodes: NodePreset[];
  drams: DramPreset[];
  links: LinkPreset[];
  cores: CorePreset[];
};

export type ProfileAnswer = {
  trace: string;
  device: string;
  measured_seconds: number;
  busy_seconds: number;
  device_seconds: number;
  attributed_share: number;
  attribution: ProfileAttribution;
  attainable_seconds: number;
  idle_seconds: number;
  host_bound_share: number;
  launches: number;
  exposed_communication_seconds: number;
  clock_low_hz: number;
  clock_high_hz: number;
  uncertainty: Uncertainty;
  losses: ProfileLoss[];
  kinds: ProfileKind[];
  operators: ProfileOperator[];
  waits: ProfileWait[];
  steps: ProfileStep[];
  devices: ProfileDevice[];
  pieces?: ProfilePiece[];
  assumptions: string[];
};

export type ProfileAttribution = {
  recorded: number;
  graph: number;
  launch: number;
  nowhere: number;
};

export type ProfileDevice = {
  device: number;
  work_seconds: number;
  seconds: number;
};

export type ProfileKind = {
  kind: string;
  calls: number;
  measured_seconds: number;
  share: number;
  predicted_seconds?: number;
  ratio?: number;
};

export type ProfileLoss = {
  cause: string;
  seconds: number;
  advice: string;
};

export type ProfileOperator = {
  name: string;
  shape: string;
  kind: string;
  calls: number;
  kernels: number;
  measured_seconds: number;
  predicted_seconds?: number;
  ratio?: number;
  bound?: string;
  shapes_from: string;
  kernel: string;
};

export type ProfilePiece = {
  start_seconds: number;
  seconds: number;
  kind: string;
  label: string;
};

export type ProfileStep = {
  name: string;
  seconds: number;
  idle_seconds: number;
};

export type ProfileWait = {
  cause: string;
  seconds: number;
  times: number;
};

export type RatePoint = {
  rate: number;
  requests: number;
  completed: number;
  output_tokens_per_second: number;
  requests_per_second: number;
  goodput_requests_per_second: number;
  saturation: number;
  capacity_requests_per_second: number;
  offered_requests_per_second: number;
  queue_growth_per_second: number;
  seconds: number;
  mean_requests_present: number;
  preemptions: number;
  recomputed_tokens: number;
  prefix_hit_rate: number;
  prefill_share: number;
  decode_share: number;
  mixed_share: number;
  idle_share: number;
  cache_transfer_seconds: number;
  joules_per_token: number;
  ttft_seconds: Percentiles;
  tpot_seconds: Percentiles;
  gap_seconds: Percentiles;
  latency_seconds: Percentiles;
};

export type RlAnswer = {
  model: string;
  system: string;
  runtime: string;
  gpus: number;
  algorithm: string;
  samples: number;
  step_seconds: number;
  tokens_per_second: number;
  tokens_per_second_per_gpu: number;
  longest: string;
  fits: boolean;
  updates: number;
  update_seconds: number;
  update_mfu: number;
  rollout_tokens_per_second: number;
  sync_bytes: number;
  offloaded_bytes: number;
  uncertainty: Uncertainty;
  phases: RlPhase[];
  strategy: Strategy;
  rollout_strategy: Strategy;
  assumptions: string[];
};

export type RlPhase = {
  phase: string;
  seconds: number;
  share: number;
  memory_bytes: number;
  fits: boolean;
  beside: boolean;
};

export type Run = {
  tokens: number;
  steps: number;
  days: number;
  days_low: number;
  days_high: number;
  days_p99: number;
  days_p99_failures: number;
  days_without_failures: number;
  gpu_hours: number;
  dollars: number;
  dollars_low: number;
  dollars_high: number;
  megawatt_hours: number;
  megawatt_hours_low: number;
  megawatt_hours_high: number;
  co2_tonnes: number;
  co2_tonnes_low: number;
  co2_tonnes_high: number;
  goodput: number;
  interruptions: number;
  between_interruptions_seconds: number;
  checkpoint_seconds: number;
  checkpoint_bytes: number;
  checkpoint_interval_seconds: number;
  lost_to_checkpoints_days: number;
  lost_work_days: number;
  lost_to_restarts_days: number;
};

export type RuntimePreset = {
  name: string;
  kernels: string;
  graph: boolean;
  trains: boolean;
  serves: boolean;
  notes: string;
};

export type Sample = {
  step_seconds: number;
  total_bytes: number;
  gpus: number;
  summary: string;
};

export type SearchAnswer = {
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
  skipped?: number;
  proven?: boolean;
  gap?: number;
  best: Found[];
  groups: Alike[];
  measured_instead?: string;
  pareto: Found[];
  usual?: Found;
  sample?: Sample[];
  reasons: string[];
  rejected: Record<string, number>;
  assumptions: string[];
  leanest?: Found;
  nearest?: Found;
};

export type Sensitivity = {
  parameter: string;
  change: number;
  step_seconds?: number;
  tpot_seconds?: number;
  ttft_seconds?: number;
  latency_seconds?: number;
  output_tokens_per_second?: number;
};

export type Serving = {
  batch: number;
  input: number;
  output: number;
  batching: string;
  chunk: number;
  kv_precision: string;
  speculate: number;
  acceptance: number;
  draft: string;
  draft_cost: number;
  images: number;
  placement: string;
  placed: number;
};

export type SlowRequest = {
  request: number;
  input: number;
  output: number;
  latency_seconds: number;
  queued_seconds: number;
  prompt_seconds: number;
  decode_seconds: number;
  preemptions: number;
  waited_for: string;
};

export type SolveObstacle = {
  value: number;
  measured: number;
  reason: string;
};

export type Span = {
  stage: number;
  microbatch: number;
  chunk: number;
  kind: string;
  start: number;
  duration: number;
};

export type SplitPoint = {
  prefill_workers: number;
  decode_workers: number;
  best: boolean;
  requests: number;
  completed: number;
  output_tokens_per_second: number;
  requests_per_second: number;
  goodput_requests_per_second: number;
  saturation: number;
  capacity_requests_per_second: number;
  offered_requests_per_second: number;
  queue_growth_per_second: number;
  seconds: number;
  mean_requests_present: number;
  preemptions: number;
  recomputed_tokens: number;
  prefix_hit_rate: number;
  prefill_share: number;
  decode_share: number;
  mixed_share: number;
  idle_share: number;
  cache_transfer_seconds: number;
  joules_per_token: number;
  ttft_seconds: Percentiles;
  tpot_seconds: Percentiles;
  gap_seconds: Percentiles;
  latency_seconds: Percentiles;
};

export type Strategy = {
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
};

export type StrategyModules = {
  norms: boolean;
  activation: boolean;
  mlp: boolean;
  experts: boolean;
  latent: boolean;
  alternate: boolean;
};

export type SystemFound = {
  rank?: number;
  system: string;
  device: string;
  runtime: string;
  most_gpus: number;
  gpus?: number;
  spent?: number;
  budget_share?: number;
  step_seconds?: number;
  tokens_per_second?: number;
  tokens_per_second_per_gpu?: number;
  tokens_per_dollar?: number;
  tokens_per_joule?: number;
  mfu?: number;
  memory_bytes?: number;
  watts?: number;
  dollars_per_gpu_hour?: number;
  dollars_per_hour?: number;
  run_days?: number;
  run_dollars?: number;
  probability_first_is_better?: number;
  summary?: string;
  strategy?: Strategy;
  stopped: boolean;
  gap?: number;
  told_apart?: boolean;
  unmeasured: Unmeasured[];
  uncertainty?: Uncertainty;
  why: string;
  ttft_seconds?: number;
  tpot_seconds?: number;
  ttft_p99_seconds?: number;
  tpot_p99_seconds?: number;
  most_requests_per_second?: number;
  headroom?: number;
};

export type SystemPreset = {
  name: string;
  device: string;
  devices_per_node: number;
  max_devices: number;
  fabrics: FabricFacts[];
};

export type SystemsAnswer = {
  kind: string;
  objective: string;
  budget: Budget;
  seconds: number;
  systems: SystemFound[];
  assumptions: string[];
};

export type TechAnswer = {
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
  binds: string;
  asked_watts: number;
  streaming_watts: number;
  streaming_clock_hertz: number;
  streamed_bytes_per_second: number;
  edge_used_m: number;
  edge_usable_m: number;
  yield: number;
  die_cost_dollars: number;
  memory_cost_dollars: number;
  package_cost_dollars: number;
  board_cost_dollars: number;
  package_yield: number;
  cost_dollars: number;
  system?: Record<string, unknown>;
  network_bytes_per_second?: number;
  warnings: string[];
  assumptions: string[];
  allocation?: AllocationFacts;
  time_seconds?: number;
  uncertainty?: Uncertainty;
  technology_uncertainty?: TechnologyUncertainty;
  pareto?: TechnologyFront;
  together?: ChosenTogether;
  solve?: TechnologySolution;
};

export type TechnologyDoubt = {
  what: string;
  correlation: number;
  share: number;
};

export type TechnologyFront = {
  respects: string[];
  evaluations: number;
  built: number;
  designs: ParetoDesign[];
};

export type TechnologyQuantiles = {
  name: string;
  value: number;
  p10: number;
  p50: number;
  p90: number;
};

export type TechnologySolution = {
  field: string;
  until: string;
  held: boolean;
  reached: boolean;
  now: number;
  now_measured: number;
  value: number;
  measured: number;
  shares: Record<string, number>;
  obstacles: SolveObstacle[];
  evaluations: number;
};

export type TechnologyUncertainty = {
  samples: number;
  built: number;
  seed: number;
  quantiles: TechnologyQuantiles[];
  causes: TechnologyDoubt[];
  largest: Record<string, number>;
  reason?: string;
};

export type Tile = {
  m: number;
  n: number;
  split: number;
  waves: number;
};

export type Timeline = {
  stages: number;
  microbatches: number;
  too_large?: boolean;
  seconds: number;
  spans: Span[];
  perfetto: boolean;
};

export type TrafficAnswer = {
  model: string;
  system: string;
  runtime: string;
  gpus: number;
  requests: number;
  completed: number;
  output_tokens_per_second: number;
  requests_per_second: number;
  goodput_requests_per_second: number;
  saturation: number;
  capacity_requests_per_second: number;
  offered_requests_per_second: number;
  queue_growth_per_second: number;
  seconds: number;
  mean_requests_present: number;
  preemptions: number;
  recomputed_tokens: number;
  prefix_hit_rate: number;
  prefill_share: number;
  decode_share: number;
  mixed_share: number;
  idle_share: number;
  cache_transfer_seconds: number;
  joules_per_token: number;
  ttft_seconds: Percentiles;
  tpot_seconds: Percentiles;
  gap_seconds: Percentiles;
  latency_seconds: Percentiles;
  uncertainty: Uncertainty;
  first_token_uncertainty: Uncertainty;
  output_tokens_per_second_low: number;
  output_tokens_per_second_high: number;
  capacity_requests_per_second_low: number;
  capacity_requests_per_second_high: number;
  joules_per_token_low: number;
  joules_per_token_high: number;
  dollars_per_million_tokens: number;
  dollars_per_million_tokens_low: number;
  dollars_per_million_tokens_high: number;
  dollars_per_million_tokens_in_and_out: number;
  dollars_per_million_tokens_in_and_out_low: number;
  dollars_per_million_tokens_in_and_out_high: number;
  simulated_requests_per_second: number;
  memory: TrafficMemory;
  slowest: SlowRequest[];
  curve?: RatePoint[];
  knee_requests_per_second?: number;
  splits?: SplitPoint[];
  load?: LoadPoint[];
  distribution?: LatencyShare[];
  warnings: string[];
  assumptions: string[];
};

export type TrafficMemory = {
  weights_bytes: number;
  kv_cache_bytes: number;
  activation_bytes: number;
  other_bytes: number;
  total_bytes: number;
  capacity_bytes: number;
  first_capacity_bytes?: number;
  second_capacity_bytes?: number;
  second_bytes?: number;
  second_weights_bytes?: number;
  second_cache_bytes?: number;
  fits: boolean;
  cache_tokens: number;
};

export type TrainAnswer = {
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
  training: Training;
  parameters: number;
  trained_parameters: number;
  slowest_stage: number;
  clock_hz: number;
  power_watts: number;
  model_flops: number;
  hardware_flops: number;
  masked_share: number;
  predict_ahead: number;
  uncertainty: Uncertainty;
  energy: Energy;
  would_fit?: TrainFit[];
  run?: Run;
  operators?: Operator[];
  sensitivity?: Sensitivity[];
  sensitivity_summary?: string;
  timeline?: Timeline;
  choices?: Record<string, number[]>;
  nearest_cases?: NearestCase[];
  assumptions: string[];
};

export type TrainFit = {
  change: string;
  step_seconds: number;
  total_bytes: number;
  strategy: Strategy;
};

export type Training = {
  batch: number;
  seq: number;
  optimizer: string;
  lora_rank: number;
  lora_targets: TrainingLoraTargets;
  adapter: string;
  frozen: TrainingFrozen;
  images: number;
  predict_ahead: number;
};

export type TrainingFrozen = {
  embedding: boolean;
  attention: boolean;
  mlp: boolean;
  experts: boolean;
  norms: boolean;
  head: boolean;
  vision: boolean;
};

export type TrainingLoraTargets = {
  qkv: boolean;
  output: boolean;
  up: boolean;
  down: boolean;
  experts: boolean;
};

export type Uncertainty = {
  level: number;
  low: number;
  high: number;
  basis: string;
  cases: number;
  unmeasured: Unmeasured[];
};

export type Unmeasured = {
  axis: string;
  sentence: string;
};

export type ValidateAnswer = {
  groups: ValidationGroup[];
  rows: ValidationRow[];
};

export type ValidationGroup = {
  name: string;
  cases: number;
  mape: number;
  median_ape: number;
  p90_ape: number;
  bias: number;
  unsupported: number;
};

export type ValidationRow = {
  id: string;
  group: string;
  device: string;
  metric: string;
  predicted: number;
  measured: number;
  error: number;
  bound: string;
  low?: number;
  high?: number;
  alike?: string;
  choices?: string;
  unsupported?: string;
};
