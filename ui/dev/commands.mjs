// SPDX-License-Identifier: Apache-2.0
// A stand-in for the server during work on the page: each request runs a command with --format json. The numbers are
// real; legal values, comparisons and searches are only approximated.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = process.env.SEXTANT ?? '../build/sextant';
const scratch = mkdtempSync(join(tmpdir(), 'sextant-dev-'));
let files = 0;

class Refused extends Error {
  constructor(errors) {
    super('refused');
    this.errors = errors;
  }
}

function parseErrors(text) {
  return text
    .trim()
    .split('\n')
    .filter((line) => line && !line.startsWith(' '))
    .map((line) => {
      const named = /^--([\w-]+): (.*)$/.exec(line);
      const [message, hint = ''] = (named ? named[2] : line).split('; ');
      return { field: named ? named[1].replaceAll('-', '_') : '', message, hint };
    });
}

function run(words) {
  return new Promise((resolve, reject) => {
    execFile(program, words, { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (error) reject(new Refused(parseErrors(stderr || String(error))));
      else resolve(stdout);
    });
  });
}

const runJson = async (words) => JSON.parse(await run([...words, '--format', 'json']));

const extras = new Set(['choices', 'nearest', 'timeline', 'kernel']);
function words(fields) {
  const list = [];
  for (const [name, value] of Object.entries(fields)) {
    const flag = `--${name.replaceAll('_', '-')}`;
    if (extras.has(name) || value === undefined || value === null) continue;
    if (typeof value === 'boolean') {
      if (value) list.push(flag);
      else if (name === 'sp') list.push('--no-sp');
    } else if (Array.isArray(value)) {
      for (const item of value) list.push(flag, String(item));
    } else if (typeof value === 'object') {
      const path = join(scratch, `${name}-${files++}.json`);
      writeFileSync(path, JSON.stringify(value));
      list.push(flag, path);
    } else {
      list.push(flag, String(value));
    }
  }
  return list;
}

async function presets() {
  const kinds = ['devices', 'systems', 'models', 'runtimes', 'nodes', 'drams', 'links', 'cores'];
  const out = {};
  for (const kind of kinds) {
    const names = (await runJson(['list', kind]))[kind];
    out[kind] = await Promise.all(
      names.map(async (name) => {
        if (typeof name === 'object') return name;
        if (!['systems', 'models', 'nodes', 'drams', 'links'].includes(kind)) return { name };
        const facts = JSON.parse(await run(['show', name, '--kind', kind.slice(0, -1), '--json']));
        if (kind === 'systems')
          return {
            name,
            device: facts.device.name,
            devices_per_node: facts.devices_per_node,
            max_devices: facts.max_devices,
          };
        if (kind === 'models')
          return { name, layers: facts.layers, hidden: facts.hidden, experts: facts.experts.count };
        return { name, year: facts.year, reach: facts.reach, title: facts.title, process: facts.process };
      }),
    );
  }
  const serving = new Set(['fastertransformer', 'lmdeploy', 'trtllm', 'trtllm-2023', 'vllm', 'vllm-2023', 'ideal']);
  for (const runtime of out.runtimes) {
    runtime.serves = serving.has(runtime.name) || runtime.name.startsWith('pytorch');
    runtime.trains = !serving.has(runtime.name) || runtime.name === 'ideal';
  }
  return out;
}

const divides = (whole) => (part) => whole % part === 0;
function choicesFor(answer, fields) {
  const s = answer.strategy;
  const powers = [1, 2, 4, 8, 16, 32, 64];
  if (fields.gpus === undefined) return { tp: [1, 2, 4, 8], pp: [1, 2, 4], dp: [1, 2, 4], ep: [1] };
  const free = (taken) => powers.filter(divides(fields.gpus / taken));
  return {
    tp: free(s.pp * s.cp).filter((t) => t <= 8),
    pp: free(s.tp * s.cp),
    cp: free(s.tp * s.pp).filter((c) => c <= 8),
    ep: [1],
    microbatch: powers.filter(divides((answer.batch ?? 1) / s.dp)),
    interleave: s.pp > 1 ? [1, 2, 3, 4, 6] : [1],
    zero: [0, 1, 2, 3],
  };
}

function timelineOf(path, stages) {
  const trace = JSON.parse(readFileSync(path, 'utf8'));
  const rows = new Map();
  const spans = [];
  for (const event of trace.traceEvents) {
    if (event.ph === 'M' && event.name === 'thread_name')
      rows.set(event.tid, Number(/\d+/.exec(event.args.name)?.[0] ?? 0));
    if (event.ph !== 'X') continue;
    spans.push({
      stage: rows.get(event.tid) ?? 0,
      microbatch: event.args?.microbatch ?? -1,
      chunk: event.args?.chunk ?? 0,
      kind: event.cat,
      start: event.ts / 1e6,
      duration: event.dur / 1e6,
    });
  }
  return spans.length > 20000
    ? { too_large: true }
    : { stages, seconds: Math.max(...spans.map((span) => span.start + span.duration)), spans, perfetto: false };
}

async function predict(kind, fields) {
  const path = join(scratch, `trace-${files++}.json`);
  const answer = await runJson([kind, ...words(fields), ...(fields.timeline ? ['--trace', path] : [])]);
  if (fields.choices) answer.choices = choicesFor(answer, fields);
  if (fields.timeline) answer.timeline = timelineOf(path, answer.strategy.pp);
  if (fields.nearest) {
    answer.nearest_cases =
      kind === 'train'
        ? [{ group: 'train-megatron-a100', cases: 18, median_ape: 0.027, mape: 0.035 }]
        : [{ group: 'infer-nvidia-llama2', cases: 22, median_ape: 0.054, mape: 0.054 }];
  }
  return answer;
}

async function compare(body) {
  const answers = await Promise.all(body.scenarios.map((fields) => predict(body.kind, fields)));
  const time = (answer) => answer.step_seconds ?? answer.latency_seconds;
  const differences = answers.slice(1).map((answer, i) => {
    const ratio = time(answer) / time(answers[i]);
    return {
      from: i,
      to: i + 1,
      ratio,
      factors: [
        { name: 'matrix rate', ratio: ratio ** 0.7, share: 0.7 },
        { name: 'DRAM bandwidth', ratio: ratio ** 0.35, share: 0.35 },
        { name: 'network', ratio: ratio ** -0.05, share: -0.05 },
      ],
    };
  });
  return { answers, differences };
}

const jobs = new Map();

/** The command has no progress in a pipe: the stand-in counts time instead, and lets a cancelled search end. */
function startJob(fields) {
  const job = { id: String(jobs.size + 1), state: 'running', started: Date.now(), cancelled: false };
  jobs.set(job.id, job);
  runJson(['search', ...words(fields)]).then(
    (result) => {
      job.result = result;
      job.state = job.cancelled ? 'cancelled' : 'done';
    },
    (error) => {
      job.errors = error.errors;
      job.state = 'failed';
    },
  );
  return job;
}

function jobView(job) {
  const seconds = (Date.now() - job.started) / 1000;
  const done = job.result?.evaluated ?? Math.round(seconds * 1e6);
  return {
    id: job.id,
    state: job.state,
    progress: { done, total: Math.max(done, 3e6), rate: done / seconds, seconds_left: Math.max(0, 3 - seconds) },
    ...(job.result ? { result: job.result } : {}),
    ...(job.errors ? { errors: job.errors } : {}),
  };
}

function stream(job, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => {
    response.write(
      `event: ${job.state === 'running' ? 'progress' : 'done'}\ndata: ${JSON.stringify(jobView(job))}\n\n`,
    );
    if (job.state !== 'running') {
      clearInterval(timer);
      response.end();
    }
  }, 100);
  response.on('close', () => clearInterval(timer));
}

async function route(method, path, body, response) {
  const [kind, name, extra] = path.split('/');
  if (kind === 'presets' && !name) return presets();
  if (kind === 'presets') return JSON.parse(await run(['show', extra, '--kind', name.slice(0, -1), '--json']));
  if (kind === 'train' || kind === 'infer') return predict(kind, body);
  if (kind === 'ops') return runJson(['ops', body.kernel, ...words(body)]);
  if (kind === 'tech') return runJson(['tech', ...words(body)]);
  if (kind === 'validate') return runJson(['validate']);
  if (kind === 'compare') return compare(body);
  if (kind === 'search') return { id: startJob(body).id };
  const job = jobs.get(name);
  if (extra === 'events') return stream(job, response);
  if (method === 'DELETE') job.cancelled = true;
  return jobView(job);
}

export async function answerFromCommands(incoming, response) {
  const parts = [];
  for await (const part of incoming) parts.push(part);
  let status = 200;
  let answer;
  try {
    const body = parts.length ? JSON.parse(Buffer.concat(parts).toString()) : {};
    answer = await route(
      incoming.method,
      new URL(incoming.url, 'http://x').pathname.replace('/api/v1/', ''),
      body,
      response,
    );
  } catch (error) {
    status = 400;
    answer = { errors: error.errors ?? [{ field: '', message: String(error), hint: '' }] };
  }
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer));
}
