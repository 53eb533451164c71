// SPDX-License-Identifier: Apache-2.0
// What a stranger does to the page: links that make no sense, servers that go, files that are none.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { config, field, ready, suite, training, typeInto, until } from './suite.mjs';

const { check, mainValue, together, visit, visitReady } = suite();

const short = 'kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&tp=2&batch=16&seq=2048';
const problems = (page) => page.locator('main .problem');

describe('links that make no sense', together, () => {
  check('a number that is none counts as absent', async () => {
    for (const address of [`#/hardware?${short}&x_bandwidth=abc`, `#/scaling?${short}&gpus_to=abc`])
      await visitReady(address, async (page) => {
        assert.doesNotMatch(await page.locator('#page').innerText(), /NaN/, address);
        assert.equal(await problems(page).count(), 0, address);
      });
  });

  check('what if: a system that nobody knows is named', () =>
    visit(`#/hardware?${short.replace('dgx-a100', 'nothing')}`, async (page, errors) => {
      await problems(page).filter({ hasText: 'System: no system is called' }).waitFor();
      errors.length = 0; // that it is refused
    }),
  );

  check('a config.json that cannot be read is said in Compare as well', () =>
    visit('#/compare?kind=train&system=dgx-h100&config=garbage', async (page) => {
      await problems(page).filter({ hasText: 'the link’s config.json cannot be read' }).waitFor();
    }),
  );
});

describe('a server that goes and comes', together, () => {
  check('is asked again, and nobody is told that the scenario cannot run', () =>
    visitReady(`#/predict?${training}`, async (page, errors) => {
      const before = await mainValue(page);
      await page.route('**/api/v1/train', (route) => route.abort());
      await typeInto(field(page, 'batch').locator('.typed'), '128');
      const said = page.locator('.verdict', { hasText: 'the server does not answer' });
      await said.waitFor();
      assert.doesNotMatch(await said.innerText(), /cannot run/);
      await page.unroute('**/api/v1/train');
      await until(async () => (await said.count()) === 0, 'the same question is asked again');
      assert.notEqual(await mainValue(page), before);
      errors.length = 0; // what was not answered
    }),
  );

  check('has its lists asked for until they come', () =>
    visit('api/v1/openapi.json', async (page, errors) => {
      await page.route('**/api/v1/presets', (route) => route.abort());
      await page.goto(new URL(`/#/predict?${training}`, page.url()).href);
      const banner = page.locator('.banner', { hasText: 'the server does not answer' });
      await banner.waitFor();
      await page.unroute('**/api/v1/presets');
      await banner.waitFor({ state: 'detached' });
      await page.getByRole('combobox', { name: 'Model' }).click();
      await page.locator('[role=option]').nth(5).waitFor();
      errors.length = 0; // what was not answered
    }),
  );

  check('takes its search with it, which can be started again', () =>
    visit('#/search?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=8&batch=16&seq=2048', async (page, errors) => {
      await page.route('**/api/v1/jobs/**', (route) =>
        route.fulfill({ status: 404, json: { errors: [{ field: '', message: 'there is no such job' }] } }),
      );
      const search = page.getByRole('button', { name: 'Search', exact: true });
      await search.click();
      await problems(page).filter({ hasText: 'the search is lost' }).waitFor();
      await page.unroute('**/api/v1/jobs/**');
      await search.click();
      await page.locator(ready).waitFor();
      assert.equal(await problems(page).count(), 0);
      errors.length = 0; // what was not found
    }),
  );
});

describe('files of strangers', together, () => {
  const take = async (page, given) => {
    await page.getByRole('button', { name: 'config.json' }).click();
    await page.locator('input[type=file]').setInputFiles({
      name: 'config.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(given)),
    });
  };

  check('what is wrong with a config.json is said beside it, by the names it uses', () =>
    visitReady(`#/predict?${training}`, async (page, errors) => {
      await take(page, { ...config, hidden_size: -5 });
      await field(page, 'model').locator('.problem', { hasText: 'hidden_size: expected' }).waitFor();
      errors.length = 0; // that it is refused
    }),
  );

  check('a config.json keeps its name, however long, at every width', async () => {
    const name = `somebody/${'a-name-without-end-'.repeat(9)}`;
    for (const width of [390, 1280])
      await visitReady(
        `#/predict?${training}`,
        async (page) => {
          await page.evaluate(() => document.querySelector('details:not([open]) > summary')?.click());
          await take(page, { ...config, _name_or_path: name });
          await page.locator('h1', { hasText: name }).waitFor();
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${over} px too wide at ${width}`);
        },
        { viewport: { width, height: 844 } },
      );
  });

  check('a measurement is compared with what it is of', () =>
    visitReady(`#/predict?${training}`, async (page) => {
      const input = page.getByLabel('Your measurement of the step time');
      for (const [text, said] of [
        ['100 tok/s/GPU', 'tokens/s a GPU 100. Predicted'],
        ['40 %', 'MFU 40.0 %. Predicted'],
        ['9 parsecs', 'expected a time or a rate'],
      ]) {
        await typeInto(input, text);
        const words = async () => (await page.locator('.beside').innerText()).replace(/\s/g, ' ');
        await until(async () => (await words()).includes(said), `${text}: ${said}`);
      }
    }),
  );
});

describe('steps', together, () => {
  check('what a view makes of the scenario is no step of its own', () =>
    visitReady(`#/predict?${training}`, async (page) => {
      await page.getByRole('link', { name: 'Serving', exact: true }).click();
      await page.waitForURL(/#\/serving.*kind=infer/);
      await page.locator(ready).waitFor();
      await page.goBack();
      await page.waitForURL(/#\/predict.*kind=train/);
      await page.goForward();
      await page.locator('h1', { hasText: 'served by' }).waitFor();
      assert.match(page.url(), /kind=infer/);
    }),
  );
});

describe('what was asked of training', together, () => {
  check('comes back after Serving, whichever way one goes there', () => {
    const asked =
      'kind=train&model=llama2-13b&system=dgx-b200&gpus=32&tp=2&pp=2&microbatch=1&batch=64&seq=4096&precision=fp8';
    return visitReady(`#/predict?${asked}`, async (page) => {
      const go = (view) => page.getByRole('navigation').getByRole('link', { name: view, exact: true }).click();
      await go('Serving');
      await page.locator('h1', { hasText: 'llama2-13b served by' }).waitFor();
      await go('Run');
      await page.getByRole('button', { name: 'Switch to training' }).click();
      await page.locator('h1', { hasText: 'llama2-13b on' }).waitFor();
      await page.waitForURL((url) => url.hash === `#/run?${asked}`);
    });
  });
});

describe('what is offered', together, () => {
  check('what would fit fits, whatever it changes, and is said in words', async () => {
    const too = 'kind=train&model=llama3.1-405b&system=dgx-a100&gpus=64&tp=8&pp=8&batch=64&seq=8192';
    const offers = 4;
    for (let at = 0; at < offers; at++)
      await visitReady(`#/predict?${too}`, async (page) => {
        const offer = page.locator('.fits li').nth(at);
        const [change, time] = [await offer.locator('button').innerText(), (await offer.innerText()).split('\n').pop()];
        assert.doesNotMatch(change, /[a-z]-[a-z]/, 'no flags');
        await offer.locator('button').click();
        await page.locator('.verdict', { hasText: /^Fits: / }).waitFor();
        const [size] = /[\d.]+\sGiB/.exec(time);
        assert.ok((await page.locator('.verdict').innerText()).includes(`Fits: ${size}`), change);
      });
  });

  check('scaling: the batch that requests are served in can be seen and changed', () =>
    visitReady('#/scaling?kind=infer&model=llama3.1-8b&system=dgx-h100&input=512&output=64&gpus_to=8', async (page) => {
      await typeInto(field(page, 'batch').locator('.typed'), '32');
      await page.locator('tr', { hasText: 'batch 32' }).first().waitFor();
    }),
  );
});

describe('what cannot be overlooked', together, () => {
  check('more load than can be served is red', () =>
    visitReady('#/serving?kind=infer&model=llama3.1-70b&system=dgx-h100&tp=4&rate=40', async (page) => {
      const red = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        probe.style.color = 'var(--red)';
        return getComputedStyle(probe).color;
      });
      const value = page.locator('.headline.main.over .value');
      await value.waitFor();
      assert.equal(await value.evaluate((element) => getComputedStyle(element).color), red);
    }),
  );

  check('390 px: no bar lies on its name', () =>
    visitReady(
      '#/search?kind=train&model=gpt3-6.7b&system=dgx-a100&gpus=16&batch=64&seq=2048&run=1',
      async (page) => {
        const covered = await page
          .locator('[data-figure=rejected] svg g')
          .evaluateAll((rows) =>
            rows
              .filter(
                (row) =>
                  row.querySelector('text')?.getBoundingClientRect().right >
                  row.querySelector('rect')?.getBoundingClientRect().left,
              )
              .map((row) => row.textContent),
          );
        assert.deepEqual(covered, []);
      },
      { viewport: { width: 390, height: 844 } },
    ),
  );
});
