// SPDX-License-Identifier: Apache-2.0
// Writes a picture of each view for the documentation: docs/images/VIEW.png.
// Usage: npm run screenshots [-- FOLDER [WIDTH [light|dark [VIEW]]]]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { trace } from './trace.mjs';
import { newPage, root, startBrowser, startServer } from './browser.mjs';

const folder = process.argv[2] ?? join(root, '..', 'docs', 'images');
const width = Number(process.argv[3] ?? 1280);
const colorScheme = process.argv[4] ?? 'light';
const only = process.argv[5];
// Pictures for the documentation end where a reader stops scrolling.
const tallest = process.argv[2] ? 4000 : 1400;

const views = {
  predict: '',
  serving:
    '?kind=infer&model=llama3.1-70b&system=dgx-h100&tp=4&rate=3&input=2000&output=500&precision=fp8&max_ttft_p99=1000&max_tpot_p99=40',
  run: '?kind=train&model=llama3.1-70b&system=dgx-h100&gpus=1024&tp=8&pp=4&interleave=5&microbatch=1&batch=1024&seq=8192&zero=1&recompute=none&tokens=15T&price=2.5',
  fits: '',
  scaling: '',
  model:
    '?kind=infer&model=deepseek-v3&system=dgx-h200&tp=8&batch=8&input=2048&output=256&precision=fp8&layer=layer 20',
  profile: '',
  operators: '',
  compare: '',
  hardware:
    '?kind=infer&model=llama3.1-70b&system=dgx-h100&tp=4&batch=16&input=1024&output=256&precision=fp8&x_bandwidth=200',
  search: '',
  timeline:
    '?kind=train&model=gpt3-175b&system=dgx-a100&gpus=64&tp=8&pp=8&interleave=1&microbatch=1&batch=32&seq=2048&recompute=selective',
  technology: '',
  accuracy: '',
};

mkdirSync(folder, { recursive: true });
const server = await startServer();
const browser = await startBrowser();
try {
  for (const [view, query] of Object.entries(views)) {
    if (only && only !== view) continue;
    const { page, errors, close } = await newPage(browser, {
      viewport: { width, height: 900 },
      colorScheme,
      deviceScaleFactor: process.argv[2] ? 1 : 1.5,
    });
    await page.goto(`${server.url}/#/${view}${query}`);
    if (view === 'profile')
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'trace.json', mimeType: 'application/json', buffer: Buffer.from(trace()) });
    if (view === 'search') await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('.result[data-ready=true]').waitFor({ timeout: 60_000 });
    if (view === 'technology') await page.locator('[data-curves=true]').waitFor({ timeout: 60_000 });
    if (!['compare', 'fits'].includes(view)) await page.locator('.result svg').first().waitFor();
    if (view === 'operators') await page.locator('.plot svg').waitFor();
    await page.waitForTimeout(300);
    // A tall window instead of a stitched page: what sticks to the top stays there.
    const height = Math.min(tallest, await page.evaluate(() => document.documentElement.scrollHeight));
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `${view}.png`) });
    if (errors.length > 0) console.error(`${view}: ${errors.join('; ')}`);
    await close();
  }
} finally {
  await browser.close();
  server.stop();
}
