// SPDX-License-Identifier: Apache-2.0
// What the labels of answers mean, and the tone each is drawn in.

import { partsOn } from './used';

export type Tone = 'work' | 'work-2' | 'link' | 'link-2' | 'wait' | 'rest' | 'rest-2';

export const fill = (tone: Tone): string => (tone === 'wait' ? 'url(#hatch)' : `var(--${tone})`);

const tones: Record<string, Tone> = {
  compute: 'work',
  forward: 'work',
  backward: 'work',
  recompute: 'work-2',
  communication: 'link',
  tensor: 'link',
  pipeline: 'link',
  gradients: 'link',
  parameters: 'link',
  context: 'link',
  expert: 'link',
  waiting: 'wait',
  bubble: 'wait',
  host: 'wait',
  spread: 'wait',
  optimizer: 'rest',
  offload: 'rest',
  vision: 'rest',
  prefill: 'work-2',
  decode: 'work',
  draft: 'work-2',
  multiply: 'work',
  attention: 'work-2',
  experts: 'work',
  stream: 'rest',
  head: 'rest-2',
  exchange: 'link',
};

export const toneOf = (label: string, fallback: Tone = 'rest'): Tone => tones[label] ?? fallback;

/** Words that people ask about wherever they stand. */
const terms: Record<string, string> = {
  'step time': 'one step of the optimizer: forward, backward, communication, update',
  'tokens/s': 'tokens trained on a second, by all GPUs together',
  'output tokens/s': 'tokens generated a second, for all requests together',
  MFU: 'model FLOP utilization: the arithmetic the model needs, over what the devices could do in that time',
  request: 'from its prompt to the last token of its answer',
  TTFT: 'time to first token: from a request to the first token of its answer',
  TPOT: 'time per output token: between one token of an answer and the next, on average',
};

const meanings: Record<string, string> = {
  compute: 'kernels on the device',
  forward: 'kernels of the forward pass',
  backward: 'kernels of the backward pass',
  recompute: 'activations computed a second time',
  communication: 'collectives that nothing hides',
  tensor: 'tensor-parallel collectives',
  pipeline: 'transfers from stage to stage',
  gradients: 'gradients summed over replicas',
  parameters: 'parameters gathered over replicas',
  context: 'keys and values passed between context ranks',
  expert: 'tokens sent to their experts and back',
  waiting: 'the device stands still',
  bubble: 'waiting for the first and last microbatch',
  host: 'the device waits for its host',
  spread: 'waiting for the slowest device',
  optimizer: 'optimizer step, gradient norm',
  offload: 'states moved to and from the host',
  vision: 'the tower that makes tokens of images',
  prefill: 'the prompt, until the first token',
  decode: 'the tokens after it, step by step',
  draft: 'what drafts reads the prompt, or proposes tokens for the model to check',
  multiply: 'matrix multiplies with the weights',
  attention: 'attention over the cache or the prompt',
  experts: 'the mixture of experts',
  stream: 'norms, activations, position encoding',
  head: 'output head and sampling',
  exchange: 'tokens sent to their experts and back',
};

export const meaningOf = (label: string): string => meanings[label] ?? '';
export const termOf = (word: string): string => terms[word] ?? '';

const resources: Record<string, string> = {
  compute: 'matrix rate',
  dram_bandwidth: 'DRAM bandwidth',
  l2_bandwidth: 'L2 bandwidth',
  launch: 'launch time',
  network_bandwidth: 'network bandwidth',
  network_latency: 'network latency',
  power_limit: 'power limit',
  vector: 'vector rate',
  shared_bandwidth: 'shared-memory bandwidth',
};

/** `dram_bandwidth` → DRAM bandwidth. */
export const resourceName = (parameter: string): string => resources[parameter] ?? parameter.replace(/_/g, ' ');

/** Strategy in a line, ones left out, as the program prints it. */
export function strategyLine(strategy: object): string {
  const s = strategy as Partial<Record<string, unknown>>;
  const words: string[] = [];
  const degree = (name: string): void => {
    const value = s[name];
    if (typeof value === 'number' && value > 1) words.push(`${name} ${value}`);
  };
  degree('tp');
  if (s['sp'] === true) words.push('sp');
  for (const name of ['cp', 'ep', 'etp', 'pp', 'interleave', 'dp']) degree(name);
  if (typeof s['microbatch'] === 'number') words.push(`microbatch ${s['microbatch']}`);
  if (typeof s['zero'] === 'number' && s['zero'] > 0) words.push(`zero ${s['zero']}`);
  if (typeof s['schedule'] === 'string' && s['schedule'] !== '1f1b') words.push(s['schedule']);
  if (typeof s['recompute'] === 'string' && s['recompute'] !== 'none') words.push(`recompute ${s['recompute']}`);
  const modules = partsOn((s['modules'] ?? {}) as object);
  if (modules.length > 0) words.push(`recompute ${modules.join(', ')}`);
  if (s['offload'] === true) words.push('offload');
  return words.length > 0 ? words.join(', ') : 'one device';
}

/** What the form calls a field; errors speak of it by the same word. */
const labels: Record<string, string> = {
  model: 'Model',
  config: 'Model',
  system: 'System',
  runtime: 'Runtime',
  gpus: 'GPUs',
  batch: 'Batch',
  seq: 'Sequence',
  input: 'Input',
  output: 'Output',
  images: 'Images',
  batching: 'Batching',
  tp: 'Tensor',
  pp: 'Pipeline',
  dp: 'Data parallel',
  cp: 'Context',
  ep: 'Experts',
  etp: 'Tensor of experts',
  interleave: 'Interleave',
  microbatch: 'Microbatch',
  zero: 'ZeRO',
  sp: 'Sequence parallel',
  recompute: 'Recompute',
  recompute_modules: 'Recompute also',
  recompute_layers: 'Layers recomputed',
  schedule: 'Schedule',
  precision: 'Precision',
  kv_precision: 'Cache',
  optimizer: 'Optimizer',
  adapter: 'Train',
  lora_rank: 'Rank',
  lora_targets: 'Adapters on',
  frozen: 'Not trained',
  offload: 'Optimizer states in host memory',
  chunk: 'Prefill chunk',
  speculate: 'Speculate',
  draft: 'Draft model',
  acceptance: 'Acceptance',
  draft_cost: 'Cost of a draft',
  predict_ahead: 'Prediction layers',
  allow_long: 'Go beyond the model’s context',
  objective: 'Best by',
  max_ttft: 'TTFT at most',
  max_tpot: 'TPOT at most',
  max_ttft_p99: 'TTFT p99 at most',
  max_tpot_p99: 'TPOT p99 at most',
  price: 'Price',
  tokens: 'Tokens',
  rate: 'Rate',
  concurrency: 'Users',
  replicas: 'Engines',
  set: 'What if',
  node: 'Process node',
  dram: 'Memory',
  network: 'Network between nodes',
  link_gen: 'Links inside a node',
  area: 'Die area',
  dies: 'Dies',
  power: 'Power',
  stacks: 'Stacks',
};

/** A name of the API: `max_tpot`, or as a flag `--max-tpot`. */
export const fieldName = (name: string): string => name.replace(/^-+/, '').replace(/-/g, '_');

/** What the form calls a field; a key of a config.json is called as it stands there. */
export function labelOf(field: string): string {
  const [, key] = /^model\.(.+)$/.exec(field) ?? [];
  return key ?? labels[fieldName(field)] ?? field.replace(/_/g, ' ');
}

/** A sentence of the server's, with the form's names for its fields. */
export const inWords = (text: string): string =>
  text
    .replace(/--[a-z][a-z-]*|\b[a-z]+(?:_[a-z0-9]+)+\b/g, (name) => {
      const label = labels[fieldName(name)];
      return label ? `“${label}”` : name;
    })
    .replace('/api/v1/presets lists all', 'the list shows all');

/** What would fit instead, as the server lists it: 'recompute-modules activation, offload'. */
export const changeInWords = (text: string): string =>
  text.replace(/(?<=^|, )[a-z]+(?:-[a-z]+)*(?= [a-z]|$|,)/g, (name) => (labels[fieldName(name)] ?? name).toLowerCase());

/** A line of what was assumed, without the flags that would change it where the form has no such field. */
export const plainly = (line: string): string =>
  inWords(
    line
      .split('; ')
      .filter((clause) => !/^--/.test(clause) || labels[fieldName(clause.split(/[ :]/)[0] ?? '')])
      .join('; '),
  )
    .replace(/'sextant traffic[^']*'/g, 'Serving')
    .replace(/(?<![.\w])[a-z]+(?:_[a-z]+)+(?![.\w])/g, (name) => name.replace(/_/g, ' '))
    .replace(/\d+\.\d{4,}/g, (digits) => String(Number(Number(digits).toPrecision(4))));

/** What most people look for, first in its list. */
const popular = {
  models: [
    'llama3.1-8b',
    'llama3.1-70b',
    'llama3.1-405b',
    'deepseek-v3',
    'qwen3-32b',
    'qwen3-235b-a22b',
    'gpt-oss-120b',
    'mixtral-8x7b',
    'gpt3-175b',
  ],
  systems: [
    'dgx-h100',
    'dgx-h200',
    'dgx-b200',
    'gb200-nvl72',
    'dgx-a100',
    'mi300x-node',
    'tpu-v5p-node',
    'rtx-4090-node',
  ],
  devices: ['h200-sxm', 'h100-sxm', 'b200', 'a100-sxm-80gb', 'mi300x', 'l40s', 'rtx-4090'],
} as const;

export function popularFirst<T extends { name: string }>(list: T[], kind: keyof typeof popular): T[] {
  const order: readonly string[] = popular[kind];
  const rank = ({ name }: T): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...list].sort((a, b) => rank(a) - rank(b));
}
