// SPDX-License-Identifier: Apache-2.0
// How the page behaves under a hand: steps back, lists, typed values, refusals, what is left running.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { config, ready, serving, suite, training } from './suite.mjs';

const { api, changed, check, field, mainValue, server, together, until, visit, visitReady } = suite();

const focused = (page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id);
const choose = async (page, label, name) => {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('combobox', { name: label }).fill(name);
  await page.locator('[role=option] b', { hasText: new RegExp(`^${name}$`) }).click();
};

describe('steps', together, () => {
  check('every change is a step back, a drag is one, and Reset undoes all', () =>
    visitReady('', async (page) => {
      const start = await mainValue(page);
      await field(page, 'pp').getByRole('button', { name: 'Pipeline: less' }).click();
      const second = await changed(page, start);
      await field(page, 'tp').getByRole('button', { name: 'Tensor: less' }).click();
      const third = await changed(page, second);
      const slider = field(page, 'seq').locator('input[type=range]');
      await slider.scrollIntoViewIfNeeded();
      const box = await slider.boundingBox();
      await page.mouse.move(box.x + 30, box.y + box.height / 2);
      await page.mouse.down();
      for (const share of [0.3, 0.4, 0.5]) {
        await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
        await page.waitForTimeout(300);
      }
      await page.mouse.up();
      await changed(page, third);
      await page.waitForURL((url) => /seq=/.test(url.hash) && !/seq=2048/.test(url.hash));
      for (const [value, what] of [
        [third, 'the drag'],
        [second, 'the second click'],
        [start, 'the first click'],
      ]) {
        await page.goBack();
        await until(async () => (await mainValue(page)) === value, `Back undoes ${what}`);
      }
      await page.goForward();
      await until(async () => (await mainValue(page)) === second, 'Forward does it again');
      await page.getByRole('button', { name: 'Reset' }).click();
      await until(async () => (await mainValue(page)) === start, 'Reset returns to the start');
    }),
  );

  check('a view begins at its top, and Back returns to the last one', () =>
    visitReady(`#/predict?${training}`, async (page) => {
      await page.evaluate(() => scrollTo(0, 900));
      await page.getByRole('navigation').getByRole('link', { name: 'Accuracy' }).click({ force: true });
      await page.locator(ready).waitFor();
      assert.equal(await page.evaluate(() => scrollY), 0);
      await page.goBack();
      await page.waitForURL(/#\/predict/);
    }),
  );
});

describe('form', together, () => {
  check('a list of models is seen whole at every width, and focus stays with it', async () => {
    for (const width of [390, 1280, 1920])
      await visit(
        `#/predict?${serving}`,
        async (page) => {
          await page.locator(ready).waitFor();
          const box = page.getByRole('combobox', { name: 'Model' });
          await box.click();
          const last = page.locator('[role=option]').nth(3);
          await last.waitFor();
          const hidden = await page.locator('[role=option]').evaluateAll((options) =>
            options
              .filter((option) => {
                const [own, list] = [option.getBoundingClientRect(), option.parentElement.getBoundingClientRect()];
                return own.top >= list.top && own.bottom <= list.bottom;
              })
              .filter((option) =>
                [...option.children].some((text) => {
                  const { left, right, top, bottom } = text.getBoundingClientRect();
                  if (right - left < 2) return false;
                  const at = (x) => document.elementFromPoint(x, (top + bottom) / 2);
                  return right > innerWidth || [left + 1, right - 1].some((x) => !option.contains(at(x)));
                }),
              )
              .map((option) => option.textContent),
          );
          assert.deepEqual(hidden, [], `${width} px`);
          await page.keyboard.press('ArrowDown');
          await page.keyboard.press('Enter');
          assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'combobox');
          await page.locator('[role=listbox]').waitFor({ state: 'detached' });
          await choose(page, 'System', 'dgx-a100');
          assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'combobox');
        },
        { viewport: { width, height: 900 } },
      );
  });

  check('Tab leaves a list for the next control', () =>
    visitReady(`#/predict?${training}`, async (page) => {
      for (const label of ['Model', 'System', 'Runtime']) {
        await page.getByRole('combobox', { name: label }).focus();
        await page.getByRole('listbox', { name: label }).waitFor();
        await page.keyboard.press('Tab');
        await page.getByRole('listbox', { name: label }).waitFor({ state: 'detached' });
        assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY', label);
      }
    }),
  );

  check('what is typed is read as people write it; what cannot be read is said', () =>
    visitReady(`#/predict?${training}`, async (page) => {
      const typed = field(page, 'batch').locator('.typed');
      for (const [text, value] of [
        ['1k', '1024'],
        ['1,088', '1088'],
        ['96', '96'],
      ]) {
        await typed.fill(text);
        await typed.press('Enter');
        await page.waitForURL(new RegExp(`batch=${value}(&|$)`));
        await page.locator(ready).waitFor();
        assert.equal(await page.locator('.field.wrong').count(), 0, `${text} is legal, and not red`);
        assert.match(await focused(page), /Batch/);
      }
      // A click selects what stands there: what is typed takes its place.
      await typed.fill('1k');
      await page.locator('h1').click();
      await page.waitForURL(/batch=1024(&|$)/);
      await typed.click();
      await page.keyboard.type('64');
      await page.keyboard.press('Enter');
      await page.waitForURL(/batch=64(&|$)/);
      await typed.fill('many');
      await typed.press('Enter');
      assert.match(await field(page, 'batch').locator('.problem').innerText(), /“many” is no whole number/);
      assert.equal(await typed.inputValue(), 'many');
      for (const [name, most] of [
        ['gpus', '10 000 000'],
        ['batch', '100 000 000'],
        ['seq', '100 000 000'],
      ]) {
        await field(page, name).locator('.typed').fill('99999999999');
        await field(page, name).locator('.typed').press('Enter');
        const said = await field(page, name).locator('.problem').innerText();
        assert.ok(said.replaceAll('\u202f', ' ').includes(`too large: ${most} at most`), said);
      }
    }),
  );

  check('a short link’s form shows what the answer used', () =>
    visitReady('#/predict?kind=train&model=llama3-8b&system=l40s-pcie', async (page) => {
      const { body } = await api('/train', { model: 'llama3-8b', system: 'l40s-pcie' });
      for (const name of ['gpus', 'batch', 'seq'])
        assert.equal(
          Number((await field(page, name).locator('.typed').inputValue()).replace(/\D/g, '')),
          body[name],
          name,
        );
      assert.equal(await page.getByRole('combobox', { name: 'Runtime' }).inputValue(), body.runtime);
      assert.equal(await field(page, 'recompute').locator('.on').innerText(), body.strategy.recompute);
    }),
  );

  check('every value that a slider offers runs', () =>
    visit(
      '#/predict?kind=train&model=gpt3-175b&system=dgx-a100&gpus=192&tp=8&pp=6&interleave=4&microbatch=1&batch=96',
      async (page) => {
        await page.locator(ready).waitFor();
        for (const name of ['batch', 'gpus']) {
          const slider = field(page, name).locator('input[type=range]');
          const most = Number(await slider.getAttribute('max'));
          assert.ok(most >= 2, `${name} has somewhere to go`);
          for (let at = 0; at <= most; at++) {
            await slider.evaluate((input, position) => {
              input.value = String(position);
              input.dispatchEvent(new Event('input', { bubbles: true }));
            }, at);
            await page.waitForTimeout(60);
          }
          await page.locator(ready).waitFor();
          assert.equal(await page.locator('.refused').count(), 0, name);
        }
      },
    ),
  );

  check('another system gets a strategy that runs on it; a locked one stays', () =>
    visit(
      '#/predict?kind=train&model=llama2-13b&system=dgx-h100&gpus=512&tp=8&pp=8&interleave=5&batch=512&precision=fp8',
      async (page) => {
        await page.locator(ready).waitFor();
        await choose(page, 'System', 'dgx-a100');
        await page.waitForURL(/system=dgx-a100/);
        await page.locator('h1', { hasText: 'dgx-a100' }).waitFor();
        await page.locator(ready).waitFor();
        assert.equal(await page.locator('.refused').count(), 0);
        assert.match(await page.locator('.chosen + .note').innerText(), /best of .* tried/);
        await page.goBack();
        await page.locator('h1', { hasText: 'dgx-h100' }).waitFor();
        await page.getByLabel('keep when model or system changes').check();
        await choose(page, 'System', 'dgx-h200');
        await page.locator('h1', { hasText: 'dgx-h200' }).waitFor();
        assert.match(page.url(), /tp=8&pp=8&interleave=5/);
      },
    ),
  );

  check('refusals name the field, in the words of the form', () =>
    visit('#/predict?kind=infer&model=llama3-8b&system=dgx-h100&input=8000&output=4000', async (page, errors) => {
      await page.locator('.placeholder .problem').waitFor();
      const said = await page.locator('.placeholder .problem').innerText();
      assert.match(said, /^Output: /);
      assert.doesNotMatch(said, /--|allow_long/);
      await page.getByLabel('Go beyond the model’s context').check();
      await page.locator(ready).waitFor();
      errors.length = 0;
    }),
  );

  check('nothing speaks of flags or commands that are not the page’s', () =>
    visit('#/predict?kind=train&model=gpt3&system=dgx-h10', async (page, errors) => {
      await page.locator('.placeholder .problem').waitFor();
      assert.doesNotMatch(await page.locator('#page').innerText(), /sextant list|--[a-z]/);
      errors.length = 0;
    }),
  );
});

describe('views', together, () => {
  check('compare: a refusal names its column; a column’s model wins over a config.json', () =>
    visit(`#/compare?${training}&with=system:dgx-a100|system:dgx-h100~tp:7`, async (page, errors) => {
      await page.locator('main > .problem').waitFor();
      assert.match(await page.locator('main > .problem').innerText(), /^B, (Tensor|GPUs): /);
      errors.length = 0;
      await page.goto(`${server().url}/#/predict?${serving}`);
      await page.locator(ready).waitFor();
      await page.getByRole('button', { name: 'or a Hugging Face config.json' }).click();
      await page.getByLabel('config.json', { exact: true }).fill(JSON.stringify(config));
      await page.waitForURL(/config=/);
      await page.getByRole('navigation').getByRole('link', { name: 'Compare' }).click();
      await page.locator(ready).waitFor();
      const bar = page.locator('[data-figure=compare-request] text');
      const before = await bar.allTextContents();
      await choose(page, 'Model of scenario 2', 'llama2-13b');
      await until(async () => (await bar.allTextContents()).join() !== before.join(), 'the column has its own model');
      errors.length = 0;
    }),
  );

  check('timeline: a schedule too large to draw has its numbers all the same', () =>
    visit(
      '#/timeline?kind=train&model=gpt3-175b&system=dgx-a100&gpus=64&tp=8&pp=8&interleave=1&microbatch=1&batch=2048',
      async (page) => {
        await page.locator(ready).waitFor();
        assert.equal(await page.locator('svg.gantt').count(), 0);
        const shown = await page.locator('.headlines').innerText();
        assert.match(shown.replace(/\u202f/g, ''), /microbatches\s+2048/);
        assert.doesNotMatch(shown, /bubble\s+0\.0/);
      },
    ),
  );

  check('search: results keep their own title, open as they were found, and stay inside 390 px', () =>
    visit(
      '#/search?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&batch=16&seq=2048',
      async (page) => {
        await page.getByRole('button', { name: 'Search', exact: true }).click();
        await page.locator(ready).waitFor();
        const wide = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          return scrollWidth - clientWidth;
        });
        assert.ok(wide <= 0, `${wide} px too wide`);
        const ticks = await page.locator('[data-figure=search] [data-mark^="y-axis tick"] text').allTextContents();
        assert.ok(ticks.length > 1);
        assert.doesNotMatch(ticks.join(), /m(,|$)/, 'the unit is in the axis’ label');
        await page.locator('summary', { hasText: 'Scenario' }).click();
        await choose(page, 'Model', 'llama2-7b');
        await page.locator('.result .verdict', { hasText: 'Found for gpt3-6.7b on 8 GPUs' }).waitFor();
        assert.equal(await page.locator(ready).count(), 0, 'what is shown is not the answer to what is asked');
        await page.locator('[aria-label="The best strategies"] a').first().click();
        await page.locator('h1', { hasText: 'gpt3-6.7b' }).waitFor();
      },
      { viewport: { width: 390, height: 844 } },
    ),
  );

  check('search: leaving one ends its job', () =>
    visit('#/search?kind=train&model=deepseek-v3&system=dgx-h100&gpus=2048&batch=4096', async (page) => {
      for (let round = 0; round < 4; round++) {
        const started = page.waitForResponse((response) => response.url().endsWith('/search'));
        await page.getByRole('button', { name: 'Search', exact: true }).click();
        const response = await started;
        assert.equal(response.status(), 202, `search ${round + 1} starts`);
        const { id } = await response.json();
        await page.getByRole('button', { name: 'Cancel' }).waitFor();
        if (round % 2 === 0) {
          await page.getByRole('navigation').getByRole('link', { name: 'Accuracy' }).click();
          await page.waitForURL(/accuracy/);
        } else {
          await page.goto('about:blank');
          await page.goto(`${server().url}/#/search?kind=train&model=deepseek-v3&system=dgx-h100&gpus=2048&batch=4096`);
        }
        await until(async () => {
          const job = await (await fetch(`${server().url}/api/v1/jobs/${id}`)).json();
          return job.state !== 'running';
        }, 'the job ends');
        await page.goto(`${server().url}/#/search?kind=train&model=deepseek-v3&system=dgx-h100&gpus=2048&batch=4096`);
        await page.reload();
        await page.getByRole('button', { name: 'Search', exact: true }).waitFor();
      }
    }),
  );

  check('breakdown: nothing is said of what takes no time', () =>
    visitReady(`#/predict?${training}`, async (page) => {
      assert.doesNotMatch(await page.locator('[data-figure=breakdown]').innerText(), /\dns|\d.ns/);
      assert.equal(await page.locator('[data-figure=breakdown] td', { hasText: /^0\.0.%$/ }).count(), 0);
    }),
  );

  check('accuracy: an axis whose ticks have units says none itself', () =>
    visitReady('#/accuracy', async (page) => {
      const labels = await page.locator('svg text, svg [data-mark*="axis label"]').allTextContents();
      assert.equal(labels.filter((label) => /\(s\)/.test(label)).length, 0);
    }),
  );
});
