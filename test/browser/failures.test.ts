/** Failures of nodes and links: shown in every window of the project, with the button that repairs them. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { createNode, createProject, end, type ProjectHandle, withServer } from '../support/with-server.ts';
import { canvas, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
await client.send('POST /v2/compute/qemu/images/absent.img', { raw: Buffer.alloc(70_000, 5) });
const { node_id } = await createNode(client, project, 'qemu', { name: 'VM', properties: { hda_disk_image: 'absent.img' } });
await rm(join(server.dataDir, 'images', 'QEMU', 'absent.img'));
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const panel = page.locator('aside.inspector');

describe('a node that cannot start', () => {
  it('says why in a window that did not ask for it, with the buttons that repair it', async () => {
    await canvas(page).node('VM').click();
    await panel.getByRole('heading', { name: 'VM' }).waitFor();
    const { status } = await client.send(`POST ${project.path}/nodes/${node_id}/start`);
    assert.ok(status >= 400, `${status}`);
    await panel
      .getByRole('alert')
      .getByText(/absent\.img/)
      .waitFor();
    await picture(page, 'failure');
    await panel.getByRole('button', { name: 'Start again' }).waitFor();
    await panel.getByRole('button', { name: 'Add the image…' }).click();
    const images = page.getByRole('dialog', { name: 'Images' });
    const file = { name: 'absent.img', mimeType: '', buffer: Buffer.alloc(70_000, 5) };
    await images.locator('input[type=file]').setInputFiles(file);
    await images.getByText('Stored as absent.img').waitFor();
    await picture(page, 'failure-image');
    await page.keyboard.press('Escape');
  });

  it('is started again there, and the failure is gone in this window, also when another user starts it', async () => {
    await panel.getByRole('button', { name: 'Start again' }).click();
    await panel.getByText('Running', { exact: true }).waitFor();
    await panel.getByRole('alert').waitFor({ state: 'detached' });
    assert.equal(await panel.getByRole('button', { name: 'Start again' }).count(), 0);
    await client.post(`${project.path}/nodes/${node_id}/stop`, {}, 200);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});

/** A lab with a tunnel whose port the tunnel of another lab has, until `release`; `take` gives it back. */
async function labWithTunnel(name: string) {
  const lport = await freePort();
  const tunnel = { name: 'tunnel', type: 'udp', port_number: 0, lport, rhost: '127.0.0.1', rport: 9 };
  const properties = { ports_mapping: [tunnel] };
  const other = await createProject(client, { name: `Beside ${name}`, auto_close: false });
  const ends = [await createNode(client, other), await createNode(client, other, 'cloud', { properties })];
  const take = () => client.post<Link>(`${other.path}/links`, { nodes: ends.map((node) => end(node)) });
  const { link_id } = await take();
  const release = () => client.delete(`${other.path}/links/${link_id}`);
  const lab = await createProject(client, { name, auto_close: false });
  const pc = await createNode(client, lab, 'vpcs', { name: 'PC1', x: -150 });
  const cloud = await createNode(client, lab, 'cloud', { name: 'Out', x: 150, properties });
  return { lab, pc, cloud, take, release };
}
const linksOf = ({ path }: ProjectHandle) => client.get<Link[]>(`${path}/links`);

describe('a link that cannot be made', () => {
  it('is a notice in a window that did not ask for it, and is made there once it can be', async () => {
    const { lab, pc, cloud, release } = await labWithTunnel('Refused');
    await toCanvas(page, `${server.url}/projects/${lab.id}`);
    await canvas(page).node('Out').waitFor();
    const { status } = await client.send(`POST ${lab.path}/links`, { body: { nodes: [end(pc), end(cloud)] } });
    assert.equal(status, 409);
    const notice = page.locator('.canvas-notice');
    await notice.getByText(/^PC1 – Out could not be linked\. .*port/).waitFor();
    await picture(page, 'link-unmade');
    await notice.getByRole('button', { name: 'Show' }).click();
    await page.locator('.node.selected').nth(1).waitFor();
    await notice.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.toast.error').waitFor();
    assert.deepEqual([await linksOf(lab), await notice.count()], [[], 1]);
    await release();
    await notice.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.link').waitFor({ state: 'attached' });
    await notice.waitFor({ state: 'detached' });
  });

  it('to other ports keeps its own, says why, and is moved by a click once it can be', async () => {
    const { lab, pc, cloud, release } = await labWithTunnel('Not moved');
    const other = await createNode(client, lab, 'vpcs', { name: 'PC2' });
    const { link_id } = await client.post<Link>(`${lab.path}/links`, { nodes: [end(pc), end(other)] });
    await toCanvas(page, `${server.url}/projects/${lab.id}`);
    await canvas(page).node('Out').waitFor();
    await client.send(`PUT ${lab.path}/links/${link_id}/ends`, { body: { nodes: [end(pc), end(cloud)] } });
    await page.locator('.badge.failed').waitFor();
    await selectLink(page);
    await panel
      .getByRole('alert')
      .getByText(/^It could not be connected to the other port\. .*port/)
      .waitFor();
    await picture(page, 'link-not-moved');
    await release();
    await panel.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.badge.failed').waitFor({ state: 'detached' });
    assert.deepEqual(
      (await linksOf(lab))[0]?.nodes.map(({ node_id }) => node_id),
      [pc.node_id, cloud.node_id],
    );
  });

  it('when its project is opened says so in a window that is opened later, and is made by a click', async () => {
    const { lab, pc, cloud, take, release } = await labWithTunnel('Opened');
    await release();
    await client.post(`${lab.path}/links`, { nodes: [end(pc), end(cloud)] });
    await client.post(`${lab.path}/close`, {}, 204);
    const { link_id, project_id } = await take();
    await client.post(`${lab.path}/open`);
    await toCanvas(page, `${server.url}/projects/${lab.id}`);
    await page.locator('.badge.failed').waitFor();
    assert.equal(await page.locator('.canvas-notice').count(), 0);
    await selectLink(page);
    await panel.getByRole('alert').getByText(/port/).waitFor();
    await client.delete(`/v2/projects/${project_id}/links/${link_id}`);
    await panel.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.badge.failed').waitFor({ state: 'detached' });
    assert.deepEqual(await client.get(`${lab.path}/problems`), []);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
