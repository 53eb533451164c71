// SPDX-License-Identifier: Apache-2.0
// What the labels of answers mean, and the tone each is drawn in.

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
  experts_exchange: 'link',
  waiting: 'wait',
  bubble: 'wait',
  host: 'wait',
  spread: 'wait',
  optimizer: 'rest',
  offload: 'rest',
  prefill: 'work-2',
  decode: 'work',
  multiply: 'work',
  attention: 'work-2',
  experts: 'work',
  stream: 'rest',
  head: 'rest-2',
  exchange: 'link',
};

export const toneOf = (label: string, fallback: Tone = 'rest'): Tone => tones[label] ?? fallback;

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
  waiting: 'the device stands still',
  bubble: 'waiting for the first and last microbatch',
  host: 'the device waits for its host',
  spread: 'waiting for the slowest device',
  optimizer: 'optimizer step, gradient norm',
  offload: 'states moved to and from the host',
  prefill: 'the prompt, until the first token',
  decode: 'the tokens after it, one step each',
  multiply: 'matrix multiplies with the weights',
  attention: 'attention over the cache or the prompt',
  experts: 'the mixture of experts',
  stream: 'norms, activations, position encoding',
  head: 'output head and sampling',
  exchange: 'tokens sent to their experts and back',
};

export const meaningOf = (label: string): string => meanings[label] ?? '';

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

const boundTones: Record<string, Tone> = {
  compute: 'work',
  dram: 'work-2',
  l2: 'rest',
  shared: 'rest',
  special: 'rest',
  network: 'link',
  link: 'link',
  latency: 'rest-2',
  launch: 'rest-2',
};
export const boundTone = (bound: string): Tone => boundTones[bound] ?? 'rest';

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
  const modules = s['modules'];
  if (modules && typeof modules === 'object') {
    const chosen = Object.entries(modules)
      .filter(([, on]) => on === true)
      .map(([name]) => name);
    if (chosen.length > 0) words.push(`recompute ${chosen.join(', ')}`);
  }
  if (s['offload'] === true) words.push('offload');
  return words.length > 0 ? words.join(', ') : 'one device';
}
