// SPDX-License-Identifier: Apache-2.0
// The page without a server says what the server says, in a browser; and shows it.
// Wants build-site/site (make site) and the program at SEXTANT.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPage, root, startBrowser, startServer } from '../e2e/browser.mjs';
import { ready, training } from '../e2e/suite.mjs';
import { requests, trace } from '../e2e/trace.mjs';

const folder = join(root, '..', 'build-site', 'site');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };

let server;
let browser;
let host;
let site;
before(async () => {
  host = createServer(({ url }, response) => {
    const file = url === '/' ? '/index.html' : url.split('?')[0];
    try {
      response
        .writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' })
        .end(readFileSync(folder + file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
  site = `http://127.0.0.1:${host.address().port}/`;
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
after(async () => {
  await browser?.close();
  server?.stop();
  host?.close();
});

/** Two hundred questions of every kind: [path, body or nothing]. */
function questions() {
  const list = [];
  const post = (path, body) => list.push([path, JSON.stringify(body)]);
  for (const model of ['gpt3-175b', 'llama3.1-70b', 'deepseek-v3', 'mixtral-8x22b', 'qwen3-235b-a22b'])
    for (const system of ['dgx-a100', 'dgx-h100', 'dgx-b200'])
      for (const tp of [4, 8])
        post('train', { model, system, gpus: 512, tp, pp: 4, batch: 1024, choices: true, nearest: true });
  for (const model of ['llama3.1-8b', 'llama3.1-405b', 'gpt-oss-120b', 'deepseek-v3', 'qwen3-next-80b-a3b'])
    for (const system of ['dgx-h100', 'dgx-h200', 'gb200-nvl72'])
      for (const batch of [1, 16, 64])
        post('infer', { model, system, tp: 4, batch, input: 1000, output: 200, precision: 'fp8', curve: batch === 1 });
  for (const m of [1, 17, 128, 4096, 8192])
    for (const device of ['a100-sxm-80gb', 'h100-sxm', 'mi300x', 'b200'])
      post('ops', { kernel: 'gemm', device, m, n: 4096, k: 8192 });
  for (const phase of ['prefill', 'decode'])
    for (const model of ['llama2-13b', 'mixtral-8x7b', 'deepseek-v3'])
      post('ops', { kernel: 'infer', model, system: 'dgx-h100', tp: 8, phase });
  for (const model of ['llama3.1-8b', 'deepseek-v3', 'gpt-oss-120b', 'qwen3-next-80b-a3b', 'gpt3-175b'])
    post('model', { model, seq: 8192 });
  for (const node of ['n7', 'n5', 'n3', 'n2']) for (const dram of ['hbm3', 'hbm4']) post('tech', { node, dram });
  for (const rate of [1, 4, 16])
    post('traffic', { model: 'llama3.1-8b', system: 'dgx-h100', rate, requests: 500, series: true });
  post('traffic', { model: 'llama3.1-8b', system: 'dgx-h100', arrivals: requests(100) });
  post('compare', {
    kind: 'infer',
    scenarios: [
      { model: 'llama2-13b', system: 'dgx-h100' },
      { model: 'llama2-13b', system: 'dgx-a100' },
    ],
  });
  post('profile', { device: 'h200-sxm', pieces: true, trace: JSON.parse(trace()) });
  post('best', {
    model: 'gpt3-6.7b',
    system: 'dgx-a100',
    gpus: 16,
    batch: 64,
    fix: ['schedule=1f1b', 'zero=1', 'cp=1'],
    top: 5,
  });
  post('best', { model: 'llama3.1-70b', system: 'dgx-h100', gpus: 8, infer: true, fix: ['batch=16'], top: 3 });
  post('validate', {});
  // Wrong in every way.
  for (const body of [
    {},
    { model: 'llama9', system: 'dgx-h100' },
    { model: 'llama3.1-8b', system: 'dgx-h100', tp: 3 },
    { modle: 1 },
    { model: 5, system: [] },
  ])
    for (const path of ['train', 'infer', 'traffic', 'model', 'best']) post(path, body);
  list.push(['train', '{"model": '], ['train', ''], ['presets'], ['cases']);
  for (const [kind, name] of [
    ['devices', 'h100-sxm'],
    ['systems', 'dgx-b200'],
    ['models', 'deepseek-v3'],
    ['nodes', 'n3'],
    ['links', 'nvlink4'],
    ['devices', 'nothing'],
    ['gadgets', 'x'],
  ])
    list.push([`presets/${kind}/${name}`]);
  let seed = 1;
  const random = (values) => values[(seed = (seed * 48271) % 2147483647) % values.length];
  while (list.length < 200)
    post('train', {
      model: random(['llama2-7b', 'llama3.1-8b', 'gpt3-6.7b', 'mixtral-8x7b']),
      system: random(['dgx-a100', 'dgx-h100', 'mi300x-node']),
      gpus: random([8, 16, 64]),
      tp: random([1, 2, 4, 8]),
      microbatch: random([1, 2]),
      batch: random([64, 128, 256]),
      recompute: random(['none', 'selective', 'full']),
      zero: random([0, 1, 3]),
      sensitivity: true,
      explain: true,
    });
  return list;
}

const number = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;

/**
 * Everything but numbers is the same, and numbers to twelve digits of their seventeen: the C library of the server's
 * machine may fuse a multiply and an add in `pow`, WebAssembly has no such instruction.
 */
function assertSame(mine, theirs, asked) {
  if (mine === theirs) return true;
  assert.equal(mine.replace(number, '#'), theirs.replace(number, '#'), asked);
  const [left, right] = [mine, theirs].map((text) => text.match(number).map(Number));
  for (const [index, value] of left.entries()) {
    const size = Math.max(Math.abs(value), Math.abs(right[index]));
    // What is itself a difference of two near one has fewer.
    assert.ok(Math.abs(value - right[index]) <= 1e-12 * size + 1e-15, `${asked}: ${value}, not ${right[index]}`);
  }
  return false;
}

/** Without what a clock measured. */
const measured = {
  best: /"(seconds|evaluations_per_second)": [\d.e+-]+/g,
  traffic: /"(simulated_requests_per_second)": [\d.e+-]+/g,
};
const timeless = (path, text) => (measured[path] ? text.replace(measured[path], '"$1": 0') : text);

test('two hundred answers are the server’s', { timeout: 600_000 }, async (t) => {
  const all = questions();
  assert.ok(all.length >= 200, `${all.length} questions`);
  const { page, errors, close } = await newPage(browser);
  await page.goto(site);
  const here = await page.evaluate(async (asked) => {
    const worker = new Worker('worker.js');
    const answers = [];
    for (const [path, body] of asked) {
      const answer = new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      });
      worker.postMessage({
        id: 0,
        method: body === undefined ? 'GET' : 'POST',
        path: `/api/v1/${path}`,
        query: '',
        type: 'application/json',
        body: new TextEncoder().encode(body ?? ''),
      });
      answers.push(await answer);
    }
    return answers;
  }, all);
  let equal = 0;
  for (const [index, [path, body]] of all.entries()) {
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      ...(body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    });
    const text = await response.text();
    const asked = `${path} ${body ?? ''}`.slice(0, 300);
    assert.equal(here[index].status, response.status, `${asked}: ${here[index].body.slice(0, 300)}`);
    if (assertSame(timeless(path, here[index].body), timeless(path, text), asked)) equal++;
  }
  t.diagnostic(`${all.length} answers to twelve digits, ${equal} of them to the last bit`);
  assert.deepEqual(errors, []);
  await close();
});

test('the page predicts, searches and reads a trace without a server', { timeout: 300_000 }, async () => {
  const { page, errors, close } = await newPage(browser);
  page.setDefaultTimeout(60_000);
  await page.goto(`${site}#/predict?${training}`);
  await page.locator(ready).waitFor();
  await page.locator('footer', { hasText: 'computed in this page' }).waitFor();
  await page.goto(`${site}#/search?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&batch=16&seq=2048&run=1`);
  await page.locator(ready).waitFor();
  await page.goto(`${site}#/profile`);
  await page
    .getByLabel('trace file')
    .first()
    .setInputFiles({ name: 'step.json', mimeType: 'application/json', buffer: Buffer.from(trace()) });
  await page.locator(ready).waitFor();
  assert.deepEqual(errors, []);
  await close();
});
