/** New, selected and fitted items are visible: no panel covers them, however narrow the window. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();

/** Opens or closes a panel with its key. */
async function setPanel(page: Page, name: 'palette' | 'inspector', open: boolean): Promise<void> {
  const panel = page.locator(`aside.${name}`);
  if ((await panel.count()) === (open ? 1 : 0)) return;
  await page.locator('svg.canvas').focus();
  await page.keyboard.press(name === 'palette' ? 'a' : 'd');
  await panel.waitFor({ state: open ? 'attached' : 'detached' });
}

/** Playwright refuses to click a covered element. */
async function isPointedAt(page: Page, name: string): Promise<void> {
  await canvas(page).node(name).locator('.symbol').click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
}

for (const width of [1280, 768])
  describe(`the canvas, ${width} pixels wide, with both panels open`, async () => {
    const project = await createProject(client, { auto_close: false, snap_to_grid: false });
    const { page, problems } = await openTab(`${server.url}/projects/${project.id}`, { width, height: 800 });
    const add = () => page.getByRole('button', { name: 'VPCS', exact: true }).click();
    const nodes = () => client.get<{ name: string }[]>(`${project.path}/nodes`);

    it('adds a node in the middle of the visible part, even before the project is loaded', async () => {
      // The first load of the page has ended: it must not take the place of the held one.
      await page.locator('.canvas-hint').waitFor();
      const held = Promise.withResolvers<void>();
      await page.route('**/drawings', (route) => held.promise.then(() => route.continue()), { times: 1 });
      await page.reload();
      await page.getByText('Opening the project…').waitFor();
      // Panels are closed at first in a narrow window, and their keys work once the project is loaded.
      const isEarly = width > 900;
      if (isEarly) await add();
      held.resolve();
      await page.getByText('Opening the project…').waitFor({ state: 'detached' });
      // The empty canvas has a button for the palette while this is closed.
      if (!isEarly) await page.locator('.canvas-hint').getByRole('button', { name: 'Add nodes' }).click();
      await setPanel(page, 'palette', true);
      await setPanel(page, 'inspector', true);
      if (!isEarly) await add();
      await isPointedAt(page, 'PC1');
      await add();
      await isPointedAt(page, 'PC2');
      assert.equal((await nodes()).length, 2);
    });

    it('shows an item that was selected in a list or by keyboard', async () => {
      await createNode(client, project, 'vpcs', { name: 'Far', x: 4000, y: 3000 });
      await canvas(page).node('Far').waitFor({ state: 'attached' });
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: /^Far/ }).click();
      await isPointedAt(page, 'Far');
      await page.keyboard.press('Shift+N');
      await isPointedAt(page, 'PC2');
    });

    it('fits the whole project beside the panels', async () => {
      await page.keyboard.press('f');
      for (const name of ['Far', 'PC1', 'PC2']) await isPointedAt(page, name);
    });

    it('keeps the selection visible when a panel opens over it, or the window becomes smaller', async () => {
      await setPanel(page, 'palette', false);
      await setPanel(page, 'inspector', false);
      await createNode(client, project, 'vpcs', { name: 'Corner', x: 8000, y: 3000 });
      await canvas(page).node('Corner').waitFor({ state: 'attached' });
      await page.keyboard.press('f');
      await canvas(page).node('Corner').locator('.symbol').click();
      await setPanel(page, 'inspector', true);
      await isPointedAt(page, 'Corner');
      await page.setViewportSize({ width, height: 420 });
      await waitFor(async () => ((await page.locator('svg.canvas').boundingBox())?.height ?? 999) < 420, {
        what: 'the low canvas',
      });
      await isPointedAt(page, 'Corner');
    });

    it('causes no error in the page', () => assert.deepEqual(problems, []));
  });
