// SPDX-License-Identifier: Apache-2.0
// A strategy for people who did not come to choose one: the best of those that are tried first, by a search of the
// server's that takes a fraction of a second, whenever the model or the system changes. Experts lock theirs.
import { signal } from '@preact/signals';
import { Refusal, inlined, post } from './api';
import { grouped } from './format';
import { scenarioOf, searchRequest } from './search';
import { address, change, params, replaceQuietly, systemFacts } from './state';
import type { Params } from './state';
import type { Fields, SearchAnswer } from './types';

/** Axes that a first look leaves as most runs have them. Their whole space is what the view Search is for. */
const held: Fields = {
  fix: ['schedule=1f1b', 'zero=1', 'etp=1', 'order=tp-cp-ep-dp-pp', 'recompute=none,selective,full'],
  limit: ['microbatch<=4', 'interleave<=8', 'tp<=8', 'recompute_layers<=0'],
  top: 1,
};
const longSequence = 32768; // tokens; from here on context parallelism is worth its place in the search

const storedLock = 'sextant-lock';
function readLock(): boolean {
  try {
    return localStorage.getItem(storedLock) === '1';
  } catch {
    return false;
  }
}

/** Whether the strategy stays when the model or the system changes. */
export const locked = signal(readLock());
export function lock(on: boolean): void {
  locked.value = on;
  try {
    localStorage.setItem(storedLock, on ? '1' : '0');
  } catch {
    // A page without storage forgets the choice, and works.
  }
}

/** A search is under way: what stands in the address will change. */
export const choosing = signal(false);
/** What was chosen, and how; true of this address alone. */
export const chosen = signal<{ address: string; words: string } | null>(null);

/** A short search for the best strategy of a scenario. */
export const bestRequest = (values: Params): Fields | null =>
  shortRequest({ ...values, objective: '', max_ttft: '', max_tpot: '' });

/** The same, by what a search looks for. */
export function shortRequest(values: Params): Fields | null {
  const fields = searchRequest(values);
  if (!fields) return null;
  if (values['kind'] === 'infer') return { ...fields, fix: [`batch=${values['batch'] ?? 1}`], top: 1 };
  const context = Number(values['seq'] ?? 0) > longSequence ? [] : ['cp=1'];
  return { ...fields, ...held, fix: [...(held['fix'] as string[]), ...context] };
}

/** Cluster sizes to try: the one that is set where the system has it, then larger ones until something fits. */
function sizes(values: Params): number[] {
  const facts = systemFacts(values);
  const most = facts?.max_devices ?? 32768;
  const first = values['kind'] === 'infer' ? (facts?.devices_per_node ?? 8) : Number(values['gpus'] ?? 8);
  const list: number[] = [];
  for (let size = Math.min(first, most); size <= most && list.length < 7; size *= 2) list.push(size);
  return list;
}

/** What the server refuses is left to its default: a precision that the device does not have, a context too long. */
async function search(values: Params, signal: AbortSignal): Promise<[Params, SearchAnswer] | null> {
  let kept = values;
  for (let tries = 0; tries < 3; tries++) {
    try {
      const fields = bestRequest(kept);
      return fields && [kept, await post<SearchAnswer>('/best', fields, signal)];
    } catch (error) {
      if (!(error instanceof Refusal)) return null;
      const refused = new Set(error.problems.map((problem) => problem.field));
      if (refused.has('output')) refused.add('input');
      for (const name of ['model', 'system', 'gpus', 'kind', '']) refused.delete(name);
      if (refused.size === 0) return null;
      kept = Object.fromEntries(Object.entries(kept).filter(([name]) => !refused.has(name)));
    }
  }
  return null;
}

let flight = new AbortController();

/** Takes the best strategy for the scenario at hand, on more GPUs where so few cannot hold it. */
export async function chooseStrategy(): Promise<void> {
  flight.abort(); // for the newer one
  const mine = (flight = new AbortController());
  const from = params.value;
  const outdated = (): boolean => mine.signal.aborted || params.value !== from;
  choosing.value = true;
  try {
    for (const gpus of sizes(from)) {
      const found = await search({ ...from, gpus: String(gpus) }, mine.signal);
      if (!found || outdated()) return;
      const [values, result] = found;
      const [best] = result.best;
      if (!best) continue;
      const next = scenarioOf(best, values);
      replaceQuietly(next);
      const more = from['kind'] !== 'infer' && gpus > Number(from['gpus'] ?? gpus);
      const words = `The best of ${grouped(result.evaluated)} tried${more ? `, on as many GPUs as it takes to hold the model` : ''}.`;
      chosen.value = { address: address('predict', next), words };
      return;
    }
  } finally {
    if (mine === flight) choosing.value = false;
  }
}

/** Another model or system, with a strategy for it. */
export function pick(values: Record<string, string | undefined>): void {
  change(values);
  void chooseUnlessLocked();
}

export async function chooseUnlessLocked(): Promise<void> {
  if (!locked.value && !inlined) await chooseStrategy();
}
