// SPDX-License-Identifier: Apache-2.0
// Every view, light and dark, wide and narrow, by the rules of axe: nothing serious may be wrong.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { root } from './browser.mjs';
import { ready, serving, suite, training } from './suite.mjs';
import { trace } from './trace.mjs';

const { check, together, visit } = suite();

const axe = readFileSync(join(root, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');

const addresses = {
  start: '',
  predict: `#/predict?${serving}`,
  misfit: '#/predict?kind=infer&model=llama2-70b&system=dgx-h100&tp=1&batch=1&input=200&output=200&precision=bf16',
  serving: '#/serving?kind=infer&model=llama3.1-8b&system=dgx-h100&tp=1&rate=8&input=512&output=64',
  run: `#/run?${training}`,
  fits: `#/fits?${serving}`,
  scaling: '#/scaling?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&batch=256&gpus_to=32',
  search: '#/search?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&batch=16&seq=2048&run=1',
  compare: `#/compare?${training}`,
  hardware: `#/hardware?${training}&x_bandwidth=200`,
  model: `#/model?${serving}`,
  profile: '#/profile',
  operators: `#/operators?${serving}`,
  timeline: `#/timeline?${training}`,
  technology: '#/technology',
  accuracy: '#/accuracy',
};

/** What axe finds of consequence: its rule, and where. */
async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map((node) => `${node.target} ${node.failureSummary}`)
          .join(' | ')}`,
    );
}

describe('axe', together, () => {
  for (const [name, address] of Object.entries(addresses))
    check(`${name} has no serious finding`, async () => {
      for (const [colorScheme, width] of [
        ['light', 1280],
        ['dark', 390],
      ])
        await visit(
          address,
          async (page) => {
            if (name === 'profile')
              await page
                .locator('input[type=file]')
                .first()
                .setInputFiles({ name: 't.json', mimeType: 'application/json', buffer: Buffer.from(trace()) });
            await page.locator(ready).waitFor();
            if (name === 'technology') await page.locator('[data-curves=true]').waitFor();
            assert.deepEqual(await findings(page), [], `${colorScheme}, ${width} px`);
          },
          { colorScheme, viewport: { width, height: 900 } },
        );
    });
});
