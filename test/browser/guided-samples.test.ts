/** Guided samples: pressing only the buttons of a guide, from its first to its last, ends with a tick at each of its steps. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { ensureImage, loadImage } from '../../demo/containers/image.ts';
import { labRecipes } from '../../demo/containers/recipes.ts';
import { openTab, picture } from '../support/browser.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { withServer } from '../support/with-server.ts';

/** The image that the page makes. */
const madeByPage = 'patchbay-dns';

/** Starts an engine with the images of the samples but one. @returns why there is none */
async function startEngine(): Promise<DockerEngine | string> {
  const missing = await noEngine(['tcpdump', 'tcpdump']);
  if (missing !== undefined) return missing;
  let engine: DockerEngine | undefined;
  try {
    const recipes = await labRecipes();
    const archives: string[] = [];
    for (const recipe of recipes) archives.push(await ensureImage(recipe));
    engine = await DockerEngine.start();
    for (const [index, recipe] of recipes.entries())
      if (recipe.name !== madeByPage) await loadImage(engine.socket, recipe, archives[index] ?? '');
    return engine;
  } catch (error) {
    await engine?.stop();
    return `an image cannot be made: ${(error as Error).message}`;
  }
}

const engine = await startEngine();
after(() => (typeof engine === 'string' ? undefined : engine.stop()));
const socket_path = typeof engine === 'string' ? '/nowhere/docker.sock' : engine.socket;
const { server, client } = await withServer({ config: { Docker: { socket_path } } });
const { page, problems } = await openTab(server.url, { width: 1500, height: 900 });
const pane = page.getByRole('complementary', { name: 'Notes' });

interface Sample {
  readonly steps: number;
  readonly needsEngine?: true;
  /** Text of its card about images. */
  readonly says?: RegExp;
  /** Whether it takes half a minute and more; its checks are those of `test/lab`. */
  readonly isLong?: true;
}

const samples: Readonly<Record<string, Sample>> = {
  'Campus with VLANs': { steps: 4 },
  'Lossy WAN': { steps: 2 },
  'VLANs on a lossy trunk': { steps: 3 },
  'Three FRR routers with OSPF': { steps: 8, needsEngine: true, isLong: true },
  'BGP filters': { steps: 4, needsEngine: true, isLong: true },
  'VRRP split brain': { steps: 6, needsEngine: true, isLong: true },
  'DNS over a satellite line': { steps: 5, needsEngine: true, says: /^patchbay-dns is not there yet: it is made first/ },
};

describe('the guide of a sample', () => {
  for (const [title, { steps, needsEngine, isLong, says }] of Object.entries(samples)) {
    const isLeft = isLong && process.env.PATCHBAY_TEST_LABS_TWICE === undefined && 'npm run fuzz -- 1 labs presses its buttons';
    const skip = isLeft || (needsEngine && typeof engine === 'string' ? engine : false);
    it(`${title} ends with all ticks`, { skip, timeout: 300_000 }, async (test) => {
      const began = performance.now();
      await page.goto(server.url);
      await page.getByRole('button', { name: 'Sample labs' }).first().click();
      const card = page.locator('.sample').filter({ hasText: title });
      if (says) await card.getByText(says).waitFor();
      const made = says && page.waitForResponse('**/v2/lab_images', { timeout: 120_000 });
      await card.getByRole('button', { name: `Create: ${title}` }).click();
      if (made) assert.ok((await (await made).text()).endsWith(`{"images":["${madeByPage}"]}\n`));
      await page.waitForURL(/\/projects\/[0-9a-f-]{36}$/, { timeout: 120_000 });
      await pane.getByRole('heading', { name: 'Checks' }).waitFor();
      const buttons = pane.locator('.notes-text button');
      const names = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent));
      assert.ok(names.filter((name) => name?.startsWith('Run in ')).length >= 1, names.join());
      assert.ok(names.filter((name) => name?.startsWith('Show ')).length >= 2, names.join());
      for (let place = 0; place < names.length; place += 1) await buttons.nth(place).click();
      const boxes = pane.locator('.notes-text input[type="checkbox"]');
      assert.equal(await boxes.count(), steps);
      assert.equal(await pane.locator('.notes-text input:checked').count(), 0);
      await pane.getByRole('button', { name: 'Check', exact: true }).click();
      await pane.getByText(/^\d+ of \d+ steps (hold|held)|could not be completed/).waitFor({ timeout: 240_000 });
      test.diagnostic(
        `${title}: ${Math.round((performance.now() - began) / 1000)} s, ${await pane.getByRole('status').textContent()}`,
      );
      await picture(page, `guided-${title}`);
      const problem = pane.locator('.problem');
      assert.equal(await pane.locator('.notes-text input:checked').count(), steps, (await problem.allTextContents()).join());
      await client.send(`DELETE /v2/projects/${page.url().split('/').at(-1)}`);
    });
  }

  it('leaves no error in the page', () => assert.deepEqual(problems, []));
});
