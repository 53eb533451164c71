// SPDX-License-Identifier: Apache-2.0
// What needs no browser: numbers as text, tables as files, areas as boxes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
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
    [format.digits(Number.NaN), '–'],
    [format.times(0.4), '0.400 ×'],
  ];
  for (const [actual, expected] of cases) assert.equal(plain(actual), expected);
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
    ['99999999999', null],
  ])
    assert.equal(wholeNumber(text), value, text);
});

test('an axis has one unit', async () => {
  const { timeUnit } = await load('format.ts');
  assert.deepEqual(timeUnit(2), { size: 1, unit: 's' });
  assert.deepEqual(timeUnit(0.2), { size: 1e-3, unit: 'ms' });
  assert.deepEqual(timeUnit(2e-5), { size: 1e-6, unit: 'µs' });
});

test('the server’s sentences have the form’s words', async () => {
  const { inWords, labelOf, popularFirst, strategyLine } = await load('words.ts');
  assert.equal(inWords('max_tpot: expected a quantity'), '“TPOT at most”: expected a quantity');
  assert.equal(inWords('--allow-long goes on all the same'), '“Beyond the model’s context” goes on all the same');
  assert.equal(inWords('some_other_field is wrong'), 'some_other_field is wrong');
  assert.equal(labelOf('tp'), 'Tensor');
  assert.equal(labelOf('no_such'), 'no such');
  assert.equal(strategyLine({ tp: 8, sp: true, pp: 1, zero: 1, microbatch: 2 }), 'tp 8, sp, microbatch 2, zero 1');
  const systems = popularFirst([{ name: 'a10-node' }, { name: 'dgx-h200' }, { name: 'dgx-h100' }], 'systems');
  assert.deepEqual(
    systems.map(({ name }) => name),
    ['dgx-h100', 'dgx-h200', 'a10-node'],
  );
});

test('a schedule’s frame stays inside the step', async () => {
  const { clamp, moved, tickText, zoomed } = await load('schedule.ts');
  assert.deepEqual(clamp({ from: -1, to: 1 }, 10), { from: 0, to: 2 });
  assert.deepEqual(moved({ from: 8, to: 10 }, 5, 10), { from: 8, to: 10 });
  assert.deepEqual(zoomed({ from: 0, to: 10 }, 0.5, 5, 10), { from: 2.5, to: 7.5 });
  assert.equal(plain(tickText(0.25, 0.5)), '250 ms');
});
