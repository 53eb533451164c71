// SPDX-License-Identifier: Apache-2.0
// Requests over time, as the address has them: the questions of the view Serving.
import { signal } from '@preact/signals';
import { plainText } from './parts/files';
import { change, params, requestOf } from './state';
import type { Fields } from './types';

export const number = (name: string, fallback: number): number => {
  const value = Number(params.value[name]);
  return Number.isFinite(value) && params.value[name] ? value : fallback;
};

/** The workload as both questions take it: how requests come, and how long they are. */
export const workload = (): Fields => ({
  input: number('input', 1024),
  output: number('output', 256),
  ...limitFields(),
});

/** What users accept, and what it costs. */
export function limitFields(): Fields {
  const fields: Fields = {};
  for (const name of ['max_ttft_p99', 'max_tpot_p99'])
    if (params.value[name]) fields[name] = `${params.value[name]} ms`;
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
    requests: Math.min(given.requests, mostRequests),
    ...(params.value['rate'] ? { rate: number('rate', 2) } : {}),
  };
}

/** The same questions have the same key, without the text of a trace. */
export const keyOf = (body: Fields): string =>
  JSON.stringify(traced() ? { ...body, arrivals: trace.value?.number ?? 0 } : body);

export const split2 = (): boolean => params.value['pools'] === '2';

/** The request for `traffic`; what is not set is the engine's default. */
export function request(): Fields | null {
  const known = requestOf(params.value, false);
  if (!known) return null;
  const { model, system, precision, kv_precision, set } = known;
  const arrivals = params.value['arrivals'] ?? 'poisson';
  const arriving: Fields | null = traced()
    ? tracedWorkload()
    : {
        ...workload(),
        arrivals,
        ...(arrivals === 'closed' ? { concurrency: number('concurrency', 32) } : {}),
        ...(arrivals === 'closed' || arrivals === 'burst' ? {} : { rate: number('rate', 2) }),
        ...(params.value['lengths'] ? { lengths: params.value['lengths'] } : {}),
        requests: 4000,
      };
  if (!arriving) return null;
  const engine: Fields = split2()
    ? {
        prefill_workers: number('prefill_workers', 1),
        prefill_tp: number('prefill_tp', number('tp', 4)),
        decode_workers: number('decode_workers', 1),
        decode_tp: number('decode_tp', number('tp', 4)),
      }
    : { tp: number('tp', 4), pp: number('pp', 1), replicas: number('replicas', 1) };
  return {
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system }),
    ...(set === undefined ? {} : { set }),
    ...(precision === undefined ? {} : { precision }),
    ...(kv_precision === undefined ? {} : { kv_precision }),
    ...(params.value['engine'] ? { runtime: params.value['engine'] } : {}),
    ...engine,
    ...arriving,
    curve: true,
    series: true,
  };
}

export const limitOf = (name: string): number | null => (params.value[name] ? number(name, 0) / 1e3 : null);
