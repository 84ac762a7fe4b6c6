/** Rules that hold in every view of the page, in both themes. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import { openTab, picture } from '../support/browser.ts';
import { listen } from '../support/notices.ts';
import { waitFor } from '../support/wait-for.ts';
import { withServer } from '../support/with-server.ts';
import { canvas, consoleText, selectLink } from './page-parts.ts';
import { createLab, views } from './views.ts';

const { server, client } = await withServer();
const project = await createLab(client);
// Others who have the project open are part of its views.
const others = await Promise.all(
  Array.from({ length: 6 }, () => listen(`${server.url}${project.path}/notifications/ws?presence=true`)),
);
after(() => Promise.all(others.map((other) => other.close())));
const [selected] = await client.get<{ node_id: string }[]>(`${project.path}/nodes`);
for (const { socket } of others) socket.send(JSON.stringify({ selected: [selected?.node_id] }));
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
await page.locator('.avatar.more').waitFor({ state: 'attached' });
await page.evaluate(axe.source);

/** Only colours differ between the themes. */
const checks = { light: {}, dark: { runOnly: ['color-contrast', 'link-in-text-block'] } } as const;
const found = async (options: object): Promise<readonly string[]> => {
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html.slice(0, 200)} ${any[0]?.message ?? ''}`),
  );
};

/** Compressed, in bytes. */
const budget = { all: 120_000, one: 100_000 };

describe('the first load', () => {
  it('is small', async () => {
    const sizes = await page.evaluate<[string, number][]>(
      "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).map(({ name, encodedBodySize }) => [name, encodedBodySize])",
    );
    assert.ok(sizes.length >= 2);
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(total > 0 && total <= budget.all, `${total} bytes`);
    for (const [name, size] of sizes) assert.ok(size <= budget.one, `${name}: ${size} bytes`);
  });
});

describe('accessibility', () => {
  for (const { name, show, leave, part = 'html' } of views)
    it(`has no finding in ${name}`, async () => {
      await show(page);
      await page.locator(part).waitFor();
      await page.locator('.loading-note').first().waitFor({ state: 'detached' });
      const findings: string[] = [];
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await picture(page, `view-${name}-${theme}`);
        for (const finding of await found(checks[theme])) findings.push(`${theme}: ${finding}`);
      }
      await leave?.(page);
      assert.deepEqual(findings, []);
    });
});

describe('the find bar', () => {
  it('stays in its pane, beside another and in a narrow one', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${server.url}/projects/${project.id}`);
    await canvas(page).node('PC1').dblclick();
    await consoleText(page, /VPCS>/);
    await selectLink(page);
    await page.keyboard.press('w');
    await page.getByRole('button', { name: 'Move to a new pane' }).click();
    const pane = page.locator('.pane').filter({ has: page.getByRole('tab', { name: 'PC1', exact: true }) });
    await pane.locator('.xterm-screen').click();
    await page.keyboard.press('Control+Shift+F');
    for (const width of [1280, 920]) {
      await page.setViewportSize({ width, height: 800 });
      const isInside = async () => {
        const [bar, area] = [await page.locator('.find-bar').boundingBox(), await pane.boundingBox()];
        const isHere = bar && area && bar.x >= area.x && bar.x + bar.width <= area.x + area.width && bar.y >= area.y;
        return isHere || assert.fail(`${JSON.stringify(bar)} in ${JSON.stringify(area)}`);
      };
      await waitFor(isInside, { what: `the find bar in its pane, ${width} pixels wide` });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press('Escape');
    for (const name of ['PC1', 'Core – Hub'])
      await page.getByRole('button', { name: `Close the console of ${name}`, exact: true }).click();
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
