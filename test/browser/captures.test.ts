/** Captures stay: when their tab moves, when they are stopped, and when another one is started. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import axe, { type AxeResults } from 'axe-core';
import type { Link } from '../../src/schema/link.ts';
import { ethernetLink } from '../../web/capture/decode/decode.ts';
import { pcapFile } from '../../web/capture/pcap.ts';
import { openTab, picture } from '../support/browser.ts';
import { type Segment, tcpFrame } from '../support/tcp-frames.ts';
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

describe('the analysis of a capture', () => {
  const request = 'GET /hosts HTTP/1.1\r\nHost: 10.0.0.2\r\n\r\n';
  const answer = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n${'router-1 up, router-2 up\n'.repeat(3)}`;
  const segments: readonly Segment[] = [
    { from: 1, sequence: 99, syn: true },
    { from: 2, sequence: 499, syn: true, ack: true },
    { from: 1, sequence: 100, data: request, ack: true },
    { from: 2, sequence: 500, data: answer, ack: true },
  ];
  const start = Date.parse('2026-11-01T12:00:00Z');
  const write = (name: string, lateMs: number, changed: { readonly ttl: number }) => {
    const packets = segments.map((segment, at) => {
      const bytes = tcpFrame(segment, changed);
      return { number: at + 1, timeMs: start + 20 * at + lateMs, length: bytes.length, bytes };
    });
    return pcapFile(packets, ethernetLink)
      .bytes()
      .then((bytes) => writeFile(join(captures, name), bytes));
  };
  const view = page.getByRole('tabpanel', { name: 'near.pcap' });
  const check = async (name: string) => {
    const dialog = page.getByRole('dialog');
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-${colorScheme}`);
      const { violations } = await page.evaluate<AxeResults>("axe.run('dialog[open]')");
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`),
        [],
      );
    }
    return dialog;
  };

  it('counts its protocols', async () => {
    await write('near.pcap', 0, { ttl: 64 });
    await write('far.pcap', 12.5, { ttl: 62 });
    await page.evaluate(axe.source);
    await page.getByRole('button', { name: 'Captures', exact: true }).click();
    await page.locator('dialog li').filter({ hasText: 'near.pcap' }).getByRole('button', { name: 'Open', exact: true }).click();
    await view.getByText('Ended: 4 packets').waitFor();
    await view.getByRole('button', { name: 'Statistics by protocol' }).click();
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /^TCP 4 100\.0 %/ })
      .waitFor();
    await check('statistics');
  });

  it('shows both directions of a TCP stream, as text and in hexadecimal digits, and saves it', async () => {
    await view.locator('[data-packet="3"]').click();
    await view.getByRole('button', { name: 'Follow TCP stream' }).click();
    const dialog = page.getByRole('dialog', { name: '10.0.0.1:4000 ⇄ 10.0.0.2:80' });
    await dialog.locator('.stream-piece').filter({ hasText: 'GET /hosts' }).waitFor();
    await dialog.locator('.stream-piece.back').filter({ hasText: 'router-2 up' }).waitFor();
    await check('stream');
    await dialog.getByLabel('Direction').selectOption('1');
    assert.equal(await dialog.locator('.stream-piece').count(), 1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Save the bytes' }).click(),
    ]);
    assert.equal(await readFile(await download.path(), 'utf8'), answer);
    await dialog.getByLabel('Shown as').selectOption('hex');
    await dialog.getByText('48 54 54 50 2f 31 2e 31').waitFor();
  });

  it('finds the frame in another capture, with the time between them', async () => {
    await view.getByRole('button', { name: 'Path of this frame' }).click();
    const dialog = page.getByRole('dialog', { name: 'Path of packet 3' });
    await dialog.getByRole('row', { name: /far\.pcap.*TTL 62 \+12\.500 ms/ }).waitFor();
    await dialog.getByText('near.pcap', { exact: true }).waitFor();
    await check('path');
    await dialog.getByRole('button', { name: 'Open far.pcap' }).click();
    await page.getByRole('tabpanel', { name: 'far.pcap' }).getByText('Ended: 4 packets').waitFor();
    for (const name of ['far.pcap', 'near.pcap']) await page.getByRole('button', { name: `Close the console of ${name}` }).click();
  });

  it('all files are downloaded as one archive', async () => {
    await page.getByRole('button', { name: 'Captures', exact: true }).click();
    const save = page.getByRole('dialog').getByRole('button', { name: 'Download all' });
    const [download] = await Promise.all([page.waitForEvent('download'), save.click()]);
    const { stdout } = await promisify(execFile)('tar', ['-tf', await download.path()]);
    assert.deepEqual(
      stdout
        .split('\n')
        .filter((name) => /^(far|near|kept)/.test(name))
        .sort(),
      ['far.pcap', 'kept.pcap', 'near.pcap'],
    );
    for (const name of ['far.pcap', 'near.pcap']) await rm(join(captures, name));
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
