// SPDX-License-Identifier: Apache-2.0
// What a search asks, and how its answers open in Predict.
import { percent, seconds } from './format';
import { requestOf } from './state';
import type { Params } from './state';
import type { BestSoFar, Fields, Found, Json } from './types';
import { partsOn } from './used';

/** What a search leaves open; the rest of the scenario is its frame. */
const trainAxes = [
  'tp',
  'pp',
  'dp',
  'cp',
  'ep',
  'etp',
  'interleave',
  'microbatch',
  'zero',
  'shard',
  'sp',
  'recompute',
  'recompute_layers',
  'recompute_modules',
  'schedule',
  'context',
  'order',
  'offload',
];
const inferAxes = ['tp', 'pp', 'dp', 'ep', 'batch'];
/** The search's own settings. */
const own = ['objective', 'max_ttft', 'max_tpot', 'run'];

export const objectives = {
  train: ['tokens-per-second', 'memory', 'energy'],
  infer: ['throughput', 'latency', 'gpus'],
} as const;

export function searchRequest(values: Params): Fields | null {
  const training = values['kind'] !== 'infer';
  const request = requestOf(values);
  if (!request) return null;
  const open = training ? trainAxes : inferAxes;
  const fields: Fields = Object.fromEntries(Object.entries(request).filter(([name]) => !open.includes(name)));
  // A search may try several precisions; the scenario names one.
  for (const name of ['precision', 'kv_precision'])
    if (fields[name] !== undefined) fields[name] = [fields[name] as Json];
  if (values['objective']) fields['objective'] = values['objective'];
  // What the form shows where the address is silent.
  fields['gpus'] ??= Number.parseInt(values['gpus'] ?? '8', 10);
  if (training) fields['batch'] ??= fields['gpus'];
  if (!training) {
    fields['infer'] = true;
    for (const name of ['max_ttft', 'max_tpot']) if (values[name]) fields[name] = `${values[name]} ms`;
  }
  return fields;
}

/** The best that a running search has, and how much better any other may be: its sentence, in parts. */
export function bestSoFar(best: BestSoFar): { time: string; strategy: string; gap: string } {
  // A bound of nothing: the search has only begun to rule others out.
  const known = best.gap < 1;
  const gap = best.gap <= 0 ? 'none is better' : `none is more than ${percent(best.gap)} better`;
  return {
    time: `${seconds(best.step_seconds, 4)} a step`,
    strategy: best.summary,
    gap: known ? gap : 'how much better another may be is not known yet',
  };
}

/** What needs no place in a link: every scenario has it unless it says otherwise. */
const neutral: Readonly<Record<string, unknown>> = {
  cp: 1,
  ep: 1,
  etp: 1,
  schedule: '1f1b',
  context: 'ring',
  order: 'tp-cp-ep-dp-pp',
};

/** What was found, as far as a scenario has it. */
type Choice = Pick<Found, 'strategy' | 'serving'> & { prediction: { gpus?: number } };

/** The scenario of a search with what was found, for Predict. */
export function scenarioOf(found: Choice, values: Params): Params {
  const training = values['kind'] !== 'infer';
  const axes = training ? trainAxes : inferAxes;
  const next: Record<string, string> = {};
  for (const [name, value] of Object.entries(values))
    if (!axes.includes(name) && !own.includes(name)) next[name] = value;
  const strategy = found.strategy as Record<string, unknown>;
  for (const name of [...axes, 'precision']) {
    const value = strategy[name];
    // Data parallelism follows from the rest in training; what is zero, off or usual is the default.
    if (
      (training && name === 'dp') ||
      value === neutral[name] ||
      !['string', 'number', 'boolean'].includes(typeof value) ||
      value === false ||
      value === 0
    )
      continue;
    next[name] = String(value);
  }
  if (training) {
    if (found.strategy.sp === false) next['sp'] = 'false';
    if (found.prediction.gpus) next['gpus'] = String(found.prediction.gpus);
    const modules = partsOn(found.strategy.modules ?? {});
    if (modules.length > 0) next['recompute_modules'] = modules.join(',');
  } else {
    for (const name of ['microbatch', 'gpus']) delete next[name];
    if (found.serving)
      Object.assign(next, {
        batch: String(found.serving.batch),
        batching: found.serving.batching,
        kv_precision: found.serving.kv_precision,
      });
  }
  return next;
}
