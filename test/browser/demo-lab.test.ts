/** A click on an empty server builds the lab of `npm run demo`, boots its machines, and the usual next steps work. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { ensureGuest } from '../../demo/guest/guest.ts';
import type { History } from '../../src/schema/history.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { withServer } from '../support/with-server.ts';
import { canvas, consoleText, type } from './page-parts.ts';

const bootLimitMs = 90_000;
const noGuest = await ensureGuest().then(
  () => false,
  (error: Error) => error.message,
);
const { server, client } = await withServer();
const { page, problems } = await openTab(server.url);
/** Texts of notices over the canvas, also of those that were there for a moment. */
const noticed: string[] = [];
await page.exposeFunction('onNotice', (text: string) => void noticed.push(text));
const watchNotices = `new MutationObserver(() => {
  for (const one of document.querySelectorAll('.canvas-notice')) window.onNotice(one.textContent);
}).observe(document, { childList: true, subtree: true })`;
await page.addInitScript(watchNotices);
await page.evaluate(watchNotices);
const projects = () => client.get<{ project_id: string; name: string; status: string }[]>('/v2/projects');

describe('the demo lab', { skip: noGuest }, () => {
  it('is built and started with one click', async () => {
    await page.getByRole('button', { name: 'Build the demo lab' }).click();
    await page.waitForURL(/\/projects\//, { timeout: bootLimitMs });
    await page.getByText('3 nodes, 3 running · 2 links').waitFor({ timeout: bootLimitMs });
  });

  it('has consoles side by side, in which one machine pings the other', async () => {
    await canvas(page).node('VM2').dblclick();
    await consoleText(page, /VM2#/, { timeout: bootLimitMs });
    await canvas(page).node('VM1').dblclick();
    await consoleText(page, /VM1#/, { timeout: bootLimitMs });
    const sent: string[] = [];
    page.once('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))));
    await page.getByRole('button', { name: 'Move to a new pane' }).click();
    await page.locator('.pane').nth(1).waitFor();
    await page.locator('.pane.current .console:not([hidden]) .xterm-screen').click();
    await consoleText(page, /VM1#/, { of: 'VM1' });
    await type(page, 'ping -c 3 10.0.0.2');
    await consoleText(page, /3 packets received/, { of: 'VM1' });
    // The guest's shell queried the cursor position long before this connection.
    const [beforePing = ''] = sent.join('').split('ping');
    assert.equal(beforePing.includes('\x1b['), false, JSON.stringify(sent));
    await picture(page, 'page');
  });

  it('finds text in a console, and shows the settings of a node', async () => {
    await page.keyboard.press('Control+Shift+F');
    await page.getByRole('textbox', { name: 'Find' }).fill('BusyBox');
    assert.equal(await page.locator('.find-bar .missed').count(), 0);
    await page.getByRole('textbox', { name: 'Find' }).fill('no such words');
    await page.locator('.find-bar .missed').waitFor();
    await page.keyboard.press('Escape');
    await canvas(page).node('VM1').click();
    await page.getByText('Details', { exact: true }).last().click();
    await page.getByText('-kernel').waitFor();
  });

  it('shows at the node why it cannot start', async () => {
    const [project] = await projects();
    const path = `/v2/projects/${project?.project_id}`;
    const broken = { name: 'Broken', node_type: 'qemu', compute_id: 'local', x: 0, y: -190 };
    await client.post(`${path}/nodes`, { ...broken, properties: { ram: 64, options: '-no-such-option' } });
    await canvas(page).node('Broken').click();
    await page.keyboard.press('Alt+s');
    const reason = page.locator('.inspector .notice.error');
    await reason.waitFor();
    assert.match(await reason.innerText(), /no-such-option/);
    await page.locator('.node .dot.failed').waitFor({ state: 'attached' });
    await canvas(page).node('Broken').click({ button: 'right' });
    // A machine that does not run has no memory to keep.
    assert.ok(await page.getByRole('menuitem', { name: 'Keep as warm template' }).isDisabled());
    await page.keyboard.press('Escape');
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await canvas(page).node('Broken').waitFor({ state: 'detached' });
  });

  it('keeps the booted machine of a node as a template, and offers it for machines only', async () => {
    const keep = page.getByRole('menuitem', { name: 'Keep as warm template' });
    await canvas(page).node('PC1').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
    assert.equal(await keep.count(), 0);
    await page.keyboard.press('Escape');
    await canvas(page).node('VM1').click({ button: 'right' });
    await keep.click();
    await page
      .getByText(/^The template VM1-warm holds the booted machine: .+, paused for \d+ ms\./)
      .waitFor({ timeout: bootLimitMs });
    const templates = await client.get<{ name: string; warm?: { node_name: string } }[]>('/v2/templates');
    assert.equal(templates.find(({ name }) => name === 'VM1-warm')?.warm?.node_name, 'VM1');
  });

  it('is frozen, forked and rewound while it runs', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Demo lab' }).click();
    await page.getByRole('menuitem', { name: 'Snapshots' }).click();
    await page.getByLabel('Name of the snapshot').fill('warm');
    await page.getByRole('button', { name: 'Freeze', exact: true }).click();
    await page.getByText(/With running machines \(.* on disk\), which stood still for \d+ ms/).waitFor({ timeout: bootLimitMs });
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('link', { name: 'Open Demo lab fork' }).waitFor({ timeout: bootLimitMs });
    await page.getByLabel('Take checkpoints while nodes run').check();
    await page.getByRole('button', { name: 'Take checkpoint now' }).click();
    const checkpoint = page.getByRole('list', { name: 'Timeline' }).locator('.checkpoint');
    await checkpoint.getByText(/With running machines/).waitFor({ timeout: bootLimitMs });
    await page.getByText(/^1 takes .* on disk · Next at /).waitFor();
    await page.getByLabel('Take checkpoints while nodes run').uncheck();
    await page.getByText(/^1 takes .* on disk$/).waitFor();
    await checkpoint.getByRole('button', { name: 'Keep' }).click();
    await checkpoint.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Rewind here' }).first().click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Rewind' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached', timeout: bootLimitMs });
    await page.getByText('3 nodes, 3 running').first().waitFor({ timeout: bootLimitMs });
    // The present of before was kept, and one undo returns to it.
    await page.keyboard.press('Control+z');
    const [demo] = (await projects()).filter(({ name }) => name === 'Demo lab');
    const history = () => client.get<History>(`/v2/projects/${demo?.project_id}/history`);
    await waitFor(async () => (await history()).entries[0]?.inverts, { what: 'the rewind, undone', limitMs: bootLimitMs });
    assert.equal((await history()).entries[1]?.action, 'project.rewound');
    await page.getByText('3 nodes, 3 running').first().waitFor({ timeout: bootLimitMs });
    await page.getByRole('button', { name: 'Activity', exact: true }).click();
    await page.getByText(/^Reverted: Rewound to “/).waitFor();
    await page.getByText(/^Rewound to “/).waitFor();
    await page.keyboard.press('Escape');
    const fork = (await projects()).find(({ name }) => name === 'Demo lab fork');
    await client.delete(`/v2/projects/${fork?.project_id}`);
    await page.keyboard.press('Escape');
  });

  it('is stopped, saved as a snapshot, exported, and imported again', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Stop all' }).first().click();
    await page.getByText('3 nodes, 0 running').waitFor({ timeout: bootLimitMs });
    await page.getByRole('button', { name: 'Actions for Demo lab' }).click();
    await page.getByRole('menuitem', { name: 'Snapshots' }).click();
    await page.getByLabel('Name of the snapshot').fill('fresh');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Delete fresh' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Demo lab' }).click();
    await page.getByRole('menuitem', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    const download = await downloading;
    const file = await readFile(await download.path());
    assert.equal(file.subarray(0, 2).toString(), 'PK');
    await page.getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('button', { name: 'Import' }).click();
    const chosen = { name: download.suggestedFilename(), mimeType: 'application/octet-stream', buffer: file };
    await page.getByRole('dialog').locator('input[type=file]').setInputFiles(chosen);
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Imported');
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.getByText('3 nodes, 0 running · 2 links').waitFor();
    await waitFor(async () => (await projects()).some(({ name }) => name === 'Imported'), { what: 'the imported project' });
  });

  it('is healthy: nothing was noticed in it while it booted, ran, was frozen and rewound', () => assert.deepEqual(noticed, []));

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
