// SPDX-License-Identifier: Apache-2.0
// What the browser tests share: a server and a browser for a file of them, and how a page is asked and waited for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { after, before, test } from 'node:test';
import { newPage, startBrowser, startServer } from './browser.mjs';

export const training =
  'kind=train&model=gpt3-175b&system=dgx-a100&gpus=64&tp=8&pp=8&microbatch=1&batch=64&seq=2048&recompute=selective&precision=bf16';
export const serving = 'kind=infer&model=llama2-13b&system=dgx-h100&tp=2&batch=4&input=512&output=128&precision=bf16';
export const ready = '.result[data-ready=true]';

/** A small model as Hugging Face describes it. */
export const config = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: 2048,
  intermediate_size: 5632,
  num_hidden_layers: 22,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  vocab_size: 32000,
  max_position_embeddings: 2048,
  hidden_act: 'silu',
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
};

/** What the API is asked for an address of Predict: numbers are numbers. */
export const fieldsOf = (query) =>
  Object.fromEntries(
    [...new URLSearchParams(query)]
      .filter(([name]) => name !== 'kind')
      .map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  );

export const field = (page, name) => page.locator(`[data-field="${name}"]`);
export const mainValue = (page) => page.locator('.headline.main .value').innerText();

/** Types a value into a field and leaves it. */
export async function typeInto(input, text) {
  await input.fill(text);
  await input.press('Enter');
}

/** The text of the file that a click on this saves. */
export async function savedBy(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await download.path(), 'utf8');
}

/** How long a machine that does other work beside may take to show what it has been asked for. */
const patience = 45_000;

/** Waits for a condition that the page reaches by itself. */
export async function until(holds, what) {
  for (const start = Date.now(); Date.now() - start < patience;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  assert.fail(what);
}

/** Waits until the headline is another one, and returns it. */
export async function changed(page, from) {
  await page.waitForFunction((old) => {
    const now = document.querySelector('.headline.main .value')?.textContent;
    return now && now !== old;
  }, from);
  return mainValue(page);
}

/** Starts a server and a browser for the file that calls it. */
export function suite() {
  let server;
  let browser;
  before(async () => {
    [server, browser] = await Promise.all([startServer(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });

  /** No test may take longer: a page that hangs is a fault. */
  const check = (name, run) => test(name, { timeout: 120_000 }, run);

  /** Opens an address, hands the page to `inspect`, and then wants no complaint of the browser. */
  async function visit(address, inspect, options = {}) {
    const { page, errors, close } = await newPage(browser, options);
    page.setDefaultTimeout(patience);
    try {
      await page.goto(`${server.url}/${address}`);
      await inspect(page, errors);
      assert.deepEqual(errors, [], 'the console stays silent');
    } finally {
      await close();
    }
  }

  /** The same, once the view has its answer. */
  const visitReady = (address, inspect, options) =>
    visit(
      address,
      async (page, errors) => {
        await page.locator(ready).waitFor();
        await inspect(page, errors);
      },
      options,
    );

  async function api(path, body) {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  return {
    api,
    browser: () => browser,
    changed,
    check,
    field,
    mainValue,
    server: () => server,
    /** Pages wait more than they work: a few at a time. */
    together: { concurrency: Math.max(2, Math.min(4, cpus().length)) },
    until,
    visit,
    visitReady,
  };
}
