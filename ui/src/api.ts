// SPDX-License-Identifier: Apache-2.0
// The HTTP API, typed. An answer inlined into the page takes the server's place.
import { askHere, cancelHere, followHere, searchHere } from './site';
import { fieldName, inWords } from './words';
import type { Fields, Job, Json, MeasuredCase, MeasuredCases, Presets, Problem } from './types';

const base = '/api/v1';

/** The server refused, and says which field and why. */
export class Refusal extends Error {
  readonly problems: Problem[];

  constructor(problems: Problem[]) {
    super(problems.map((problem) => problem.message).join('; '));
    this.problems = problems;
  }
}

/** What an error says, to people. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** An answer that `--format html` wrote into the page. */
interface Inlined {
  view: string;
  request: Fields;
  answer: unknown;
}

function readInlined(): Inlined | null {
  const element = document.getElementById('sextant-answer');
  if (!element?.textContent) return null;
  return JSON.parse(element.textContent) as Inlined;
}

export const inlined = readInlined();

function problemsOf(body: unknown, status: number): Problem[] {
  const listed = (body as { errors?: Problem[] } | null)?.errors;
  if (!Array.isArray(listed) || listed.length === 0) return [{ field: '', message: `the server answered ${status}` }];
  return listed.map(({ field, message, hint }) => ({
    field: fieldName(field ?? ''),
    message: inWords(message),
    ...(hint ? { hint: inWords(hint) } : {}),
  }));
}

export interface Sent {
  type: string;
  body: string | Blob;
}

export interface Answered {
  status: number;
  body: unknown;
}

async function ask(method: string, path: string, sent?: Sent, signal?: AbortSignal): Promise<Answered> {
  if (SITE) return askHere(method, path, sent, signal);
  const response = await fetch(base + path, {
    method,
    signal: signal ?? null,
    ...(sent === undefined ? {} : { headers: { 'content-type': sent.type }, body: sent.body }),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal([
      { field: '', message: 'the server does not answer', hint: 'is sextant serve still running?', unreachable: true },
    ]);
  });
  return { status: response.status, body: await response.json().catch(() => null) };
}

async function call<T>(method: string, path: string, sent?: Sent, signal?: AbortSignal): Promise<T> {
  const { status, body } = await ask(method, path, sent, signal);
  if (status < 200 || status >= 300) throw new Refusal(problemsOf(body, status));
  return body as T;
}

const inJson = (body: Json): Sent => ({ type: 'application/json', body: JSON.stringify(body) });

const questions = new WeakMap<object, Fields>();

/** What was asked for an answer. */
export const questionOf = (answer: object): Fields => questions.get(answer) ?? {};

export async function post<T extends object>(path: string, body: Fields, signal?: AbortSignal): Promise<T> {
  // A page that carries its answer asks nobody.
  const answer = inlined ? (inlined.answer as T) : await call<T>('POST', path, inJson(body), signal);
  questions.set(answer, inlined?.request ?? body);
  return answer;
}

/** A file, packed by gzip, as the body of a request whose fields are in the query. */
export const postFile = <T>(
  path: string,
  fields: Record<string, string>,
  file: Blob,
  signal: AbortSignal,
): Promise<T> =>
  call<T>(
    'POST',
    `${path}?${new URLSearchParams(fields).toString()}`,
    { type: 'application/gzip', body: file },
    signal,
  );

const shown = new Map<string, Promise<unknown>>();

/** A preset in full; asked for once. */
export function preset<T>(kind: string, name: string): Promise<T> {
  const path = `/presets/${kind}/${encodeURIComponent(name)}`;
  let answer = shown.get(path);
  if (!answer) {
    answer = call<T>('GET', path);
    answer.catch(() => shown.delete(path));
    shown.set(path, answer);
  }
  return answer as Promise<T>;
}

const noPresets: Presets = {
  devices: [],
  systems: [],
  models: [],
  runtimes: [],
  nodes: [],
  drams: [],
  links: [],
  cores: [],
};

/** A list may hold plain names. */
const named = (list: unknown): { name: string }[] =>
  Array.isArray(list)
    ? list.map((entry: unknown) => (typeof entry === 'string' ? { name: entry } : (entry as { name: string })))
    : [];

export async function presets(): Promise<Presets> {
  if (inlined) return noPresets;
  const lists = await call<Record<string, unknown>>('GET', '/presets');
  return Object.fromEntries(Object.keys(noPresets).map((kind) => [kind, named(lists[kind])])) as unknown as Presets;
}

export const cases = async (): Promise<MeasuredCase[]> => (await call<MeasuredCases>('GET', '/cases')).cases;

export const startSearch = (fields: Fields): Promise<{ id: string }> =>
  SITE
    ? searchHere(inJson(fields), ({ body, status }) => problemsOf(body, status))
    : call('POST', '/search', inJson(fields));
export const cancelJob = async (id: string): Promise<void> => {
  if (SITE) cancelHere(id);
  else await call('DELETE', `/jobs/${id}`);
};
/** For a page that is being left: the request outlives it, and nobody waits for the answer. */
export const abandonJob = (id: string): void => {
  if (SITE) cancelHere(id);
  else void fetch(`${base}/jobs/${id}`, { method: 'DELETE', keepalive: true }).catch(() => undefined);
};
const readJob = (id: string): Promise<Job> => call('GET', `/jobs/${id}`);

/** Follows a job by server-sent events until it ends; the returned function stops listening. */
export function followJob(id: string, update: (job: Job) => void): () => void {
  if (SITE) return followHere(id, update);
  let stop = (): void => undefined;
  let progress: Job['progress'] = { done: 0, total: 1, rate: 0, seconds_left: Number.POSITIVE_INFINITY };
  const listen = (): void => {
    let left = false;
    const source = new EventSource(`${base}/jobs/${id}/events`);
    const end = (): void => {
      left = true;
      source.close();
    };
    const take = (job: Job): void => {
      ({ progress } = job);
      if (job.state !== 'running') end();
      update(job);
    };
    for (const name of ['progress', 'done'])
      source.addEventListener(name, (event: MessageEvent<string>) => take(JSON.parse(event.data) as Job));
    source.onerror = () => {
      // The stream ended without a word: how does the job stand? One that still runs is followed again.
      source.close();
      readJob(id).then(
        (job) => {
          if (left) return;
          take(job);
          if (job.state === 'running') setTimeout(() => !left && listen(), 500);
        },
        (error: unknown) => {
          if (!left)
            take({
              id,
              state: 'failed',
              progress,
              errors: [{ field: '', message: `the search is lost: ${messageOf(error)}` }],
            });
        },
      );
    };
    stop = end;
  };
  listen();
  return () => stop();
}
