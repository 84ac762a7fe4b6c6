/** Every view of the page, one after the other, on one lab: for tests and pictures that look at all of them. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Link } from '../../src/schema/link.ts';
import type { RawClient } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';
import { canvas, consoleText, selectLink } from './page-parts.ts';

/** A view, shown by the page after the one before it. */
export interface View {
  readonly name: string;
  show(page: Page): Promise<unknown>;
  /** Selector of what it adds to the views before it. */
  readonly part?: string;
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
  await client.send(`POST ${project.path}/files/lab.yaml`, { raw: Buffer.from('name: Views\nchecks: []\n') });
  await client.post(`${project.path}/snapshots`, { name: 'configured' });
  await client.put(project.path, { checkpoint_minutes: 60 });
  await client.post(`${project.path}/checkpoints`);
  await client.send('POST /v2/compute/qemu/images/router.img', { raw: Buffer.alloc(65_536) });
  const router = { name: 'Router', template_type: 'qemu', compute_id: 'local', ram: 256, hda_disk_image: 'router.img' };
  await client.post('/v2/templates', router);
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
const modal = { part: 'dialog[open]', leave: closeDialog } as const;
const heading = (page: Page, text: string) => page.locator('.inspector h2', { hasText: text }).waitFor();
const select = async (page: Page, name: string) => {
  await canvas(page).node(name).click();
  await heading(page, name);
};
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const choose = async (page: Page, menu: string, entry: string) => {
  await button(page, menu);
  await page.getByRole('menuitem', { name: entry, exact: true }).click();
};

const ofCanvas: readonly View[] = [
  { name: 'canvas', show: (page) => canvas(page).node('PC3').waitFor() },
  {
    name: 'lab-text',
    show: async (page) => {
      await page.locator('svg.canvas').focus();
      await press(page, 'y');
      await page.getByText('As the lab is now.').waitFor();
      await page.getByRole('textbox', { name: /^The lab as YAML/ }).click();
      await press(page, 'Control+a');
      await page.keyboard.insertText('nodes:\n  PC1: {kind: vpcs, x: -90} # moved\n  PC4: {kind: vpcs, label: {y: -9}}\n');
      await page.locator('[data-ghost="create node PC4"]').waitFor();
    },
    part: '.lab-text',
    leave: async (page) => {
      await button(page, 'Discard edits');
      await button(page, 'Close the text');
    },
  },
  {
    name: 'time-line',
    show: async (page) => {
      await page.locator('svg.canvas').focus();
      await press(page, 'h');
      await page.locator('.mark.snapshot').first().hover();
      await page.locator('.mark-card').waitFor();
    },
    part: '.time-line',
    leave: (page) => press(page, 'h'),
  },
  { name: 'node', show: (page) => select(page, 'PC1'), part: '.inspector' },
  { name: 'switch', show: (page) => select(page, 'Core'), part: '.inspector' },
  { name: 'several', show: (page) => press(page, 'Control+a').then(() => heading(page, '6 nodes')) },
  {
    name: 'link',
    show: (page) => selectLink(page, 1).then(() => page.getByLabel('Latency').first().waitFor()),
    part: '.inspector',
  },
  {
    name: 'drawing',
    show: async (page) => {
      await page.locator('.drawing').last().click({ force: true });
      await heading(page, 'Text');
    },
    leave: pressEscape,
  },
  {
    name: 'node-menu',
    show: async (page) => {
      await canvas(page).node('PC2').click({ button: 'right' });
      await page.locator('.popup').waitFor();
    },
    part: '.popup',
    leave: pressEscape,
  },
  {
    name: 'ports',
    show: async (page) => {
      await select(page, 'Core');
      await press(page, 'l');
      await page.locator('.ports').waitFor();
    },
    part: '.popup',
    leave: (page) => press(page, 'Escape', 'Escape'),
  },
  { name: 'delete', show: (page) => select(page, 'PC2').then(() => press(page, 'Delete')), ...modal },
  {
    name: 'find',
    show: (page) => press(page, 'Control+k', 'p').then(() => page.getByRole('listbox').waitFor()),
    ...modal,
  },
  { name: 'help', show: (page) => press(page, '?'), ...modal },
  {
    name: 'settings',
    show: async (page) => {
      await pressEscape(page);
      await button(page, 'Project settings');
    },
    ...modal,
  },
  { name: 'export', show: (page) => choose(page, 'Actions for Views', 'Export'), ...modal },
  {
    name: 'snapshots',
    show: async (page) => {
      await choose(page, 'Actions for Views', 'Snapshots');
      await page
        .getByRole('list', { name: 'Timeline' })
        .getByText(/ on disk$/)
        .first()
        .waitFor();
    },
    ...modal,
  },
  {
    name: 'config',
    show: async (page) => {
      await select(page, 'PC1');
      await button(page, 'Configuration files');
      await page.getByLabel('Content of the file').waitFor();
    },
    ...modal,
  },
  {
    name: 'console',
    show: async (page) => {
      await canvas(page).node('PC1').dblclick();
      await consoleText(page, /VPCS>/);
      await press(page, 'Control+F6');
    },
    part: '.consoles',
  },
  { name: 'capture-dialog', show: (page) => selectLink(page, 2).then(() => press(page, 'w')), ...modal },
  {
    name: 'captures',
    show: async (page) => {
      await pressEscape(page);
      await button(page, 'Captures');
      await page.locator('dialog li').first().waitFor();
    },
    ...modal,
  },
  {
    name: 'notes',
    show: async (page) => {
      await button(page, 'Notes');
      const text =
        '# Three sites\n\nThe hub is in **Berlin**, see [Core](#Core).\n\n| site | network |\n|---|---|\n| A | `10.0.1.0/24` |\n\n- [x] addresses\n- [ ] routing\n\n```console PC1\nshow ip\n```\n\n```console PC2\nshow ip\n```\n\n`Core-Hub`\n';
      await page.getByLabel('Notes in Markdown').fill(text);
      await button(page, 'Preview');
      await page.getByRole('button', { name: 'Core', exact: true }).waitFor();
      await page.getByText('What is checked').click();
    },
    part: '.notes-pane',
    leave: async (page) => {
      await button(page, 'Close the notes');
      await page.locator('.notes-pane').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'activity',
    show: async (page) => {
      await button(page, 'Activity');
      await page.locator('.activity-step').nth(5).waitFor();
    },
    ...modal,
  },
  {
    name: 'capture',
    show: async (page) => {
      await selectLink(page);
      await press(page, 'w');
      await page.locator('.packet-table [data-packet]').nth(3).click();
      await page.getByRole('region', { name: /^Packet \d+$/ }).waitFor();
    },
    part: '.consoles',
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
  { name: 'samples', show: (page) => button(page, 'Sample labs'), ...modal },
  { name: 'new-project', show: (page) => button(page, 'New project'), ...modal },
  { name: 'import', show: (page) => button(page, 'Import'), ...modal },
  {
    name: 'lab-file',
    show: async (page) => {
      await button(page, 'Lab file');
      const buffer = Buffer.from('nodes:\n  PC1: {kind: vpcs}\n  PC9: {kind: vpcs}\n');
      await page.locator('dialog input[type=file]').setInputFiles({ name: 'Views.yaml', mimeType: 'text/yaml', buffer });
      await page.locator('.lab-plan').waitFor();
    },
    ...modal,
  },
  {
    name: 'templates',
    show: (page) =>
      page
        .getByRole('link', { name: 'Templates' })
        .click()
        .then(() => page.getByText('Router', { exact: true }).waitFor()),
  },
  { name: 'new-template', show: (page) => button(page, 'New template'), ...modal },
  {
    name: 'template',
    show: (page) =>
      page
        .getByText('Router', { exact: true })
        .click()
        .then(() => page.getByLabel('Memory').waitFor()),
    ...modal,
  },
  {
    name: 'appliances',
    show: async (page) => {
      await page.getByRole('link', { name: 'Appliances' }).click();
      await page.locator('.appliance-card').nth(5).waitFor();
    },
  },
  {
    name: 'appliance',
    show: async (page) => {
      await page.locator('.appliance-card').filter({ hasText: 'Arista vEOS' }).click();
      await page.locator('.needed-files').waitFor();
    },
    ...modal,
  },
  {
    name: 'images',
    show: async (page) => {
      await page.getByRole('link', { name: 'Images' }).click();
      await page.locator('.image-table').waitFor();
    },
  },
  {
    name: 'image-from-url',
    show: async (page) => {
      await page.getByRole('button', { name: 'From a URL…' }).click();
      await page.getByLabel('URL').fill('https://other.example/disk.img');
      await page.getByRole('note').waitFor();
    },
    ...modal,
  },
  {
    name: 'server',
    show: (page) =>
      page
        .getByRole('link', { name: 'Server' })
        .click()
        .then(() => page.getByRole('meter').first().waitFor()),
  },
  { name: 'add-compute', show: (page) => button(page, 'Add compute'), ...modal },
];

/** Starting from the page of the lab's project. */
export const views: readonly View[] = [...ofCanvas, ...ofServer];
