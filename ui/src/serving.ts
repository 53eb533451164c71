// SPDX-License-Identifier: Apache-2.0
// Requests over time, as the address has them: the questions of the view Serving.
import { signal } from '@preact/signals';
import { plainText } from './parts/files';
import { change, numberIn, params, requestOf } from './state';
import type { Fields } from './types';

export const limitNames = ['max_ttft_p99', 'max_tpot_p99'];

/** What users accept, and what it costs. */
function limitFields(): Fields {
  const fields: Fields = {};
  for (const name of limitNames) if (params.value[name]) fields[name] = `${params.value[name]} ms`;
  if (params.value['price']) fields['price'] = params.value['price'];
  return fields;
}

/** Requests as they once came: a file that no address holds. It outlives the view. */
export const trace = signal<{ name: string; text: string; requests: number; number: number } | null>(null);
export const mostRequests = 20000; // of a trace, in a question that is asked at every change

export async function takeTrace(file: File): Promise<void> {
  const text = await plainText(file);
  const lines = text.split('\n').filter((line) => line.trim() !== '').length;
  trace.value = { name: file.name, text, requests: lines, number: (trace.value?.number ?? 0) + 1 };
  change({ arrivals: 'trace' });
}

export const traced = (): boolean => params.value['arrivals'] === 'trace';

/** How requests come, and how long they are, of a trace: times may be squeezed to another rate. */
function tracedWorkload(): Fields | null {
  const given = trace.value;
  if (!given) return null;
  return {
    ...limitFields(),
    arrivals: given.text,
    ...(given.requests > mostRequests ? { requests: mostRequests } : {}), // else all that it has
    ...(params.value['rate'] ? { rate: numberIn('rate', 2) } : {}),
  };
}

/** The same questions have the same key, without the text of a trace. */
export const keyOf = (body: Fields): string =>
  JSON.stringify(traced() ? { ...body, arrivals: trace.value?.number ?? 0 } : body);

/** One of two pools: of its engines the number and the degrees, which are those of one pool where none are given. */
function pool(name: 'prefill' | 'decode'): Fields {
  const fields: Fields = {
    [`${name}_workers`]: numberIn(`${name}_workers`, 1),
    [`${name}_tp`]: numberIn(`${name}_tp`, numberIn('tp', 4)),
  };
  for (const degree of ['pp', 'dp', 'ep'])
    if (numberIn(degree, 1) > 1) fields[`${name}_${degree}`] = numberIn(degree, 1);
  return fields;
}

export const split2 = (): boolean => params.value['pools'] === '2';

/** What an engine has of a scenario of Predict, whatever its requests. */
export const engineFields = [
  'model',
  'system',
  'set',
  'precision',
  'kv_precision',
  'placement',
  'speculate',
  'draft',
  'acceptance',
  'draft_cost',
  'allow_long',
];

/** The request for `traffic`; what is not set is the engine's default. */
export function request(): Fields | null {
  const known = requestOf(params.value, false);
  if (!known) return null;
  const carried = [...engineFields, ...(split2() ? [] : ['dp', 'ep'])].filter((name) => known[name] !== undefined);
  const arrivals = params.value['arrivals'] ?? 'poisson';
  const arriving: Fields | null = traced()
    ? tracedWorkload()
    : {
        input: numberIn('input', 1024),
        output: numberIn('output', 256),
        ...limitFields(),
        arrivals,
        ...(arrivals === 'closed' ? { concurrency: numberIn('concurrency', 32) } : {}),
        ...(arrivals === 'closed' || arrivals === 'burst' ? {} : { rate: numberIn('rate', 2) }),
        ...(params.value['lengths'] ? { lengths: params.value['lengths'] } : {}),
        requests: numberIn('requests', 4000),
      };
  if (!arriving) return null;
  const engine: Fields = split2()
    ? {
        ...pool('prefill'),
        ...pool('decode'),
      }
    : { tp: numberIn('tp', 4), pp: numberIn('pp', 1), replicas: numberIn('replicas', 1) };
  return {
    ...(Object.fromEntries(carried.map((name) => [name, known[name]])) as Fields),
    ...(params.value['engine'] ? { runtime: params.value['engine'] } : {}),
    ...engine,
    ...arriving,
    curve: true,
    series: true,
  };
}

export const limitOf = (name: string): number | null => (params.value[name] ? numberIn(name, 0) / 1e3 : null);
