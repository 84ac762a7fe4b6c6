/** Captures stay: when their tab moves, when they are stopped, and when another one is started. */
import assert from 'node:assert/strict';
import { access, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
// Switches send nothing of their own.
const one = await createNode(client, project, 'ethernet_hub', { name: 'H1', x: -200 });
const other = await createNode(client, project, 'ethernet_hub', { name: 'H2', x: 200 });
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const linkPath = `${project.path}/links/${link_id}`;
const { path } = await client.get<{ path: string }>(project.path);
const captures = join(path, 'project-files/captures');
await mkdir(captures, { recursive: true });
const traffic = join(import.meta.dirname, '../../web/capture/traffic.pcap');
await copyFile(traffic, join(captures, 'kept.pcap'));
await client.post(`${linkPath}/start_capture`, { capture_file_name: 'kept.pcap', append: true });

const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const tab = page.getByRole('tab', { name: 'H1 – H2' });
const field = page.getByRole('searchbox', { name: 'Display filter' });
const rows = page.locator('.packet-table [data-packet]');
await canvas(page).node('H1').waitFor();
beforeEach(() => toCanvas(page));
/** Waits until the page shows it: the key W depends on it. */
const stopCapture = async () => {
  await client.post(`${linkPath}/stop_capture`);
  await page.locator('.link.capturing').waitFor({ state: 'detached' });
};

describe('a capture', () => {
  it('keeps its packets, filter and selection when it is stopped and its tab moves', async () => {
    await selectLink(page);
    await page.keyboard.press('w');
    await page.getByText(/Live: \d\d packets/).waitFor();
    await field.fill('arp');
    await page.getByText(/\d+ of \d\d packets/).waitFor();
    await rows.first().click();
    await page.getByRole('region', { name: /^Packet \d+$/ }).waitFor();
    const chosen = await page.locator('.packet-table [aria-selected="true"]').getAttribute('data-packet');
    const count = await rows.count();
    await page.getByRole('button', { name: 'Stop capture' }).last().click();
    await page.getByText('Ended:').waitFor();
    // A second tab: only a pane with two tabs can be split.
    await canvas(page).node('H1').click();
    await page.evaluate("document.querySelector('.packet-table').dataset.old = ''");
    await client.post(`${project.path}/nodes`, { name: 'PC', node_type: 'vpcs', compute_id: 'local', x: 0, y: -150 });
    await canvas(page).node('PC').click();
    await page.keyboard.press('c');
    await page.getByRole('tab', { name: 'PC' }).waitFor();
    await tab.click();
    await page.getByRole('button', { name: 'Move to a new pane' }).click();
    await page.locator('.packet-table:not([data-old])').waitFor();
    await waitFor(async () => (await rows.count()) === count, { what: `the ${count} rows` });
    assert.equal(await field.inputValue(), 'arp');
    await page.locator(`.packet-table [aria-selected="true"][data-packet="${chosen}"]`).waitFor();
  });

  it('can be opened again from its file', async () => {
    await page.reload();
    await canvas(page).node('H1').waitFor();
    await selectLink(page);
    await page.keyboard.press('Alt+w');
    await page.getByText(/Ended: \d\d packets/).waitFor();
    await rows.first().waitFor();
  });

  it('has a file of its own', async () => {
    await page.getByRole('button', { name: 'Start capture' }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start capture' }).click();
    const file = await waitFor(
      async () => {
        const { capturing, capture_file_name } = await client.get<Link>(linkPath);
        return capturing && capture_file_name;
      },
      { what: 'the second capture' },
    );
    assert.match(String(file), /^H1_0-0_to_H2_0-0_\d{8}-\d{6}\.pcap$/);
    await access(join(captures, 'kept.pcap'));
  });
});

describe('capture files', () => {
  const dialog = page.getByRole('dialog', { name: 'Captures' });
  const listed = async () => {
    await toCanvas(page);
    await page.getByRole('button', { name: 'Captures', exact: true }).click();
    await dialog.locator('li').first().waitFor();
    return dialog.locator('li strong').allTextContents();
  };

  it('get a number when the typed name is taken', async () => {
    for (const expected of ['mine.pcap', 'mine-2.pcap']) {
      await stopCapture();
      await selectLink(page);
      await page.keyboard.press('w');
      await page.getByLabel('File name').fill('mine');
      await page.keyboard.press('Enter');
      const isIt = async () => (await client.get<Link>(linkPath)).capture_file_name === expected;
      await waitFor(isIt, { what: expected });
      await page.locator('.link.capturing').waitFor({ state: 'attached' });
    }
    assert.deepEqual((await listed()).filter((name) => name.startsWith('mine')).sort(), ['mine-2.pcap', 'mine.pcap']);
  });

  it('open from the list after the project was closed, and are deleted there', async () => {
    await stopCapture();
    await client.post(`${project.path}/close`, {}, 204);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await canvas(page).node('H1').waitFor();
    await listed();
    const kept = dialog.locator('li').filter({ hasText: 'kept.pcap' });
    await kept.getByRole('button', { name: 'Open', exact: true }).click();
    await page
      .getByRole('tabpanel', { name: 'kept.pcap' })
      .getByText(/Ended: \d\d packets/)
      .waitFor();
    // Another program has replaced the file: opened once more, it is read again.
    const view = page.getByRole('tabpanel', { name: 'kept.pcap' });
    await copyFile(join(captures, 'mine.pcap'), join(captures, 'kept.pcap'));
    await listed();
    await kept.getByRole('button', { name: 'Open', exact: true }).click();
    await view.getByText('Ended: 0 packets').waitFor();
    await copyFile(traffic, join(captures, 'kept.pcap'));
    assert.ok((await listed()).includes('mine.pcap'));
    await dialog.getByRole('button', { name: 'Delete mine.pcap' }).click();
    await page.getByRole('button', { name: 'Delete capture' }).click();
    await dialog.getByText('mine.pcap').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Close the console of kept.pcap' }).click();
  });
});

describe('the display filter', () => {
  it('says what is wrong, and leaves the table as it is', async () => {
    await client.post(`${linkPath}/start_capture`, { capture_file_name: 'kept.pcap', append: true });
    await page.locator('.link.capturing').waitFor({ state: 'attached' });
    await selectLink(page);
    await page.keyboard.press('w');
    await page.getByText(/Live: \d\d packets/).waitFor();
    await field.fill('ip.addr == 10.0.0');
    await page.getByText('“10.0.0” is not an IPv4 address or network').waitFor();
    await rows.first().waitFor();
    await field.fill('tcp.port == 80 or arp');
    await page.getByText(/\d+ of \d\d packets/).waitFor();
    await field.fill('nothing');
    await page.getByText('Searched as text: nothing').waitFor();
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
