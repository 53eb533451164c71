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
