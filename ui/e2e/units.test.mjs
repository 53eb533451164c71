// SPDX-License-Identifier: Apache-2.0
// What needs no browser: numbers as text, tables as files, areas as boxes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { createDeflateRaw, createInflateRaw } from 'node:zlib';
import { build } from 'esbuild';
import { root } from './browser.mjs';

/** A module of the page, compiled on the spot. */
async function load(path) {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src', path)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    absWorkingDir: root,
    define: { SITE: 'false' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-');

test('numbers have three digits and a unit', async () => {
  const format = await load('format.ts');
  const cases = [
    [format.seconds(8.9214), '8.92 s'],
    [format.seconds(8.9214, 4), '8.921 s'],
    [format.seconds(0.00067581), '676 µs'],
    [format.seconds(7200), '2.00 h'],
    [format.seconds(22809600), '264 days'],
    [format.devices(1), '1 GPU'],
    [format.devices(512), '512 GPUs'],
    [format.seconds(0), '0 ns'],
    [format.seconds(0.99996), '1.00 s'],
    [format.bytes(85899345920), '80.0 GiB'],
    [format.flopRate(989.4e12), '989 TFLOP/s'],
    [format.percent(-0.00001), '0.0 %'],
    [format.percent(0.5), '50.0 %'],
    [format.signedPercent(0.068), '+6.8 %'],
    [format.signedPercent(-0.068), '-6.8 %'],
    [format.grouped(2097152), '2 097 152'],
    [format.grouped(-1234), '-1 234'],
    [format.tokens(131072), '128 Ki'],
    [format.tokens(2048), '2 048'],
    [format.parameters(175e9), '175 B'],
    [format.parameters(64), '64'],
    [format.digits(Number.NaN), '–'],
    [format.times(0.4), '0.400 ×'],
  ];
  for (const [actual, expected] of cases) assert.equal(plain(actual), expected);
});

test('a measurement is read as logs write it', async () => {
  const { readMeasurement } = await load('format.ts');
  const cases = [
    ['9.1', 9.1, 'time'],
    ['9.1s', 9.1, 'time'],
    ['9.1 seconds', 9.1, 'time'],
    ['910 ms/it', 0.91, 'time'],
    ['1.5 min', 90, 'time'],
    ['9 s per step', 9, 'time'],
    ['230k tokens/s', 230000, 'rate'],
    ['230,000 tok/s', 230000, 'rate'],
    ['230 000 tokens/s', 230000, 'rate'],
    ['2.3e5 tokens/s', 230000, 'rate'],
    ['494 tok/s/GPU', 494, 'rateOfOne'],
    ['494 tokens/s a GPU', 494, 'rateOfOne'],
    ['53 %', 0.53, 'share'],
    ['53% MFU', 0.53, 'share'],
    ['410 TFLOP/s', 4.1e14, 'flops'],
    ['410 TFLOPS/GPU', 4.1e14, 'flops'],
  ];
  for (const [text, value, metric] of cases) {
    const read = readMeasurement(text);
    assert.equal(read?.metric, metric, text);
    assert.ok(Math.abs(read.value / value - 1) < 1e-12, text);
  }
  for (const text of ['', 'abc', '-3 s', '0', '1.2.3 s', '9,1 s', '1e400', '9 parsecs', '5 %%', '7 flops'])
    assert.equal(readMeasurement(text), null, text);
});

test('CSV quotes what must be quoted', async () => {
  const { toCsv } = await load('parts/download.ts');
  assert.equal(
    toCsv([
      { a: 1, b: 'x, "y"' },
      { a: null, c: true },
    ]),
    'a,b,c\r\n1,"x, ""y""",\r\n,,true\r\n',
  );
});

test('a treemap keeps areas and stays inside', async () => {
  const { squarify } = await load('parts/treemap.tsx');
  const pieces = [6, 6, 4, 3, 2, 2, 1, 0].map((value, index) => ({ label: String(index), value, tone: '', ink: '' }));
  const boxes = squarify(pieces, 60, 40);
  assert.equal(boxes.length, 7);
  for (const { piece, x, y, w, h } of boxes) {
    assert.ok(Math.abs(w * h - piece.value * 100) < 1e-6);
    assert.ok(x >= -1e-9 && y >= -1e-9 && x + w <= 60 + 1e-9 && y + h <= 40 + 1e-9);
  }
});

test('a logarithmic axis has ticks, however short it is', async () => {
  const { decades } = await load('parts/figure.tsx');
  assert.deepEqual(decades(0.5, 2000), [1, 10, 100, 1000]);
  assert.deepEqual(decades(3, 60), [5, 10, 20, 50]);
  assert.deepEqual(decades(2.2, 9.5), [2.5, 3, 4, 5, 6, 8]);
  assert.deepEqual(decades(0.0105, 0.021), [0.012, 0.015, 0.02]);
});

test('segments that are called the same are told apart', async () => {
  const { segmentsOf } = await load('parts/breakdown.tsx');
  const part = (label, share, parts = []) => ({ label, share, seconds: share, parts });
  const named = segmentsOf([
    part('prefill', 0.4, [part('multiply', 0.3), part('vision', 0.1), part('host', 0.0001)]),
    part('decode', 0.6, [part('multiply', 0.5), part('host', 0.1)]),
  ]).map(({ name }) => name);
  assert.deepEqual(named, ['prefill', 'prefill: multiply', 'vision', 'decode', 'decode: multiply', 'host']);
});

test('numbers are read as people type them', async () => {
  const { wholeNumber } = await load('format.ts');
  for (const [text, value] of [
    ['1024', 1024],
    [' 1,024 ', 1024],
    ['1 024', 1024],
    ['1\u202f024', 1024],
    ['1k', 1024],
    ['4Ki', 4096],
    ['1.5k', 1536],
    ['1M', 1048576],
    ['', null],
    ['0', null],
    ['-8', null],
    ['1,02', null],
    ['1e3', null],
    ['many', null],
    ['1.5', null],
    ['99999999999', 99999999999],
  ])
    assert.equal(wholeNumber(text), value, text);
});

test('a rate, a limit and a share are read as people type them', async () => {
  const { anyNumber, milliseconds, shareOf } = await load('format.ts');
  for (const [typed, value] of [
    ['2.5', 2.5],
    ['1,024', 1024],
    ['.5', 0.5],
    ['0', null],
    ['-1', null],
    ['fast', null],
  ])
    assert.equal(anyNumber(typed), value, typed);
  for (const [typed, value] of [
    ['any', 0],
    ['0', 0],
    ['250', 250],
    ['250 ms', 250],
    ['1.5 s', 1500],
    ['soon', null],
  ])
    assert.equal(milliseconds(typed), value, typed);
  for (const [typed, value] of [
    ['0.8', 0.8],
    ['80', 0.8],
    ['80 %', 0.8],
    ['1', 1],
    ['120', null],
    ['0', null],
  ])
    assert.equal(shareOf(typed), value, typed);
});

test('a quantity is read as the program reads it', async () => {
  const { quantityOf } = await load('format.ts');
  for (const [text, value] of [
    ['8 TB/s', 8e12],
    ["'8TB/s'", 8e12],
    ['400 Gb/s', 5e10],
    ['80 GiB', 80 * 2 ** 30],
    ['1.2 kW', 1200],
    ['989.4e12 FLOP/s', 989.4e12],
    ['3e12', 3e12],
    ['{ low = 1, value = 2, high = 3 }', Number.NaN],
    ['fast', Number.NaN],
  ])
    assert.equal(quantityOf(text), value, text);
});

test('an axis has one unit', async () => {
  const { timeUnit } = await load('format.ts');
  assert.deepEqual(timeUnit(2), { size: 1, unit: 's' });
  assert.deepEqual(timeUnit(0.2), { size: 1e-3, unit: 'ms' });
  assert.deepEqual(timeUnit(2e-5), { size: 1e-6, unit: 'µs' });
});

test('the server’s sentences have the form’s words', async () => {
  const { inWords, labelOf, plainly, popularFirst, strategyLine } = await load('words.ts');
  assert.equal(inWords('max_tpot: expected a quantity'), '“TPOT at most”: expected a quantity');
  assert.equal(inWords('--allow-long goes on all the same'), '“Go beyond the model’s context” goes on all the same');
  assert.equal(inWords('some_other_field is wrong'), 'some_other_field is wrong');
  assert.equal(plainly("core hopper, as H100; --core own: of the node's time"), 'core hopper, as H100');
  assert.equal(plainly('no public price of b200: --price gives one'), 'no public price of b200: “Price” gives one');
  assert.equal(
    plainly("one by one ('sextant traffic --length-ratio')"),
    'one by one (Serving)',
    'what the page offers',
  );
  assert.equal(plainly('checkpoint_bandwidth 122.0703125 MB/s'), 'checkpoint bandwidth 122.1 MB/s');
  assert.equal(plainly('set model.vision.image_size'), 'set model.vision.image_size', 'as one has to type it');
  assert.equal(labelOf('tp'), 'Tensor');
  assert.equal(labelOf('no_such'), 'no such');
  assert.equal(strategyLine({ tp: 8, sp: true, pp: 1, zero: 1, microbatch: 2 }), 'tp 8, sp, microbatch 2, zero 1');
  const systems = popularFirst([{ name: 'a10-node' }, { name: 'dgx-h200' }, { name: 'dgx-h100' }], 'systems');
  assert.deepEqual(
    systems.map(({ name }) => name),
    ['dgx-h100', 'dgx-h200', 'a10-node'],
  );
});

/** The address is the page's state: modules that read it need one. */
async function loadWithAddress(path, hash = '') {
  globalThis.location = { hash, href: `http://x/${hash}` };
  globalThis.history = { state: null, replaceState() {}, pushState() {} };
  globalThis.addEventListener = () => undefined;
  globalThis.document = { getElementById: () => null };
  globalThis.fetch = () => Promise.reject(new Error('no server'));
  return load(path);
}

test('an address is read and written', async () => {
  const { address, examples, parseAddress, requestOf } = await loadWithAddress('state.ts');
  assert.deepEqual(parseAddress('#/run?model=a&tp=8'), { view: 'run', params: { model: 'a', tp: '8' } });
  assert.equal(parseAddress('#/nowhere').view, 'predict');
  assert.deepEqual(parseAddress('').params, examples.train);
  assert.equal(parseAddress('#/predict?kind=infer').params.model, examples.infer.model);
  assert.equal(address('predict', { model: 'a', set: '', fix: 'a,b' }), '#/predict?model=a&fix=a,b');
  const request = requestOf({ kind: 'train', model: 'm', tp: '8', sp: 'true', set: 'a=1; b=2', input: '5', zero: 'x' });
  assert.deepEqual(request, { model: 'm', tp: 8, sp: true, set: ['a=1', 'b=2'] });
  assert.deepEqual(requestOf({ kind: 'infer', model: 'm', input: '5', gpus: '8' }), { model: 'm', input: 5 });
  assert.deepEqual(
    requestOf({ kind: 'train', model: 'm', lora_rank: '16', lora_targets: 'qkv,up', adapter: 'dora', frozen: 'head' }),
    { model: 'm', lora_rank: 16, lora_targets: ['qkv', 'up'], adapter: 'dora', frozen: ['head'] },
  );
  assert.equal(requestOf({ kind: 'train', config: 'unknown' }), null);
  assert.equal(requestOf({ kind: 'train', model: 'm', made: 'node~n3' }), null);
});

test('a second memory is a word of the address, settings of a request, and two shelves of an answer', async () => {
  const { partsOf, shelves, textOf, tierSettings } = await load('tier.ts');
  assert.deepEqual(partsOf('hbf x2'), { name: 'hbf', count: 2 });
  assert.deepEqual(partsOf('lpddr5x'), { name: 'lpddr5x', count: 1 });
  for (const text of [undefined, '', 'none', 'hbf x0', 'hbf x65', 'hbf 2', 'hbf x2 x3', 'x;y x2'])
    assert.equal(partsOf(text), null, text);
  assert.equal(textOf({ name: 'cxl', count: 4 }), 'cxl x4');
  const part = { name: 'hbf', kind: 'HBF', bandwidth: 1.6e12, capacity: 5e11, energy: 7.5e-11, latency: 0 };
  assert.deepEqual(tierSettings({ ...part, read_only: true }, 2), [
    'device.tier.kind=HBF',
    'device.tier.capacity=1000000000000 B',
    'device.tier.bandwidth=3200000000000 B/s',
    'device.tier.energy=7.5e-11 J/B',
    'device.tier.latency=0 s',
    'device.tier.read_only=true',
  ]);
  const one = { weights_bytes: 100, kv_cache_bytes: 20, activation_bytes: 5, other_bytes: 1, total_bytes: 126 };
  assert.equal(shelves({ ...one, capacity_bytes: 80, fits: false }), null);
  const two = shelves({
    ...one,
    capacity_bytes: 580,
    first_capacity_bytes: 80,
    second_capacity_bytes: 500,
    second_weights_bytes: 40,
    second_cache_bytes: 6,
    fits: true,
  });
  assert.deepEqual(
    [two.first.weights_bytes, two.first.kv_cache_bytes, two.first.total_bytes, two.first.capacity_bytes],
    [60, 14, 80, 80],
  );
  assert.deepEqual([two.second.total_bytes, two.second.capacity_bytes], [46, 500]);
});

test('what lies in a second memory is asked of a device that has one', async () => {
  const { requestOf } = await loadWithAddress('state.ts');
  const values = { kind: 'infer', model: 'm', placement: 'spread' };
  assert.deepEqual(requestOf(values), { model: 'm' });
  const set = 'device.tier.capacity=1 B';
  assert.deepEqual(requestOf({ ...values, set }), { model: 'm', placement: 'spread', set: [set] });
});

test('a search asks for what a scenario leaves open, and what it found is a scenario', async () => {
  const { scenarioOf, searchRequest } = await loadWithAddress('search.ts');
  const values = {
    kind: 'train',
    model: 'm',
    system: 's',
    gpus: '64',
    batch: '128',
    tp: '8',
    precision: 'bf16',
    run: '1',
  };
  assert.deepEqual(searchRequest(values), { model: 'm', system: 's', gpus: 64, batch: 128, precision: ['bf16'] });
  const serving = searchRequest({ kind: 'infer', model: 'm', system: 's', max_tpot: '40', batch: '4' });
  assert.deepEqual(serving, { model: 'm', system: 's', gpus: 8, infer: true, max_tpot: '40 ms' });
  const drafted = { kind: 'infer', model: 'm', system: 's', speculate: '3', draft: 'd', allow_long: 'true' };
  const { speculate, draft, allow_long } = searchRequest(drafted);
  assert.deepEqual([speculate, draft, allow_long], [3, 'd', true], 'what is no axis is the frame');
  const found = {
    strategy: {
      tp: 4,
      pp: 2,
      dp: 8,
      cp: 1,
      zero: 1,
      sp: false,
      schedule: '1f1b',
      modules: { norms: true, mlp: false },
    },
    prediction: { gpus: 64 },
  };
  assert.deepEqual(scenarioOf(found, values), {
    kind: 'train',
    model: 'm',
    system: 's',
    gpus: '64',
    batch: '128',
    precision: 'bf16',
    tp: '4',
    pp: '2',
    zero: '1',
    sp: 'false',
    recompute_modules: 'norms',
  });
});

test('a recipe of a device is a word of an address', async () => {
  const { recipeOf, requestOfRecipe } = await loadWithAddress('made.ts');
  const fields = { area: '814 mm2', dies: 2, network: 'ib-ndr', node: 'n3', dram: 'hbm4' };
  assert.equal(recipeOf(fields), 'area~814 mm2,dies~2,network~ib-ndr,node~n3,dram~hbm4');
  assert.deepEqual(requestOfRecipe(recipeOf(fields)), fields);
  assert.deepEqual(requestOfRecipe('what,is~,~this'), {});
});

test('a graph’s layers are in order, between the embedding and the head', async () => {
  const { amountOf, between, layersOf, operatorsOf, shareOf, sharesOf } = await load('graph.ts');
  const branch = (name, layers, operators = []) => ({
    name,
    layers,
    operators,
    parameters: 5,
    flops_per_token: 10,
    cache_bytes_per_token: 2,
  });
  const branches = [
    branch('attention', 3),
    branch('mlp', 1),
    branch('experts', 2),
    branch('embedding', 1),
    branch('head', 1),
  ];
  const stretches = [
    { first: 0, count: 1, mixer: 'attention', mlp: 'mlp' },
    { first: 1, count: 2, mixer: 'attention', mlp: 'experts' },
  ];
  const layers = layersOf({ stretches, branches });
  assert.deepEqual(
    layers.map(({ name }) => name),
    ['embedding', 'layer 0', 'layer 1', 'layer 2', 'head'],
  );
  assert.deepEqual(
    layers[2].branches.map(({ name }) => name),
    ['attention', 'experts'],
  );
  const sees = [branch('patches', 1), branch('image mlp', 9), ...branches];
  assert.deepEqual(
    layersOf({ stretches, branches: sees }).map(({ name }) => name),
    ['patches', 'image mlp', 'embedding', 'layer 0', 'layer 1', 'layer 2', 'head'],
    'what makes tokens of images stands before the layers',
  );
  const alone = layersOf({ stretches: [{ first: 0, count: 1, mixer: '', mlp: 'mlp' }], branches: branches.slice(1) });
  assert.deepEqual(
    alone.map(({ tones }) => tones),
    [['rest'], ['rest'], ['work-2'], ['rest']],
    'a layer of one branch is no embedding',
  );
  const run = (node, message_bytes = 0) => ({ branch: 'attention', node, message_bytes, exposed_seconds: 1, runs: 3 });
  const shares = sharesOf([run('qkv'), run('qkv'), run('output', 9), { ...run('x'), branch: '' }], 10);
  assert.deepEqual([...shares.keys()], ['attention']);
  assert.deepEqual([...shares.get('attention').keys()], ['qkv', between]);
  assert.ok(Math.abs(shareOf(shares, branches[0]) - 0.9) < 1e-12);
  assert.ok(Math.abs(amountOf(branches[0], 'time', shares) - 0.3) < 1e-12);
  assert.equal(amountOf(branches[0], 'cache', shares), 2);
  const norm = {
    name: 'norm',
    parameters: 1,
    active_parameters: 1,
    flops_per_token: 0,
    cache_bytes_per_token: 0,
    state_bytes: 0,
  };
  const rows = operatorsOf(branch('attention', 3, [norm, { ...norm, name: 'qkv' }, norm]));
  assert.deepEqual(
    rows.map(({ name, parameters }) => [name, parameters]),
    [
      ['norm', 2],
      ['qkv', 1],
    ],
  );
});

test('a trace has a row for each kind of work, and one for idling', async () => {
  const { rowsOf, sayPiece, stepsOf } = await load('profile.ts');
  const kinds = ['multiply', 'attention', 'norm', 'softmax', 'copy', 'optimizer', 'streaming'].map((kind) => ({
    kind,
  }));
  const piece = (kind, label) => ({ kind, label, start_seconds: 1, seconds: 0.5 });
  const { names, spans } = rowsOf({
    kinds,
    pieces: [piece('multiply', 'mm'), piece('streaming', 'mul'), piece('idle', 'host')],
  });
  assert.deepEqual(names, ['multiply', 'attention', 'norm', 'softmax', 'copy', 'other work', 'idle']);
  assert.deepEqual(
    spans.map(({ stage, kind }) => [stage, kind]),
    [
      [0, 'multiply'],
      [5, 'streaming'],
      [6, 'bubble'],
    ],
  );
  assert.equal(plain(sayPiece(spans[2])), 'idle: waits for the host, 500 ms from 1.000 s');
  assert.equal(stepsOf({ steps: [] }), 1);
});

test('what an answer used fills the form', async () => {
  const { usedBy, usedBySearch } = await load('used.ts');
  const answer = {
    step_seconds: 1,
    runtime: 'r',
    gpus: 8,
    predict_ahead: 1,
    training: { batch: 16, seq: 2048, lora_rank: 8, lora_targets: { qkv: true, up: false }, frozen: {} },
    strategy: { tp: 8, sp: true, modules: { norms: true, mlp: false } },
  };
  assert.deepEqual(usedBy(answer), {
    runtime: 'r',
    gpus: '8',
    tp: '8',
    sp: 'true',
    recompute_modules: 'norms',
    batch: '16',
    seq: '2048',
    lora_rank: '8',
    lora_targets: 'qkv',
    frozen: '',
    predict_ahead: '1',
  });
  assert.deepEqual(usedBy(null), {});
  assert.deepEqual(usedBySearch({ runtime: 'r', gpus: 8, batch: 4 }), { runtime: 'r', gpus: '8', batch: '4' });
});

/** What browsers have and Node has from 20.12 on: Debian 12 comes with 18. */
function provideRawDeflate() {
  try {
    new CompressionStream('deflate-raw');
  } catch {
    globalThis.CompressionStream = function deflate() {
      return Duplex.toWeb(createDeflateRaw());
    };
    globalThis.DecompressionStream = function inflate() {
      return Duplex.toWeb(createInflateRaw());
    };
  }
}

test('a config.json is packed into a word, and comes back', async () => {
  provideRawDeflate();
  const { configTitle, packConfig, parseConfig } = await loadWithAddress('configs.ts');
  assert.throws(() => parseConfig('{"a": '), /not JSON/);
  assert.throws(() => parseConfig('[1]'), /object of a config/);
  assert.match(await packConfig({ model_type: 'llama' }), /^[\w-]+$/);
  assert.equal(configTitle({ model_type: 'llama' }), 'llama');
  assert.equal(configTitle(undefined), 'your config.json');
});

test('a schedule’s frame stays inside the step', async () => {
  const { clamp, moved, tickText, zoomed } = await load('schedule.ts');
  assert.deepEqual(clamp({ from: -1, to: 1 }, 10), { from: 0, to: 2 });
  assert.deepEqual(moved({ from: 8, to: 10 }, 5, 10), { from: 8, to: 10 });
  assert.deepEqual(zoomed({ from: 0, to: 10 }, 0.5, 5, 10), { from: 2.5, to: 7.5 });
  assert.equal(plain(tickText(0.25, 0.5)), '250 ms');
});

test('a running search says its best and how much better any other may be', async () => {
  const { bestSoFar } = await load('search.ts');
  const best = { summary: 'tp 8, pp 4', gap: 0.034, step_seconds: 12.345 };
  assert.deepEqual(Object.values(bestSoFar(best)).map(plain), [
    '12.35 s a step',
    'tp 8, pp 4',
    'none is more than 3.4 % better',
  ]);
  assert.match(bestSoFar({ ...best, gap: 1 }).gap, /not known yet/);
  assert.equal(bestSoFar({ ...best, gap: 0 }).gap, 'none is better');
});
