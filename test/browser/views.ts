/** Every view of the page, one after the other, on one lab: for tests and pictures that look at all of them. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Link } from '../../src/schema/link.ts';
import type { RawClient } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';
import { canvas, consoleText } from './page-parts.ts';

/** A view, shown by the page after the one before it. */
export interface View {
  readonly name: string;
  show(page: Page): Promise<unknown>;
  /** Undoes what would cover the next view. */
  leave?(page: Page): Promise<unknown>;
}

const box = (width: number, height: number, colour: string) =>
  `<svg width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${colour}" fill-opacity="0.2" stroke="${colour}" stroke-width="2"/></svg>`;
const words =
  '<svg width="150" height="24"><text font-family="sans-serif" font-size="16" fill="#808080">Three sites, one hub</text></svg>';

/** A lab with each kind of item: running and stopped nodes, an impaired and a captured link, drawings; and a template. */
export async function createLab(client: RawClient): Promise<ProjectHandle> {
  await createProject(client, { name: 'Campus', auto_close: false });
  const project = await createProject(client, { name: 'Views', auto_close: false });
  const node = (name: string, kind: string, x: number, y: number) => createNode(client, project, kind, { name, x, y });
  const link = (one: NodeBody, other: NodeBody, port: number) =>
    client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other, 0, port)] });
  await client.post(`${project.path}/drawings`, { svg: box(520, 190, '#2159dc'), x: -270, y: 60, z: -1 });
  await client.post(`${project.path}/drawings`, { svg: words, x: -260, y: 65, z: 1 });
  const core = await node('Core', 'ethernet_switch', -30, -60);
  const hub = await node('Hub', 'ethernet_hub', -30, 110);
  const pcs = [await node('PC1', 'vpcs', -220, 110), await node('PC2', 'vpcs', 160, 110), await node('PC3', 'vpcs', 160, -180)];
  await node('Internet', 'nat', -220, -180);
  const captured = await link(core, hub, 0);
  const impaired = await link(pcs[0] as NodeBody, hub, 1);
  await link(pcs[1] as NodeBody, hub, 2);
  await link(pcs[2] as NodeBody, core, 1);
  await client.put(`${project.path}/links/${impaired.link_id}`, { filters: { delay: [40, 5], packet_loss: [2] } }, 201);
  await captureOf(client, project, captured);
  await client.post(`${project.path}/nodes/${pcs[0]?.node_id}/start`, {}, 200);
  await client.post('/v2/templates', { name: 'Router', template_type: 'qemu', compute_id: 'local', ram: 256 });
  return project;
}

/** A capture of packets of many protocols. */
async function captureOf(client: RawClient, project: ProjectHandle, { link_id }: Link): Promise<void> {
  const { path } = await client.get<{ path: string }>(project.path);
  const captures = join(path, 'project-files/captures');
  await mkdir(captures, { recursive: true });
  await copyFile(join(import.meta.dirname, '../../web/capture/traffic.pcap'), join(captures, 'kept.pcap'));
  await client.post(`${project.path}/links/${link_id}/start_capture`, { capture_file_name: 'kept.pcap', append: true });
}

const press = (page: Page, ...keys: readonly string[]) =>
  keys.reduce(async (before, key) => {
    await before;
    await page.keyboard.press(key);
  }, Promise.resolve());
const pressEscape = (page: Page) => press(page, 'Escape');
const closeDialog = async (page: Page) => {
  await pressEscape(page);
  await page.locator('dialog').waitFor({ state: 'detached' });
};
const dialog = (page: Page) => page.locator('dialog[open]').waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const choose = async (page: Page, menu: string, entry: string) => {
  await button(page, menu);
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
  await dialog(page);
};
const link = (page: Page, at: number) => page.locator('.link .hit').nth(at).click({ force: true });

const ofCanvas: readonly View[] = [
  { name: 'canvas', show: (page) => canvas(page).node('PC3').waitFor() },
  { name: 'node', show: (page) => canvas(page).node('PC1').click() },
  { name: 'switch', show: (page) => canvas(page).node('Core').click() },
  { name: 'several', show: (page) => press(page, 'Control+a') },
  { name: 'link', show: (page) => link(page, 1).then(() => page.getByLabel('Latency').first().waitFor()) },
  { name: 'drawing', show: (page) => page.locator('.drawing').last().click({ force: true }), leave: pressEscape },
  { name: 'node-menu', show: (page) => canvas(page).node('PC2').click({ button: 'right' }), leave: pressEscape },
  {
    name: 'ports',
    show: async (page) => {
      await canvas(page).node('Core').click();
      await press(page, 'l');
      await page.locator('.ports').waitFor();
    },
    leave: (page) => press(page, 'Escape', 'Escape'),
  },
  {
    name: 'delete',
    show: (page) =>
      canvas(page)
        .node('PC2')
        .click()
        .then(() => press(page, 'Delete')),
    leave: closeDialog,
  },
  {
    name: 'find',
    show: (page) => press(page, 'Control+k', 'p').then(() => page.getByRole('listbox').waitFor()),
    leave: closeDialog,
  },
  { name: 'help', show: (page) => press(page, '?').then(() => dialog(page)), leave: closeDialog },
  { name: 'settings', show: (page) => choose(page, 'Actions for Views', 'Export'), leave: closeDialog },
  { name: 'snapshots', show: (page) => choose(page, 'Actions for Views', 'Snapshots'), leave: closeDialog },
  {
    name: 'console',
    show: async (page) => {
      await canvas(page).node('PC1').dblclick();
      await consoleText(page, /VPCS>/);
      await press(page, 'Control+F6');
    },
  },
  {
    name: 'capture-dialog',
    show: async (page) => {
      await link(page, 2);
      await press(page, 'w');
      await dialog(page);
    },
    leave: closeDialog,
  },
  {
    name: 'captures',
    show: async (page) => {
      await pressEscape(page);
      await button(page, 'Captures');
      await page.locator('dialog li').first().waitFor();
    },
    leave: closeDialog,
  },
  {
    name: 'capture',
    show: async (page) => {
      await link(page, 0);
      await press(page, 'w');
      await page.locator('.packet-table [data-packet]').nth(3).click();
      await page.getByRole('region', { name: /^Packet \d+$/ }).waitFor();
    },
  },
];

const ofServer: readonly View[] = [
  {
    name: 'projects',
    show: (page) =>
      page
        .getByRole('link', { name: 'Projects' })
        .first()
        .click()
        .then(() => page.getByText('Campus').first().waitFor()),
  },
  { name: 'new-project', show: (page) => button(page, 'New project').then(() => dialog(page)), leave: closeDialog },
  { name: 'import', show: (page) => button(page, 'Import').then(() => dialog(page)), leave: closeDialog },
  {
    name: 'templates',
    show: (page) =>
      page
        .getByRole('link', { name: 'Templates' })
        .click()
        .then(() => page.getByText('Router', { exact: true }).waitFor()),
  },
  { name: 'new-template', show: (page) => button(page, 'New template').then(() => dialog(page)), leave: closeDialog },
  {
    name: 'template',
    show: (page) =>
      page
        .getByText('Router', { exact: true })
        .click()
        .then(() => page.getByLabel('Memory').waitFor()),
    leave: closeDialog,
  },
  {
    name: 'server',
    show: (page) =>
      page
        .getByRole('link', { name: 'Server' })
        .click()
        .then(() => page.getByRole('meter').first().waitFor()),
  },
  { name: 'add-compute', show: (page) => button(page, 'Add compute').then(() => dialog(page)), leave: closeDialog },
];

/** Starting from the page of the lab's project. */
export const views: readonly View[] = [...ofCanvas, ...ofServer];
