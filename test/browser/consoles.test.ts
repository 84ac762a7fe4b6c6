/** The consoles of the page as a tool: several at once, larger, saved, in a window of their own, there again after a reload. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { consoleOf, consoleText, toCanvas, type } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
for (const [name, x] of [
  ['PC1', -150],
  ['PC2', 50],
] as const) {
  const node = await createNode(client, project, 'vpcs', { name, x });
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
}
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const choose = async (entry: string, pane = 0) => {
  await page.getByRole('button', { name: 'Commands for consoles' }).nth(pane).click();
  await page.getByRole('menuitem', { name: entry }).click();
};
const tab = (name: string) => page.getByRole('tab', { name, exact: true });
const panes = page.locator('.pane');

describe('consoles in the browser', () => {
  it('are opened for all running nodes, and typed into at once', async () => {
    await page.locator('.node.started').nth(1).waitFor();
    await toCanvas(page);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('consoles of all');
    await page.keyboard.press('Enter');
    for (const name of ['PC1', 'PC2']) {
      await tab(name).click();
      await consoleText(page, /VPCS>/, { of: name });
    }
    await page.getByRole('button', { name: 'Move to a new pane' }).click();
    await consoleText(page, /VPCS>/, { of: 'PC2' });
    await choose('Type into all consoles at once');
    await page.getByText('Keys go to all open consoles.').waitFor();
    await page.locator('.console:not([hidden]) .xterm-screen').first().click();
    await type(page, 'echo to-both');
    for (const name of ['PC1', 'PC2']) await consoleText(page, /> echo to-both/, { of: name });
    await page.getByRole('button', { name: 'Type into one console only' }).click();
    await page.locator('.console:not([hidden]) .xterm-screen').first().click();
    await type(page, 'echo to-one');
    await consoleText(page, /> echo to-one/, { of: 'PC1' });
  });

  it('show their last line when they come into sight in a smaller place', async () => {
    await choose('Merge the panes');
    await tab('PC1').click();
    await page.locator('.console:not([hidden]) .xterm-screen').click();
    await type(page, '?');
    await consoleText(page, /prints its options\.\s*VPCS>/, { of: 'PC1' });
    await type(page, 'echo the-last');
    await consoleText(page, /> echo the-last/, { of: 'PC1' });
    await tab('PC2').click();
    await page.reload();
    await consoleText(page, /VPCS>/, { of: 'PC2' });
    const rows = (name: string) => consoleOf(page, name).locator('.xterm-rows > div').count();
    const fitting = await waitFor(async () => ((await rows('PC2')) < 24 ? rows('PC2') : undefined), { what: 'fewer rows' });
    await tab('PC1').click();
    await waitFor(async () => (await rows('PC1')) === fitting, { what: 'the same rows' });
    // The terminal adapts its position in the frame after that.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await consoleText(page, /> echo the-last/, { of: 'PC1' });
    await tab('PC2').click();
    await page.getByRole('button', { name: 'Move to a new pane' }).click();
    await panes.nth(1).waitFor();
  });

  it('are merged, enlarged and saved', async () => {
    assert.equal(await panes.count(), 2);
    await choose('Merge the panes');
    await page.getByRole('tablist', { name: 'Consoles' }).getByRole('tab').nth(1).waitFor();
    assert.equal(await panes.count(), 1);
    await tab('PC2').click();
    const rowHeight = () =>
      page
        .locator('.console:not([hidden]) .xterm-rows > div')
        .first()
        .evaluate((row) => row.clientHeight);
    const before = await rowHeight();
    for (let step = 0; step < 4; step += 1) await choose('Larger text');
    await waitFor(async () => (await rowHeight()) > before, { what: 'larger text' });
    await choose('Maximise');
    await page.locator('.consoles.maximised').waitFor();
    await picture(page, 'consoles-maximised');
    await choose('Restore size');
    await page.locator('.consoles.maximised').waitFor({ state: 'detached' });
    const download = page.waitForEvent('download');
    await choose('Save the output');
    const file = await download;
    assert.equal(file.suggestedFilename(), 'PC2.log');
    const log = await readFile(await file.path(), 'utf8');
    assert.match(log, /echo to-both/);
    // Text typed into one console did not reach the other.
    assert.doesNotMatch(log, /to-one/);
  });

  it('have a window of their own', async () => {
    const opened = page.waitForEvent('popup');
    await choose('Open in a window');
    const window = await opened;
    await window.locator('.xterm-screen').waitFor();
    await window
      .locator('.xterm-rows')
      .filter({ hasText: /to-both/ })
      .waitFor();
    await window.keyboard.type('echo from-window\n');
    await consoleText(page, /from-window/, { of: 'PC2' });
    await waitFor(async () => (await window.title()).startsWith('PC2'), { what: 'the title of the window' });
    await window.close();
  });

  it('are there again after a reload, and do not take the keys of the canvas', async () => {
    await page.reload();
    for (const name of ['PC1', 'PC2']) await tab(name).waitFor();
    assert.equal(await tab('PC2').getAttribute('aria-selected'), 'true');
    await consoleText(page, /to-both/, { of: 'PC2' });
    await page.getByRole('button', { name: 'Close the console of PC2' }).click();
    await page.getByRole('button', { name: 'Close the console of PC1' }).click();
    await page.reload();
    await page.locator('.node').nth(1).waitFor();
    assert.equal(await page.locator('.consoles').count(), 0);
  });

  it('cause no error in the page', () => assert.deepEqual(problems, []));
});
