/** Nodes, links and drawings are copied between projects, windows and servers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Link } from '../../src/schema/link.ts';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const remote = await withServer();
const source = await createProject(client, { auto_close: false, snap_to_grid: false });
const target = await createProject(client, { auto_close: false, snap_to_grid: false });
const foreign = await createProject(remote.client, { auto_close: false, snap_to_grid: false });

const script = 'set pcname Copied\n';
const pc = await createNode(client, source, 'vpcs', { name: 'PC1', x: -300, properties: { startup_script: script } });
const vm = await createNode(client, source, 'qemu', { name: 'VM1', properties: { ...tinyVm, ram: 48, adapters: 2 } });
const hub = await createNode(client, source, 'ethernet_switch', { name: 'SW1', x: 200, y: 150 });
const others = ['nat', 'cloud', 'ethernet_hub', 'frame_relay_switch', 'atm_switch'];
for (const [place, kind] of others.entries()) await createNode(client, source, kind, { x: place * 100 - 300, y: 300 });
const wire = (nodes: object[], more = {}) => client.post<Link>(`${source.path}/links`, { nodes, ...more });
await wire([end(pc), end(hub)], { filters: { delay: [40, 5] } });
await wire([end(vm), end(hub, 0, 1)], { suspend: true });
const svg = '<svg width="80" height="40"><rect width="80" height="40" fill="#ffffff" stroke="#000000"/></svg>';
await client.post(`${source.path}/drawings`, { svg, x: 0, y: -200, rotation: 30 });

const first = await openTab(`${server.url}/projects/${source.id}`);
const { page } = first;
const openAlso = async (url: string): Promise<Page> => {
  const other = await page.context().newPage();
  await other.goto(url);
  await other.locator('svg.canvas').waitFor();
  await other.getByText('Opening the project…').waitFor({ state: 'detached' });
  return other;
};
const nodesOf = async (path: string, from = client) => (await from.get<NodeBody[]>(`${path}/nodes`)).map(({ name }) => name).sort();

async function copyAll(): Promise<void> {
  await page.bringToFront();
  await page.locator('svg.canvas').focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
}

async function pasteIn(other: Page): Promise<void> {
  await other.bringToFront();
  await other.locator('svg.canvas').focus();
  await other.keyboard.press('Control+v');
}

describe('copying', () => {
  it('pastes nodes of every kind into another project in another window, with properties, links and drawings', async () => {
    await canvas(page).node('PC1').waitFor();
    await copyAll();
    await page.getByText('9 items copied').waitFor();
    const other = await openAlso(`${server.url}/projects/${target.id}`);
    await pasteIn(other);
    await other.getByText('Pasted: 8 nodes, 2 links, 1 drawing; left out: the disks of the nodes').waitFor();
    assert.deepEqual(await nodesOf(target.path), await nodesOf(source.path));
    const copies = await client.get<NodeBody[]>(`${target.path}/nodes`);
    const copyOf = (name: string) => copies.find((node) => node.name === name)?.properties;
    assert.equal(copyOf('PC1')?.startup_script, script);
    assert.deepEqual([copyOf('VM1')?.ram, copyOf('VM1')?.adapters, copyOf('VM1')?.options], [48, 2, tinyVm.options]);
    assert.notEqual(copyOf('VM1')?.mac_address, vm.properties.mac_address);
    const links = await client.get<Link[]>(`${target.path}/links`);
    assert.deepEqual(
      links.map(({ filters, suspend }) => ({ filters, suspend })),
      [
        { filters: { delay: [40, 5] }, suspend: false },
        { filters: {}, suspend: true },
      ],
    );
    const [drawing] = await client.get<{ svg: string; rotation: number }[]>(`${target.path}/drawings`);
    assert.deepEqual([drawing?.svg, drawing?.rotation], [svg, 30]);
    // The pasted items are selected, and one undo removes all of them.
    await other.getByRole('heading', { name: '8 nodes, 1 drawing' }).waitFor();
    await other.keyboard.press('Control+z');
    await waitFor(async () => (await nodesOf(target.path)).length === 0, { what: 'the empty project' });
    await other.close();
  });

  it('reports links that were not copied', async () => {
    await page.bringToFront();
    await page.keyboard.press('Escape');
    await canvas(page).node('SW1').click();
    await page.keyboard.press('Control+c');
    const other = await openAlso(`${server.url}/projects/${target.id}`);
    await pasteIn(other);
    await other.getByText('Pasted: 1 node; left out: 2 links to nodes that were not copied').waitFor();
    // The second copy lies beside the first; the menu pastes, too.
    await other.locator('svg.canvas').click({ button: 'right', position: { x: 40, y: 40 } });
    await other.getByRole('menuitem', { name: 'Paste' }).click();
    await waitFor(async () => (await nodesOf(target.path)).length === 2, { what: 'the second copy' });
    const places = (await client.get<NodeBody[]>(`${target.path}/nodes`)).map(({ x, y }) => `${x} ${y}`);
    assert.equal(new Set(places).size, 2);
    await other.close();
  });

  it('reaches another server through the system’s clipboard', async () => {
    await page.keyboard.press('Escape');
    await copyAll();
    const other = await openAlso(`${remote.server.url}/projects/${foreign.id}`);
    await pasteIn(other);
    await other.getByText('Pasted: 8 nodes, 2 links, 1 drawing').waitFor();
    assert.deepEqual(await nodesOf(foreign.path, remote.client), await nodesOf(source.path));
    await other.close();
  });

  it('leaves the text of fields alone, and reports a clipboard without items', async () => {
    await page.bringToFront();
    await page.getByRole('searchbox', { name: 'Search templates' }).fill('some words');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    const before = await nodesOf(source.path);
    await page.locator('svg.canvas').focus();
    await page.keyboard.press('Control+v');
    await page.getByText('Nothing to paste').waitFor();
    assert.deepEqual(await nodesOf(source.path), before);
  });

  it('within the project copies the disks', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox', { name: 'Search templates' }).fill('');
    await page.locator('svg.canvas').focus();
    await canvas(page).node('PC1').locator('.symbol').click();
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await waitFor(async () => (await nodesOf(source.path)).includes('PC2'), { what: 'the copy' });
    // Pasted items are selected when everything has been copied.
    await page.locator('.node.selected[aria-label^="PC2"]').waitFor();
    assert.equal(await page.getByText('left out').count(), 0);
  });

  it('causes no error in the page', () => assert.deepEqual(first.problems, []));
});
