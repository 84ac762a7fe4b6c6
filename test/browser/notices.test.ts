/** The page notices what is wrong in a lab: a line each, which shows it, repairs it, and leaves with its cause. */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Response } from 'playwright-core';
import type { Link } from '../../src/schema/link.ts';
import type { NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';
import { canvas, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const { page, problems } = await openTab(server.url);
const root = join(import.meta.dirname, '../..');
const notices = page.locator('.canvas-notice');
const button = (name: string) => notices.getByRole('button', { name });

/** PCs at a switch, each with a start-up script. */
async function labOf(name: string, scripts: readonly string[], filters: object = {}) {
  const project = await createProject(client, { name, auto_close: false });
  const middle = await createNode(client, project, 'ethernet_switch', { name: 'SW', y: 120 });
  const pcs: NodeBody[] = [];
  const links: Link[] = [];
  for (const [index, startup_script] of scripts.entries()) {
    const place = { name: `PC${index + 1}`, x: 200 * index - 200, y: -80 };
    const pc = await createNode(client, project, 'vpcs', { ...place, properties: { startup_script } });
    pcs.push(pc);
    const body = { nodes: [end(pc), end(middle, 0, index)], ...(index === 0 && filters) };
    links.push(await client.post<Link>(`${project.path}/links`, body));
  }
  return { project, pcs, links };
}

const start = ({ path }: ProjectHandle) => client.post(`${path}/nodes/start`, {}, 204);
const show = async ({ id }: ProjectHandle) => {
  await toCanvas(page, `${server.url}/projects/${id}`);
  await canvas(page).node('PC1').waitFor();
};
const probe = ({ path }: ProjectHandle, pc: NodeBody, body: object) =>
  client.post<NodeProbeAnswer>(`${path}/nodes/${pc.node_id}/probe`, body, 200);

/** Looks at the notices in both themes and three sizes: inside the window, and without findings of axe. */
async function inAllSizes(name: string): Promise<void> {
  await page.evaluate(axe.source);
  for (const [width, height] of [
    [1920, 1080],
    [390, 844],
    [1280, 800],
  ] as const)
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await picture(page, `notice-${name}-${width}-${colorScheme}`);
      const box = await page.locator('.canvas-notices').boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height, JSON.stringify(box));
      const { violations } = await page.evaluate<AxeResults>("axe.run('.canvas-notices', { resultTypes: ['violations'] })");
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${width} ${colorScheme} ${id}: ${nodes.map(({ html }) => html.slice(0, 150))}`),
        [],
      );
    }
}

/** Counts notices that the page shows from now on, also for a moment. */
const countNotices = () =>
  page.evaluate(`(() => {
    window.noticesSeen = 0;
    const count = () => { window.noticesSeen += document.querySelectorAll('.canvas-notice').length; };
    new MutationObserver(count).observe(document.body, { childList: true, subtree: true });
  })()`);

/** Moves the focus from the canvas to the first notice, by the keyboard. */
async function toNotice(): Promise<void> {
  await page.locator('svg.canvas').focus();
  const isThere = async () => {
    await page.keyboard.press('Tab');
    return page.evaluate<boolean>("document.activeElement.closest('.canvas-notice') !== null");
  };
  await waitFor(isThere, { what: 'the focus in a notice', everyMs: 1 });
}

describe('notices of a lab', () => {
  it('name PCs that share an address on one switch, open a console, and can be dismissed', async () => {
    // A PC that comes up refuses an address that another one has: they meet later.
    const { project, pcs, links } = await labOf('Addresses', ['ip 10.0.0.1/24\n', 'ip 10.0.0.1/24\n'], { suspend: true });
    await start(project);
    const has = async (pc: NodeBody) => (await probe(project, pc, { type: 'addresses' })).addresses?.includes('10.0.0.1/24');
    for (const pc of pcs) await waitFor(() => has(pc), { what: 'an address' });
    await show(project);
    const text = notices.getByText(/^PC1 and PC2 have the same address, 10\.0\.0\.1\./);
    await client.put(`${project.path}/links/${links[0]?.link_id}`, { suspend: false }, 201);
    await text.waitFor();
    await inAllSizes('address');
    await toNotice();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.node.selected').nth(1).waitFor();
    await button('Console of PC2').click();
    await page.getByRole('tab', { name: 'PC2' }).waitFor();
    await button('Dismiss').click();
    await text.waitFor({ state: 'detached' });
    // The finding ends with its cause, and is said again when that returns.
    let suspend = false;
    const isBack = async () => {
      suspend = !suspend;
      await client.put(`${project.path}/links/${links[0]?.link_id}`, { suspend }, 201);
      return (
        !suspend &&
        (await text.waitFor({ timeout: 3000 }).then(
          () => true,
          () => false,
        ))
      );
    };
    await waitFor(isBack, { what: 'the notice again', everyMs: 1500, limitMs: 60_000 });
  });

  it('say that PCs of one segment differ in their MTU, with the command', async () => {
    const { project } = await labOf('MTU', ['ip 10.0.0.1/24\n', 'ip 10.0.0.2/24\nip mtu 1400\n']);
    await start(project);
    await show(project);
    await notices.getByText(/^PC1 and PC2 share a segment with MTUs of 1400 and 1500.*ip mtu 1500/).waitFor();
    assert.equal(await notices.count(), 1);
    await picture(page, 'notice-mtu');
  });

  it('say that frames pass one way only, with what proves it, and remove the filter', async () => {
    const { project, pcs, links } = await labOf('One way', ['ip 10.0.0.1/24\n', 'ip 10.0.0.2/24\n']);
    const [one] = pcs as [NodeBody];
    await start(project);
    await waitFor(async () => (await probe(project, one, { type: 'ping', to: '10.0.0.2', count: 1 })).received === 1, {
      what: 'a ping',
    });
    await client.put(`${project.path}/links/${links[0]?.link_id}`, { filters: { packet_loss_ba: [100] } }, 201);
    await show(project);
    const text = notices.getByText(/^Frames pass one way only: of SW to PC1, the last \d+ were dropped by the filter packet loss/);
    // The frames of a ping are the proof: none of its answers arrives.
    const ping = { type: 'ping', to: '10.0.0.2', count: 1000, interval_ms: 200, timeout_ms: 100 };
    const pinging = probe(project, one, ping).catch(() => undefined);
    await text.waitFor();
    await picture(page, 'notice-one-way');
    await button('Show').click();
    await page.locator('.link.selected').waitFor({ state: 'attached' });
    await button('Remove the filter').click();
    await text.waitFor({ state: 'detached' });
    assert.deepEqual((await client.get<Link[]>(`${project.path}/links`))[0]?.filters, {});
    await client.post(`${project.path}/nodes/stop`, {}, 204);
    await pinging;
  });

  it('name the node whose image is missing, with the button that adds it', async () => {
    const { project } = await labOf('Image', ['ip 10.0.0.1/24\n']);
    await client.send('POST /v2/compute/qemu/images/absent.img', { raw: Buffer.alloc(70_000, 5) });
    const vm = await createNode(client, project, 'qemu', { name: 'VM', properties: { hda_disk_image: 'absent.img' } });
    await rm(join(server.dataDir, 'images', 'QEMU', 'absent.img'));
    await show(project);
    await client.send(`POST ${project.path}/nodes/${vm.node_id}/start`);
    await notices.getByText(/^VM: .*absent\.img/).waitFor();
    await picture(page, 'notice-image');
    await button('Add the image…').click();
    await page.getByRole('dialog', { name: 'Images' }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('are none in sample labs that run', async () => {
    for (const file of ['web/dialogs/samples/campus.yaml', 'web/dialogs/samples/lossy-wan.yaml', 'labs/vlan-trunk.yaml']) {
      const lab = await readFile(join(root, file), 'utf8');
      const answer = await client.send('POST /v2/labs/apply', { body: { lab, file: basename(file), start: true } });
      const { project_id } = JSON.parse(answer.text().trim().split('\n').at(-1) ?? '') as { project_id: string };
      const path = `/v2/projects/${project_id}`;
      const pcs = (await client.get<NodeBody[]>(`${path}/nodes`)).filter(({ node_type }) => node_type === 'vpcs');
      const asked = new Map<string, number>();
      const count = (response: Response) => {
        const [, node] = /nodes\/([^/]+)\/probe$/.exec(response.url()) ?? [];
        if (node !== undefined) asked.set(node, (asked.get(node) ?? 0) + 1);
      };
      page.on('response', count);
      await toCanvas(page, `${server.url}/projects/${project_id}`);
      await countNotices();
      const handle = { path } as ProjectHandle;
      const ping = { type: 'ping', to: '10.0.0.77', count: 5, interval_ms: 20, timeout_ms: 20 };
      // A PC is asked again when frames passed at it: what was decided with its first answer is shown by then.
      const areWatched = async () => {
        for (const pc of pcs) await probe(handle, pc, ping);
        return pcs.every(({ node_id }) => (asked.get(node_id) ?? 0) >= 2);
      };
      await waitFor(areWatched, { what: 'second questions to all PCs', everyMs: 1000 });
      page.off('response', count);
      assert.equal(await page.evaluate('window.noticesSeen'), 0, file);
      await client.delete(path);
    }
  });

  it('are none in a healthy lab that pings, is suspended, frozen and rewound', async () => {
    const { project, pcs, links } = await labOf('Healthy', ['ip 10.0.0.1/24\n', 'ip 10.0.0.2/24\n', '']);
    await show(project);
    await countNotices();
    await start(project);
    const [one] = pcs as [NodeBody];
    const reaches = async () => (await probe(project, one, { type: 'ping', to: '10.0.0.2', count: 1 })).received === 1;
    await waitFor(reaches, { what: 'a ping' });
    // Frames without an answer prove nothing.
    const ping = { type: 'ping', count: 30, interval_ms: 20, timeout_ms: 20 };
    await probe(project, one, { ...ping, to: '10.0.0.9' });
    const path = `${project.path}/links/${links[0]?.link_id}`;
    await client.put(path, { suspend: true }, 201);
    await probe(project, one, { ...ping, to: '10.0.0.2' });
    await client.put(path, { suspend: false, filters: { packet_loss: [100] } }, 201);
    await probe(project, one, { ...ping, to: '10.0.0.2' });
    await client.put(path, { filters: {} }, 201);
    const snapshot = await client.post<{ snapshot_id: string }>(`${project.path}/snapshots`, { name: 'one', memory: true });
    await client.post(`${project.path}/snapshots/${snapshot.snapshot_id}/restore`, {}, 201);
    await waitFor(reaches, { what: 'a ping after the rewind' });
    assert.equal(await page.evaluate('window.noticesSeen'), 0);
    // The watch was awake: what is wrong now is all that it says.
    const properties = { startup_script: 'ip 10.0.0.4/24\nip mtu 1400\n' };
    const fourth = await createNode(client, project, 'vpcs', { name: 'PC4', x: 500, properties });
    const { nodes } = await client.get<Link>(path);
    await client.post(`${project.path}/links`, { nodes: [end(fourth), { ...nodes[1], port_number: 3 }] });
    await client.post(`${project.path}/nodes/${fourth.node_id}/start`, {}, 200);
    await notices.getByText(/^PC1, PC2, and PC4 share a segment/).waitFor();
    assert.equal(await notices.count(), 1);
  });

  it('cause no error in the page', () => assert.deepEqual(problems, []));
});
