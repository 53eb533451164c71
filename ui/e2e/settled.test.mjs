// SPDX-License-Identifier: Apache-2.0
// What stands on the page belongs together: titles, forms and numbers of one question, in the page's own words, each as
// sure as it is.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { fieldsOf, ready, serving, suite, training, typeInto } from './suite.mjs';

const { api, check, field, mainValue, together, until, visit, visitReady } = suite();

const subtitle = (page) => page.locator('.subtitle').first().innerText();
const choose = async (page, label, name) => {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('combobox', { name: label }).fill(name);
  await page.locator('[role=option] b', { hasText: new RegExp(`^${name}$`) }).click();
};

/** Holds the answers of a path back until the returned function lets them through. */
async function hold(page, path) {
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(`**/api/v1${path}`, async (route) => {
    await held;
    await route.continue().catch(() => undefined); // given up meanwhile
  });
  return release;
}

describe('images', together, () => {
  check('of a model that sees are chosen, and cost what they cost', () =>
    visitReady('#/predict?kind=infer&model=qwen2.5-vl-7b&system=dgx-h100&input=500&output=50', async (page) => {
      const first = async () => Number.parseFloat(await page.locator('.headline .value').nth(1).innerText());
      const before = await first();
      await field(page, 'images').getByRole('button', { name: 'Images: more' }).click();
      await page.waitForURL(/images=1(&|$)/);
      await page.locator('.subtitle', { hasText: '500 tokens and 1 image in' }).waitFor();
      assert.ok((await first()) > 2 * before, 'the tower takes its time');
      await page.locator('[data-figure=breakdown] tr', { hasText: 'vision' }).first().waitFor();
    }),
  );

  check('of a sequence are those it has room for; a model that sees none has no such field', () =>
    visitReady('#/predict?kind=train&model=qwen2.5-vl-7b&system=dgx-h100&gpus=8&seq=4096', async (page) => {
      assert.equal(await field(page, 'images').locator('input[type=range]').getAttribute('max'), '2');
      await choose(page, 'Model', 'llama3.1-8b');
      await page.locator('h1', { hasText: 'llama3.1-8b' }).waitFor();
      await field(page, 'images').waitFor({ state: 'detached' });
    }),
  );

  check('that a model cannot see are refused by name, and stepped back', () =>
    visit('#/predict?kind=infer&model=llama3.1-8b&system=dgx-h100&images=2', async (page, errors) => {
      await page.locator('.placeholder .problem', { hasText: /^Images: / }).waitFor();
      await field(page, 'images').getByRole('button', { name: 'Images: less' }).click();
      await page.locator(ready).waitFor();
      errors.length = 0;
    }),
  );
});

describe('drafts', together, () => {
  const more = (page) => page.locator('summary', { hasText: /^More$/ }).click();

  check('are proposed by a model that is chosen, and leave with all that goes with them', () =>
    visitReady(`#/predict?${serving}`, async (page) => {
      await more(page);
      assert.equal(await field(page, 'draft').count(), 0, 'nobody drafts');
      await field(page, 'speculate').getByRole('button', { name: 'Speculate: more' }).click();
      await page.locator('.subtitle', { hasText: '1 token drafted a step' }).waitFor();
      await choose(page, 'Draft model', 'llama2-7b');
      await page.locator('.subtitle', { hasText: '1 token drafted a step by llama2-7b' }).waitFor();
      await typeInto(field(page, 'acceptance').locator('.typed'), '65 %');
      await page.waitForURL(/acceptance=0\.65/);
      // It reads the prompt, and proposes.
      await page.locator('[data-figure=breakdown] tr', { hasText: 'proposes tokens' }).nth(1).waitFor();
      await field(page, 'speculate').getByRole('button', { name: 'Speculate: less' }).click();
      await page.waitForURL((url) => !/speculate|draft|acceptance/.test(url.hash));
      await page.locator(ready).waitFor();
    }),
  );

  check('without tokens to propose are refused beside the field, which is in sight', () =>
    visit(`#/predict?${serving}&acceptance=0.5`, async (page, errors) => {
      await field(page, 'acceptance').locator('.problem', { hasText: 'there is no speculation' }).waitFor();
      await field(page, 'speculate').getByRole('button', { name: 'Speculate: more' }).click();
      await page.locator(ready).waitFor();
      errors.length = 0;
    }),
  );

  check('are of the engines under load as well', () =>
    visitReady('#/serving?kind=infer&model=llama2-7b&system=dgx-h100&tp=1&rate=1&input=64&output=16', async (page) => {
      const token = () => page.locator('.headline .value').nth(2).innerText();
      const before = await token();
      await more(page);
      await field(page, 'speculate').getByRole('button', { name: 'Speculate: more' }).click();
      await until(async () => (await page.locator(ready).count()) > 0 && (await token()) !== before, 'drafts count');
    }),
  );

  check('of training are the prediction layers of models that have some', () =>
    visitReady('#/predict?kind=train&model=deepseek-v3&system=dgx-h100&gpus=256&tp=8&pp=4&ep=8', async (page) => {
      await more(page);
      await page.locator('.subtitle', { hasText: '1 predicted ahead' }).waitFor();
      await field(page, 'predict_ahead').getByRole('button', { name: 'Prediction layers: less' }).click();
      await page.waitForURL(/predict_ahead=0/);
      await until(async () => !/ahead/.test(await subtitle(page)), 'none is trained');
      await choose(page, 'Model', 'llama3.1-8b');
      await page.locator('h1', { hasText: 'llama3.1-8b' }).waitFor();
    }),
  );
});

describe('adapters', together, () => {
  const tuned = '#/predict?kind=train&model=llama3.1-8b&system=dgx-h100&gpus=8&batch=16&seq=4096&recompute=full';

  check('are trained beside frozen weights, of a rank, on parts, and all of it stays in the link', () =>
    visitReady(tuned, async (page) => {
      const whole = await mainValue(page);
      const parts = field(page, 'lora_targets');
      assert.equal(await parts.count(), 0, 'all weights are trained');
      await field(page, 'adapter').getByText('QLoRA', { exact: true }).click();
      await page.waitForURL(/adapter=qlora&lora_rank=16/);
      const trained = (words) => page.locator('.subtitle', { hasText: words }).waitFor();
      await trained('trained: QLoRA of rank 16 on qkv, output, up, down, 35.7 M of 8.03 B parameters');
      assert.notEqual(await mainValue(page), whole);
      await typeInto(field(page, 'lora_rank').locator('.typed'), '64');
      for (const part of ['up', 'down']) await parts.getByLabel(part, { exact: true }).uncheck();
      await trained('QLoRA of rank 64 on qkv, output,');
      await page.waitForURL(/lora_rank=64&lora_targets=qkv,output/);
      assert.equal(await parts.getByLabel('experts').count(), 0, 'a dense model has none');
      await page.reload();
      await trained('QLoRA of rank 64 on qkv, output,');
      assert.ok(!(await parts.getByLabel('up', { exact: true }).isChecked()));
      await field(page, 'adapter').getByText('all', { exact: true }).click();
      await page.waitForURL((url) => !/lora|adapter/.test(url.hash));
      await until(async () => (await mainValue(page)) === whole, 'as it was');
      assert.doesNotMatch(await subtitle(page), /trained/);
    }),
  );

  for (const view of ['run', 'timeline'])
    check(`are named in ${view} as well`, () =>
      visitReady(`${tuned.replace('predict', view)}&pp=2&adapter=lora&lora_rank=8`, async (page) => {
        assert.match(await subtitle(page), /trained: LoRA of rank 8 on qkv, output, up, down/);
      }),
    );

  check('are of one column of Compare, which is named by them', () =>
    visitReady(`${tuned.replace('predict', 'compare')}&adapter=qlora&lora_rank=16&with=|lora_rank:0`, async (page) => {
      const names = () => page.locator('[data-figure=compare-breakdown]').innerText();
      assert.match(await names(), /A lora rank 16/);
      const rank = page.getByLabel('adapters’ rank of scenario 2');
      assert.equal(await rank.inputValue(), '0');
      await rank.selectOption('64');
      await until(async () => /B lora rank 64/.test(await names()), 'another rank');
    }),
  );

  check('without a rank are refused beside the field, and parts that are frozen are named', () =>
    visit(`${tuned}&adapter=dora`, async (page, errors) => {
      await field(page, 'adapter')
        .locator('.problem', { hasText: /there are no adapters.*“Rank”/ })
        .waitFor();
      await page.goto(page.url().replace('adapter=dora', 'lora_rank=-4'));
      await field(page, 'lora_rank').locator('.problem', { hasText: 'expected 0 to 100000, not -4' }).waitFor();
      await page.goto(page.url().replace('lora_rank=-4', 'frozen=embedding,head'));
      await page.locator('.subtitle', { hasText: 'trained: all but embedding, head, 6.98 B of 8.03 B' }).waitFor();
      errors.length = 0;
    }),
  );
});

describe('how sure it is', together, () => {
  const bars = {
    predict: [`#/predict?${serving}`, 3],
    training: [`#/predict?${training}`, 4],
    serving: ['#/serving?kind=infer&model=llama3.1-8b&system=dgx-h100&tp=1&rate=8&input=512&output=64', 3],
    run: [`#/run?${training}&price=2`, 3],
    scaling: ['#/scaling?kind=train&model=gpt3-6.7b&system=dgx-a100&batch=256&gpus_to=16', 1],
    search: ['#/search?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&batch=16&seq=2048&run=1', 1],
    'what if': [`#/hardware?${training}&x_bandwidth=200`, 3],
    technology: ['#/technology?node=n3&dram=hbm4', 4],
    timeline: [`#/timeline?${training}`, 1],
  };
  for (const [view, [address, count]] of Object.entries(bars))
    check(`${view}: large numbers have error bars`, () =>
      visitReady(address, async (page) => {
        const shown = page.locator('.headlines .error-bar');
        await shown.nth(count - 1).waitFor();
        for (const text of await shown.allInnerTexts()) assert.doesNotMatch(text, /NaN|–\s*–/);
      }),
    );

  check('serving: whatever interval an answer has is shown beside its number', () =>
    visit('', async (page) => {
      const given = [
        'output_tokens_per_second',
        'dollars_per_million_tokens',
        'joules_per_token',
        'capacity_requests_per_second',
      ];
      await page.route('**/api/v1/traffic', async (route) => {
        const response = await route.fetch();
        const answer = await response.json();
        for (const name of given) {
          answer[`${name}_low`] = answer[name] / 2;
          answer[`${name}_high`] = answer[name] * 4;
        }
        await route.fulfill({ response, json: answer });
      });
      const base = new URL('/#/serving', page.url()).href;
      await page.goto(`${base}?kind=infer&model=llama3.1-8b&system=dgx-h100&tp=1&rate=8&input=512&output=64`);
      await page.locator(ready).waitFor();
      const whole = async (label) =>
        (await page.locator('.headline', { hasText: label }).innerText()).replace(/[^\d.$–%]+/g, ' ');
      const [, value, low, high] = /(\d+) % (\d+) – (\d+) %/.exec(await whole('of what it can serve')).map(Number);
      assert.ok(Math.abs(low - value / 4) <= 0.7 && Math.abs(high - value * 2) <= 1.1, `${low} – ${value} – ${high}`);
      for (const label of ['tokens/s', 'a million tokens']) assert.match(await whole(label), /\d –/, label);
    }),
  );

  check('serving: what is as sure as the rate that was given has no bar', () =>
    visitReady('#/serving?kind=infer&model=llama3.1-70b&system=dgx-h100&tp=4&rate=3', async (page) => {
      const bars = (label) => page.locator('.headline', { hasText: label }).locator('.error-bar').count();
      assert.equal(await bars('of what it can serve'), 1);
      assert.equal(await bars('tokens/s'), 0);
    }),
  );

  check('what if: the ratio has the interval that comparing the two has', () =>
    visitReady(`#/hardware?${serving}&x_bandwidth=200`, async (page) => {
      const base = fieldsOf(serving);
      const doubled = { ...base, set: ['device.memory.bandwidth=6.7 TB/s'] };
      const { body } = await api('/compare', { kind: 'infer', scenarios: [base, doubled] });
      const { ratio_low: low, ratio_high: high } = body.differences[0];
      const words = `${(1 / high).toPrecision(3)} – ${(1 / low).toPrecision(3)}\u202f×`;
      await page.locator('.headline.main .error-bar', { hasText: words }).waitFor();
    }),
  );

  check('what if: a ratio is of two answers to one scenario, whichever comes first', () =>
    visitReady(`#/hardware?${serving}`, async (page) => {
      await page.route('**/api/v1/infer', async (route) => {
        if (!route.request().postDataJSON().choices) await new Promise((resolve) => setTimeout(resolve, 800));
        await route.continue();
      });
      const seen = await page.evaluateHandle(() => {
        const all = new Set();
        const note = () => all.add(document.querySelector('.headline.main .value')?.textContent);
        new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
        return all;
      });
      await typeInto(page.getByLabel('Batch, typed'), '32');
      await page.locator('.subtitle').waitFor();
      await until(async () => /batch=32/.test(page.url()), 'the address has the new batch');
      await page.waitForTimeout(1200);
      assert.deepEqual(await seen.evaluate((all) => [...all].filter((text) => text !== '1.00')), []);
    }),
  );

  check('technology: the cost is all of its parts; what was measured has no interval', () =>
    visitReady('#/technology?node=n7&dram=hbm2e', async (page) => {
      const { body } = await api('/tech', { node: 'n7', dram: 'hbm2e', area: '814 mm2', network: 'ib-ndr' });
      const cost = page.locator('.headline', { hasText: 'cost' });
      assert.equal((await cost.locator('.value').innerText()).replace(/[^\d]/g, ''), body.cost_dollars.toFixed(0));
      assert.match(await cost.innerText(), /board \$/);
      await page.locator('[data-curves=true]').waitFor();
      assert.equal(await page.locator('.headlines .error-bar').count(), 0);
    }),
  );

  check('compare: bars have theirs, and a difference how likely it is', () =>
    visitReady(`#/compare?${training}&with=system:dgx-a100|system:dgx-h100`, async (page) => {
      assert.equal(await page.locator('[data-figure=compare-step] .whisker').count(), 2);
      assert.equal(await page.locator('[data-figure=compare-memory] .whisker').count(), 0);
      assert.equal(await page.locator('[data-figure=compare-energy-a-token] .whisker').count(), 2);
      await page.getByText(/Nine times in ten it is 1\.\d+\s× to [23]\.\d+\s×/).waitFor();
      const said = await page.locator('[data-figure=factors-A-B]').innerText();
      assert.match(said, /Surely B is the faster\.|B is the faster with \d+.% certainty\./);
    }),
  );
});

describe('serving', together, () => {
  const small = 'kind=infer&model=llama3.1-8b&system=dgx-h100&tp=1&rate=4&input=512&output=64';

  check('another model gets engines that hold it, and sliders that run', () =>
    visitReady(`#/serving?${small}`, async (page) => {
      assert.ok(await field(page, 'tp').locator('input').isEnabled());
      await choose(page, 'Model', 'deepseek-v3');
      await page.locator('h1', { hasText: 'deepseek-v3 served by' }).waitFor();
      assert.equal(await page.locator('.refused').count(), 0);
      assert.ok((await field(page, 'ep').count()) > 0, 'experts are spread or not');
      await choose(page, 'Model', 'llama3.1-8b');
      await page.locator('h1', { hasText: 'llama3.1-8b served by' }).waitFor();
      await choose(page, 'System', 'm3-ultra-node');
      await page.locator('h1', { hasText: 'llama3.1-8b served by 1 GPU of m3-ultra-node' }).waitFor();
      assert.equal(await field(page, 'tp').locator('input[type=range]').getAttribute('max'), '0', 'one device');
    }),
  );

  check('any rate and limit may be typed; Reset is a click', () =>
    visitReady(`#/serving?${small}`, async (page) => {
      await typeInto(field(page, 'rate').locator('.typed'), '2.5');
      await page.waitForURL(/rate=2\.5/);
      await typeInto(field(page, 'max_ttft_p99').locator('.typed'), '1.5 s');
      await page.waitForURL(/max_ttft_p99=1500/);
      await typeInto(field(page, 'max_ttft_p99').locator('.typed'), '0');
      await page.waitForURL((url) => !/max_ttft/.test(url.hash));
      assert.equal(await page.locator('.problem').count(), 0);
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.waitForURL(/llama3-70b/);
    }),
  );

  check('the fewest GPUs are sought for the requests at hand: their lengths, their trace', () =>
    visitReady(`#/serving?${small}&input=2048&max_ttft_p99=1000&max_tpot_p99=20`, async (page) => {
      const asked = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/best')) asked.push(request.postDataJSON());
      });
      const find = async () => {
        await page.getByRole('button', { name: 'Find the fewest GPUs' }).click();
        await page.locator('[aria-label="Layouts that keep the limits"] tbody tr').first().waitFor();
      };
      await field(page, 'lengths').getByText('lognormal').click();
      await field(page, 'arrivals').getByText('evenly').click();
      await page.waitForURL(/arrivals=uniform/);
      await find();
      assert.deepEqual([asked[0].lengths, asked[0].traffic, asked[0].input], ['lognormal', 'uniform', 2048]);
      await page.getByText('as recorded').click();
      const lines = ['arrival,input,output', ...Array.from({ length: 100 }, (_, i) => `${i / 4},${100 + i},20`)];
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'day.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) });
      await page.locator('.planner', { hasText: 'the requests of the trace' }).waitFor();
      await page.locator(ready).waitFor();
      await find();
      assert.equal(asked[1].traffic, lines.join('\n'));
      assert.equal(asked[1].rate, undefined, 'its own');
    }),
  );

  check('as many requests are sent as the link says', () =>
    visitReady(`#/serving?${small}&requests=300`, async (page) => {
      assert.match(await subtitle(page), /; 300 requests over/);
    }),
  );

  check('users who wait have no rate to plan for', () =>
    visitReady(`#/serving?${small}&arrivals=closed`, async (page) => {
      assert.equal(await page.locator('.planner').count(), 0);
    }),
  );
});

describe('what is overridden', together, () => {
  const title = (page) => page.locator('h1').innerText();
  const plain = (text) => text.replaceAll('\u202f', ' ');

  check('is named beside the system, and leaves with it', () =>
    visitReady(
      '#/hardware?kind=infer&model=llama3-8b&system=dgx-a100&tp=1&batch=1&input=1024&output=256&x_bandwidth=200&set=model.layers=30',
      async (page) => {
        await page.getByRole('link', { name: 'Open it in Predict' }).click();
        await page.locator('h1', { hasText: 'of dgx-a100 with' }).waitFor();
        const words = 'dgx-a100 with model.layers = 30, device.memory.bandwidth = 4.08 TB/s';
        assert.ok(plain(await title(page)).endsWith(words), await title(page));
        assert.doesNotMatch(page.url(), /x_bandwidth/, 'it would count twice');
        await page.locator(ready).waitFor();
        const release = await hold(page, '/infer');
        await choose(page, 'System', 'dgx-b200');
        await page.waitForURL((url) => /system=dgx-b200/.test(url.hash) && !/device/.test(url.hash));
        assert.ok(plain(await title(page)).endsWith(words), 'what is shown is of the last system');
        release();
        await page.locator('h1', { hasText: 'dgx-b200 with model.layers = 30' }).waitFor();
        assert.doesNotMatch(await title(page), /bandwidth/);
      },
    ),
  );

  for (const [view, where] of [
    ['predict', 'h1'],
    ['run', '.subtitle'],
    ['timeline', '.subtitle'],
    ['operators', '.subtitle'],
    ['model', '.subtitle'],
  ])
    check(`is named in ${view}`, () =>
      visitReady(`#/${view}?${training}&set=device.memory.bandwidth=8+TB/s`, async (page) => {
        await page.locator(where, { hasText: 'with device.memory.bandwidth = 8 TB/s' }).first().waitFor();
      }),
    );

  check('is named in serving', () =>
    visitReady(
      '#/serving?kind=infer&model=llama3.1-8b&system=dgx-h100&tp=1&rate=4&input=64&output=16&set=device.power.limit=500+W',
      async (page) => {
        await page.locator('h1', { hasText: 'of dgx-h100 with device.power.limit = 500 W' }).waitFor();
      },
    ),
  );

  check('compare: is of the columns of its system alone', () =>
    visitReady(`#/compare?${serving}&set=device.memory.bandwidth=8+TB/s&with=|system:dgx-a100`, async (page) => {
      assert.equal(await page.getByLabel('What if of scenario 1').inputValue(), 'device.memory.bandwidth=8 TB/s');
      assert.equal(await page.getByLabel('What if of scenario 2').inputValue(), '');
    }),
  );

  check('what if: is what a resource starts from', () =>
    visitReady(
      '#/hardware?kind=train&model=llama2-13b&system=dgx-h100&gpus=32&tp=2&pp=2&microbatch=1&batch=64&seq=4096&set=device.memory.bandwidth+%3D+8+TB/s',
      async (page) => {
        const bandwidth = field(page, 'x_bandwidth');
        assert.equal(plain(await bandwidth.locator('output').innerText()), '8.00 TB/s');
        assert.match(await subtitle(page), /^As dgx-h100 with device\.memory\.bandwidth = 8 TB\/s is/);
        await bandwidth.getByRole('button', { name: 'Memory bandwidth: more' }).click();
        await page.locator('.headline.main dt', { hasText: 'faster' }).waitFor();
      },
    ),
  );
});

describe('what belongs together', together, () => {
  check('scaling: the curve keeps its title until the next one comes; the form says what is held', () =>
    visitReady('#/scaling?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus_to=16', async (page) => {
      assert.equal(await field(page, 'gpus').count(), 0, 'sizes are the view’s own');
      assert.match(await subtitle(page), /gpt3-6\.7b on dgx-a100, 16 sequences a step/);
      assert.equal(await field(page, 'batch').locator('.typed').inputValue(), '16');
      assert.equal(await page.getByRole('combobox', { name: 'Runtime' }).inputValue(), 'megatron-core');
      const release = await hold(page, '/best');
      await page.getByRole('combobox', { name: 'Model' }).waitFor();
      await choose(page, 'Model', 'llama2-7b');
      await page.waitForURL(/model=llama2-7b/);
      await page.waitForTimeout(400);
      assert.equal(await page.locator(ready).count(), 0);
      assert.match(await subtitle(page), /gpt3-6\.7b/, 'what is drawn is of the last model');
      release();
      await page.locator(ready).waitFor();
      assert.match(await subtitle(page), /llama2-7b/);
    }),
  );

  check('compare: bars keep their names until the next ones come', () =>
    visitReady(`#/compare?${training}&with=system:dgx-a100|system:dgx-h100`, async (page) => {
      const names = () => page.locator('[data-figure=compare-breakdown]').innerText();
      const release = await hold(page, '/compare');
      await choose(page, 'System of scenario 2', 'dgx-b200');
      await page.waitForURL(/dgx-b200/);
      assert.match(await names(), /B dgx-h100/);
      assert.equal(await page.locator(ready).count(), 0);
      release();
      await until(async () => /B dgx-b200/.test(await names()), 'the next answer has its own names');
    }),
  );

  check('compare: the scenario’s own system stands first; counts are read as people write them', () =>
    visitReady(`#/compare?${serving.replace('dgx-h100', 'mi300x-node')}`, async (page) => {
      const first = page.getByRole('combobox', { name: 'System of scenario 1' });
      assert.equal(await first.inputValue(), 'mi300x-node');
      await page.getByLabel('input of scenario 2').fill('1,024');
      await page.getByLabel('input of scenario 2').press('Enter');
      await page.waitForURL(/input:1024/);
      await page.locator('[data-figure=compare-TTFT] abbr').waitFor();
      assert.doesNotMatch(await page.locator('[data-figure=factors-A-B]').innerText(), /latency seconds/);
    }),
  );

  check('breakdown: every part has its meaning; what passes between devices has its colour', () =>
    visitReady(
      '#/predict?kind=train&model=qwen3-30b-a3b&system=dgx-h100&gpus=64&tp=2&cp=2&pp=2&ep=8&zero=1&batch=64&seq=4096',
      async (page) => {
        const rows = page.locator('[data-figure=breakdown] tbody tr');
        const said = await rows.evaluateAll((all) => all.map((row) => row.lastElementChild.textContent));
        assert.ok(said.length > 8 && said.every((text) => text !== ''), said.join('; '));
        const expert = rows.filter({ has: page.getByText('expert', { exact: true }) });
        assert.equal(await expert.locator('rect').getAttribute('fill'), 'var(--link)');
      },
    ),
  );

  check('run: what does not fit is struck out', () =>
    visitReady(`#/run?${training.replace('tp=8&pp=8', 'tp=1&pp=1')}`, async (page) => {
      await page.locator('.headlines.unfit').waitFor();
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.waitForURL(/gpus=512/);
    }),
  );

  check('scaling: every size has its number on the axis', () =>
    visitReady('#/scaling?kind=train&model=gpt3-6.7b&system=dgx-a100&batch=256&gpus_to=64', async (page) => {
      const ticks = page.locator('[data-figure=scaling] [data-mark="x-axis tick label"] text');
      assert.deepEqual(
        (await ticks.allTextContents()).filter((text) => text !== ''),
        ['8', '16', '32', '64'],
      );
    }),
  );

  check('what is folded away opens where something is wrong with it', () =>
    visit(`#/predict?${serving}&set=device.memory.bandwidth=fast`, async (page, errors) => {
      await field(page, 'set').locator('.problem', { hasText: 'no number' }).waitFor();
      errors.length = 0;
    }),
  );

  check('a prompt beyond the model’s context may go on', () =>
    visit(`#/predict?${serving.replace('input=512', 'input=5000')}`, async (page, errors) => {
      await field(page, 'allow_long').locator('input').check();
      await page.locator(ready).waitFor();
      errors.length = 0;
    }),
  );

  check('run: a refused number of tokens is not the title of the last answer', () =>
    visitReady(`#/run?${training}&tokens=300B`, async (page, errors) => {
      await page.locator('h1', { hasText: /300.B tokens/ }).waitFor();
      const tokens = field(page, 'tokens').locator('input');
      if (!(await tokens.isVisible())) await page.locator('summary', { hasText: 'Scenario' }).click();
      await typeInto(tokens, 'lots');
      await page.locator('.refused').waitFor();
      assert.match(await page.locator('.refused').innerText(), /Tokens: expected/);
      assert.match(await page.locator('h1').innerText(), /300.B tokens/);
      errors.length = 0;
    }),
  );

  check('model: the form says what the answer used, and offers what runs', () =>
    visitReady('#/model?kind=infer&model=gpt-oss-120b&system=dgx-h100', async (page) => {
      assert.equal(await page.getByRole('combobox', { name: 'Runtime' }).inputValue(), 'trtllm');
      assert.match(await page.locator('.headline').nth(1).innerText(), /sequence of 640/);
      assert.equal(await field(page, 'input').locator('.typed').inputValue(), '512');
      const slider = field(page, 'tp').locator('input[type=range]');
      const most = Number(await slider.getAttribute('max'));
      for (let at = 0; at <= most; at++) {
        await slider.evaluate((input, position) => {
          input.value = String(position);
          input.dispatchEvent(new Event('input', { bubbles: true }));
        }, at);
        await page.waitForTimeout(200);
        assert.equal(await page.locator('.refused').count(), 0, `value ${at} of ${most}`);
      }
    }),
  );

  check('fits: an empty cell says why; a model that nobody knows is asked about once; Reset is a click', async () => {
    await visitReady('#/fits?kind=infer&model=llama3.1-405b&system=jetson-orin-node&precision=bf16', async (page) => {
      const empty = page.locator('td.none').first();
      assert.match((await empty.getAttribute('title')) ?? '', /^\S+ on jetson-orin-node: does not fit in 1 GPU$/);
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.waitForURL(/dgx-h100/);
    });
    await visit('#/fits?kind=infer&model=nosuch&system=dgx-h100', async (page, errors) => {
      await page.locator('.problem', { hasText: 'no model is called' }).waitFor();
      assert.ok(errors.length < 10, `${errors.length} refusals`);
      errors.length = 0;
    });
  });

  check('fits: what holds beyond the model’s context opens, and runs', () =>
    visitReady('#/fits?kind=infer&model=gpt3-175b&system=dgx-h100', async (page) => {
      const row = page.locator('tr', { has: page.locator('th', { hasText: /^gpt3-175b$/ }) });
      await row.getByRole('link').first().click();
      await page.locator('h1', { hasText: 'gpt3-175b on' }).waitFor();
      assert.ok(await page.getByLabel('Go beyond the model’s context').isChecked());
      await page.goBack();
      await page.locator('tr', { hasText: 'llama3.1-8b' }).getByRole('link').first().click();
      await page.waitForURL((url) => /llama3\.1-8b/.test(url.hash) && !/allow_long/.test(url.hash));
    }),
  );

  check('fits: heads that no eight divide are cut otherwise', () =>
    visit('#/fits?kind=train&model=gpt2-xl&system=dgx-h100', async (page, errors) => {
      await page.locator('[data-heat=true] td', { hasText: 'ms' }).first().waitFor();
      assert.match(await page.locator('[data-heat=true] h3').innerText(), /gpt2-xl on 5 GPUs of dgx-h100/);
      errors.length = 0; // contexts beyond learned positions
    }),
  );
});

describe('words', together, () => {
  check('one GPU is one; nothing speaks of flags or names of fields', async () => {
    const short = 'model=llama3.1-8b&system=dgx-h100';
    for (const address of [
      `#/run?kind=train&${short}`,
      `#/timeline?kind=train&${short}`,
      `#/hardware?kind=train&${short}`,
      '#/technology',
      `#/search?kind=infer&${short}&gpus=8&input=512&output=128&max_tpot=5&run=1`,
    ])
      await visitReady(address, async (page) => {
        const text = await page.locator('#page').innerText();
        assert.doesNotMatch(text, /(^|[^\d\u202f])1 GPUs/, address);
        assert.doesNotMatch(text, /--[a-z]/, address);
        assert.doesNotMatch(text, /\b[a-z]+_[a-z]+\b/, address);
      });
  });

  check('390 px: the first screen says what this is', () =>
    visit(
      '',
      async (page) => {
        const box = await page.locator('.welcome p').boundingBox();
        assert.ok(box.y + box.height < 844, `it ends at ${box.y + box.height} px`);
        await page.locator(ready).waitFor();
        assert.ok(await mainValue(page));
      },
      { viewport: { width: 390, height: 844 } },
    ),
  );

  const axes = {
    '#/technology': ['[data-curves=true]', 9],
    '#/scaling?kind=train&model=llama3-8b&system=dgx-h100&batch=512&gpus_to=16384': ['[data-figure=scaling] circle', 5],
  };
  for (const [address, [drawn, fewest]] of Object.entries(axes))
    check(`390 px: no name on an axis runs into the next: ${address.split('?')[0]}`, () =>
      visitReady(
        address,
        async (page) => {
          await page.locator(drawn).first().waitFor();
          const close = await page.locator('[data-mark^="x-axis tick label"]').evaluateAll((axes) =>
            axes.flatMap((axis) => {
              const boxes = [...axis.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
              return boxes.slice(1).filter((box, index) => box.left < boxes[index].right + 1);
            }),
          );
          assert.equal(close.length, 0);
          assert.ok((await page.locator('[data-mark^="x-axis tick label"] text').count()) >= fewest);
        },
        { viewport: { width: 390, height: 844 } },
      ),
    );

  check('no tick touches the title of its axis, no roof the label of the next', async () => {
    for (const address of [
      '#/scaling',
      '#/serving?kind=infer&model=llama3.1-8b&system=dgx-h100&rate=3&input=200&output=50',
      '#/operators?model=llama3.1-8b&system=h200-nvl-node&gpus=4',
    ])
      await visitReady(address, async (page) => {
        await page.locator('.plot svg').first().waitFor();
        const gaps = await page.locator('.plot svg').evaluateAll((figures) =>
          figures.map((figure) => {
            const boxes = (mark) =>
              [...figure.querySelectorAll(`[data-mark="${mark}"] text`)].map((text) => text.getBoundingClientRect());
            const title = boxes('y-axis label')[0].bottom;
            return Math.min(...boxes('y-axis tick label').map((tick) => tick.top)) - title;
          }),
        );
        assert.ok(Math.min(...gaps) >= 2, `${address}: ${gaps.join(', ')} px`);
        const roofs = await page.locator('.plot text[transform*=rotate]').evaluateAll((labels) =>
          labels.map((label) => {
            const { x, y, width, height } = label.getBoundingClientRect();
            const turned = (Number(label.getAttribute('transform').match(/rotate\((.*?)\)/)[1]) * Math.PI) / 180;
            return (y + height / 2) * Math.cos(turned) - (x + width / 2) * Math.sin(turned);
          }),
        );
        roofs.sort((a, b) => a - b);
        for (const [index, roof] of roofs.slice(1).entries())
          assert.ok(roof - roofs[index] > 12, `${address}: ${roofs.join(', ')}`);
      });
  });

  check('no number of a slider runs into its buttons', () =>
    visitReady(`#/hardware?${training}`, async (page) => {
      const wide = await page
        .locator('.stepper output')
        .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
      assert.deepEqual(wide, []);
    }),
  );
});
