// SPDX-License-Identifier: Apache-2.0
// The state of the page is the address: '#/predict?kind=train&model=gpt3-175b&tp=8'. A link reproduces a view.
import { computed, effect, signal } from '@preact/signals';
import { inlined, messageOf, post, presets as askPresets } from './api';
import { inferFields, trainFields } from './fields';
import type { FieldFacts } from './fields';
import { overridesIn, withoutHardware } from './overrides';
import type { Fields, Json, Presets, SystemFacts, ValidateAnswer } from './types';

export const views = [
  'predict',
  'serving',
  'run',
  'fits',
  'scaling',
  'search',
  'compare',
  'hardware',
  'model',
  'operators',
  'timeline',
  'profile',
  'technology',
  'accuracy',
] as const;
export type View = (typeof views)[number];
export type Params = Readonly<Record<string, string>>;

const training: Params = {
  kind: 'train',
  model: 'gpt3-175b',
  system: 'dgx-h100',
  gpus: '512',
  tp: '8',
  pp: '8',
  interleave: '2',
  microbatch: '1',
  batch: '1024',
  seq: '2048',
  recompute: 'selective',
  precision: 'bf16',
  zero: '1',
};
const serving: Params = {
  kind: 'infer',
  model: 'llama3-70b',
  system: 'dgx-h100',
  tp: '4',
  batch: '16',
  input: '1024',
  output: '256',
  precision: 'fp8',
};

export const examples: Readonly<Record<'train' | 'infer', Params>> = { train: training, infer: serving };

function isView(name: string): name is View {
  return (views as readonly string[]).includes(name);
}

export function parseAddress(hash: string): { view: View; params: Params } {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const params = Object.fromEntries(new URLSearchParams(query));
  const view = isView(path) ? path : 'predict';
  // An address that names no model is a view's own settings on top of the example.
  return {
    view,
    params:
      params['model'] || params['config']
        ? params
        : { ...examples[params['kind'] === 'infer' ? 'infer' : 'train'], ...params },
  };
}

/** URLSearchParams escapes what a hash may hold; links stay readable without. */
const readable = (query: string): string => query.replace(/%2C/g, ',').replace(/%2F/g, '/').replace(/%3A/g, ':');

export function address(view: View, params: Params): string {
  const kept = Object.entries(params).filter(([, value]) => value !== '');
  return `#/${view}?${readable(new URLSearchParams(kept).toString())}`;
}

function fromInlined(): { view: View; params: Params } | null {
  if (!inlined) return null;
  const answer = (inlined.answer ?? {}) as { kind?: unknown };
  const params: Record<string, string> = {
    kind: answer.kind === 'infer' || 'ttft_seconds' in answer ? 'infer' : 'train',
  };
  for (const [name, value] of Object.entries(inlined.request)) {
    if (typeof value !== 'object' && name !== 'kind') params[name] = String(value);
  }
  return { view: isView(inlined.view) ? inlined.view : 'predict', params };
}

const start = fromInlined() ?? parseAddress(location.hash);
export const view = signal<View>(start.view);
export const params = signal<Params>(start.params);
export const kind = computed(() => (params.value['kind'] === 'infer' ? 'infer' : 'train'));
/** What the program says of the fields of the question at hand. */
export const knownFields = computed(() => (kind.value === 'train' ? trainFields : inferFields));
/** Nothing was asked yet: the page shows its example. */
export const bare = computed(
  () =>
    Object.keys(examples[kind.value]).every((name) => params.value[name] === examples[kind.value][name]) &&
    Object.keys(params.value).length === Object.keys(examples[kind.value]).length,
);

/** What each question was last set to, however one came to the other. */
export const remembered: Record<'train' | 'infer', Params> = { ...examples };
effect(() => {
  remembered[kind.value] = params.value;
});

/* Every change is a step back; what one movement of the hand changes is one step. */
let movement = 0;
let changing = { names: '', movement: 0 };

/** The page's parameters, all of them; `names` says what a movement changes. */
export function replace(next: Params, names = ''): void {
  // What was changed before is written before it changes again: it is a step of its own.
  if (names !== changing.names || movement !== changing.movement) flush();
  changing = { names, movement };
  params.value = next;
}

/** What follows from the last change, and is no step of its own. */
export const replaceQuietly = (next: Params): void => {
  if (movement === changing.movement) {
    replace(next, changing.names);
    return;
  }
  replace(next, 'follows');
  written = changing; // the entry that is there takes it in
};

/** Another system takes the place of one that was made, and has nothing of what was changed of the last one. */
export function withoutSystem({ made: _, set, ...rest }: Params): Params {
  const kept = withoutHardware(set);
  return { ...rest, ...(kept ? { set: kept } : {}) };
}

/** Changes some parameters; an empty value removes one. */
export function change(values: Record<string, string | number | boolean | undefined>): void {
  const next: Record<string, string> = { ...('system' in values ? withoutSystem(params.value) : params.value) };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') delete next[name];
    else next[name] = String(value);
  }
  replace(next, Object.keys(values).sort().join());
}

/** What the page starts with, of the question at hand. */
export const reset = (): void => replace(examples[kind.value]);

export function open(to: View, values: Params): void {
  location.hash = address(to, values);
}

// Chromium throttles history changes (200 in 30 s); while something is dragged the address follows in steps.
const addressPause = 250; // ms
let pending: { timer: ReturnType<typeof setTimeout>; wanted: string } | undefined;
function forget(): void {
  clearTimeout(pending?.timer);
  pending = undefined;
}
let written = { names: '', movement: -1 };
let first = true;

function write(wanted: string): void {
  forget();
  if (location.hash === wanted) return;
  const goesOn = written.names === changing.names && written.movement === changing.movement;
  // An entry that has a state was seen before: see `hashchange`.
  history[goesOn ? 'replaceState' : 'pushState']({ seen: true }, '', wanted);
  written = changing;
}
function flush(): void {
  if (pending) write(pending.wanted);
}

effect(() => {
  const wanted = address(view.value, params.value);
  if (inlined) return;
  if (first) {
    first = false;
    // A bare address stays bare until something changes; others as they are read, which is no step of its own.
    history.replaceState({ seen: true }, '', location.hash === '' ? undefined : wanted);
    return;
  }
  clearTimeout(pending?.timer);
  pending = { wanted, timer: setTimeout(() => write(wanted), addressPause) };
});

for (const event of ['pointerdown', 'keydown'] as const)
  addEventListener(
    event,
    (happened) => {
      if (happened instanceof KeyboardEvent && happened.repeat) return;
      flush();
      movement++;
    },
    { capture: true },
  );

addEventListener('hashchange', () => {
  if (inlined) return;
  const next = parseAddress(location.hash);
  const fresh = history.state === null;
  const another = next.view !== view.value;
  movement++; // what changes from here on is a new step
  written = { names: '', movement: -1 };
  view.value = next.view;
  params.value = next.params;
  forget(); // the address says it already
  if (!fresh) return;
  history.replaceState({ seen: true }, '');
  // A view begins at its top; Back returns to where one was, which the browser does.
  if (another) scrollTo(0, 0);
});

/** The address as it is now, also while the one in the bar lags behind. */
export const currentLink = (): string => location.href.split('#')[0] + address(view.value, params.value);

export const presets = signal<Presets | null>(null);
export const presetsProblem = signal('');
export function loadPresets(): void {
  askPresets().then(
    (lists) => {
      presets.value = lists;
      presetsProblem.value = '';
    },
    (error: unknown) => {
      presetsProblem.value = messageOf(error);
      setTimeout(loadPresets, 2000); // a page without its lists is of little use
    },
  );
}

/** Predicted against measured, of every case that comes with the program; asked for once, when there is time. */
export const validation = signal<ValidateAnswer | null>(null);
if (!inlined)
  setTimeout(() => {
    post<ValidateAnswer>('/validate', {}).then(
      (answer) => {
        validation.value = answer;
      },
      () => undefined, // Accuracy says what is wrong
    );
  }, 400);

/** The number that a text of the address stands for; one that is none counts as absent. */
export function numberOf(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return text && Number.isFinite(value) ? value : fallback;
}
export const numberIn = (name: string, fallback: number): number => numberOf(params.value[name], fallback);

/** The field's value, of its type; lists are separated by commas, settings by semicolons. */
function typed(name: string, text: string, { type }: FieldFacts): Json {
  if (type === 'integer') return Number.parseInt(text, 10);
  if (type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true';
  if (name === 'set') return overridesIn(text);
  if (type === 'array')
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  return text;
}

/** Hugging Face configs by the text that stands for them in the address; filled by `configs.ts`. */
export const unpackedConfigs = signal<ReadonlyMap<string, Fields>>(new Map());

/** A system that was made in Technology, as requests give it, and its numbers. */
interface Made {
  system: Fields;
  facts: SystemFacts;
}

/** By the recipe that stands for it in the address; filled by `made.ts`. */
export const madeSystems = signal<ReadonlyMap<string, Made>>(new Map());

/** What lists say of the scenario's system: how many devices a node and all of it have. */
export function systemFacts(values: Params): { devices_per_node: number; max_devices: number } | undefined {
  const made = values['made'];
  return made
    ? madeSystems.value.get(made)?.facts
    : presets.value?.systems.find((entry) => entry.name === values['system']);
}

/** The body of a request for this scenario, or null while a config is unpacked or a system made. */
export function requestOf(values: Params, training = values['kind'] !== 'infer'): Fields | null {
  const known = training ? trainFields : inferFields;
  const fields: Fields = {};
  for (const [name, text] of Object.entries(values)) {
    const facts = known[name];
    if (!facts || text === '') continue;
    const value = typed(name, text, facts);
    if (typeof value === 'number' && Number.isNaN(value)) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    fields[name] = value;
  }
  // Of serving an address says how many devices a search may take; an engine has what its degrees take.
  if (!training) delete fields['gpus'];
  // What would lie in a second memory has no place in a device without one.
  const tiered = /device\.tier\./.test(values['set'] ?? '') || /\btier~/.test(values['made'] ?? '');
  if (!tiered) delete fields['placement'];
  const config = values['config'];
  if (config) {
    const model = unpackedConfigs.value.get(config);
    if (!model) return null;
    fields['model'] = model;
  }
  const made = values['made'];
  if (made) {
    const found = madeSystems.value.get(made);
    if (!found) return null;
    fields['system'] = found.system;
  }
  return fields;
}
