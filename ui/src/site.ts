// SPDX-License-Identifier: Apache-2.0
// A page without a server: the program as WebAssembly, in workers. Quick questions have one, slow ones another, and a
// search its own, so that it can be ended.
import type { Answered, Sent } from './api';
import type { Job, SearchAnswer } from './types';

/** What is asked of a worker; `site-worker.js` answers with the same id. */
interface Question {
  id: number;
  method: string;
  path: string;
  query: string;
  type: string;
  body: Uint8Array;
}

interface Reply {
  id: number;
  status: number;
  body: string;
}

class Asker {
  private readonly worker = new Worker('worker.js');
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private readonly broken: Promise<never>;
  private count = 0;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      this.waiting.get(data.id)?.(data);
      this.waiting.delete(data.id);
    };
    this.broken = new Promise((_, reject) => {
      this.worker.onerror = (event) => reject(new Error(event.message || 'the program cannot be loaded'));
    });
    this.broken.catch(() => undefined);
  }

  ask(question: Omit<Question, 'id'>): Promise<Reply> {
    const id = ++this.count;
    const answered = new Promise<Reply>((resolve) => this.waiting.set(id, resolve));
    this.worker.postMessage({ ...question, id });
    return Promise.race([answered, this.broken]);
  }

  end(): void {
    this.worker.terminate();
  }
}

const slowPaths = ['/best', '/compare', '/profile', '/tech', '/traffic', '/validate'];
const askers = new Map<string, Asker>();

function askerOf(path: string): Asker {
  const kind = slowPaths.includes(path) ? 'slow' : 'quick';
  let asker = askers.get(kind);
  if (!asker) askers.set(kind, (asker = new Asker()));
  return asker;
}

/** The bytes of a body; a packed file is unpacked here, where the browser can. */
async function bytesOf(sent: Sent | undefined): Promise<Uint8Array> {
  if (!sent) return new Uint8Array();
  if (typeof sent.body === 'string') return new TextEncoder().encode(sent.body);
  const plain = sent.body.stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

function question(method: string, target: string, sent: Sent | undefined, body: Uint8Array): Omit<Question, 'id'> {
  const [path = '', query = ''] = target.split('?');
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value.replace(/\n/g, ' ')}`);
  return {
    method,
    path: `/api/v1${decodeURIComponent(path)}`,
    query: pairs.join('\n'),
    type: sent?.type ?? '',
    body,
  };
}

const read = ({ status, body }: Reply): Answered => ({ status, body: JSON.parse(body) as unknown });

export async function askHere(method: string, target: string, sent?: Sent, signal?: AbortSignal): Promise<Answered> {
  const body = await bytesOf(sent);
  const answered = askerOf(target.split('?')[0] ?? '').ask(question(method, target, sent, body));
  const given = new Promise<never>((_, reject) => {
    const end = (): void => reject(new DOMException('another question took its place', 'AbortError'));
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
  });
  given.catch(() => undefined);
  return read(await Promise.race([answered, given]));
}

interface Running {
  asker: Asker;
  job: Job;
  update: (job: Job) => void;
}

const jobs = new Map<string, Running>();
let started = 0;

/** A search in a worker of its own. How far it is nobody can say. */
export async function searchHere(
  sent: Sent,
  problemsOf: (answered: Answered) => Job['errors'],
): Promise<{ id: string }> {
  const id = String(++started);
  const asker = new Asker();
  const progress = { done: 0, total: 0, rate: 0, seconds_left: Number.POSITIVE_INFINITY };
  const running: Running = { asker, job: { id, state: 'running', progress }, update: () => undefined };
  jobs.set(id, running);
  const body = await bytesOf(sent);
  const end = (job: Job): void => {
    if (running.job.state !== 'running') return; // cancelled
    running.job = job;
    running.update(job);
    asker.end();
  };
  asker.ask(question('POST', '/search', sent, body)).then(
    (reply) => {
      const answered = read(reply);
      if (answered.status === 200) end({ id, state: 'done', progress, result: answered.body as SearchAnswer });
      else end({ id, state: 'failed', progress, errors: problemsOf(answered) ?? [] });
    },
    (error: unknown) => end({ id, state: 'failed', progress, errors: [{ field: '', message: String(error) }] }),
  );
  return { id };
}

export function cancelHere(id: string): void {
  const running = jobs.get(id);
  if (running?.job.state !== 'running') return;
  running.asker.end();
  running.job = { ...running.job, state: 'cancelled' };
  running.update(running.job);
}

export function followHere(id: string, update: (job: Job) => void): () => void {
  const running = jobs.get(id);
  if (!running) return () => undefined;
  running.update = update;
  update(running.job);
  return () => {
    running.update = () => undefined;
  };
}
