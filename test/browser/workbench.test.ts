/** The dock at the foot of the page: it hides no part of the lab, and its captures stay readable. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const pc = (name: string, number: number) =>
  createNode(client, project, 'vpcs', {
    name,
    x: number * 150 - 400,
    y: number * 130 - 330,
    properties: { startup_script: `ip 10.0.0.${number}/24\n` },
  });
const nodes = [await pc('PC1', 1), await pc('PC2', 2), await pc('PC3', 3), await pc('PC4', 4)];
const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, {
  nodes: nodes.slice(0, 2).map((node) => end(node)),
});
for (const { node_id } of nodes) await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
const address = `${server.url}/projects/${project.id}`;
const { page, problems } = await openTab(address, { width: 1280, height: 720 });
const names = ['PC1', 'PC2', 'PC3', 'PC4'];
const boxes = async () => {
  const area = await page.locator('.canvas-area').boundingBox();
  assert.ok(area);
  const all = await Promise.all(names.map((name) => canvas(page).node(name).boundingBox()));
  return all.map((box) => box !== null && box.y >= area.y && box.y + box.height <= area.y + area.height + 1);
};

describe('the dock', () => {
  it('keeps all nodes in sight when it opens, and gives the view back when it is closed', async () => {
    await canvas(page).node('PC4').waitFor();
    const drawn = () => page.locator('svg.canvas > g').getAttribute('transform');
    const before = await drawn();
    assert.deepEqual(await boxes(), [true, true, true, true]);
    await canvas(page).node('PC1').dblclick();
    await page.getByRole('tab', { name: 'PC1' }).waitFor();
    await waitFor(async () => (await boxes()).every((isInside) => isInside), { what: 'all nodes above the dock' });
    await picture(page, 'dock-open');
    await page.getByRole('button', { name: 'Close the console of PC1' }).click();
    await page.getByRole('tab', { name: 'PC1' }).waitFor({ state: 'detached' });
    await waitFor(async () => (await drawn()) === before, { what: 'the view as before' });
  });
});

describe('a capture in the dock', () => {
  it('shows protocol and info of each packet beside an open one', async () => {
    await client.post(`${project.path}/links/${link_id}/start_capture`, { capture_file_name: 'one.pcap' });
    await page.locator('.link.capturing').waitFor();
    await toCanvas(page);
    await selectLink(page);
    await page.keyboard.press('w');
    await page.getByText(/Live: \d/).waitFor();
    await client.post(`${project.path}/nodes/${nodes[0]?.node_id}/probe`, { type: 'ping', to: '10.0.0.2' }, 200);
    await page.getByText(/Live: [1-9]\d* packets/).waitFor();
    await page.locator('.packet-table [data-packet]').first().click();
    await page.getByRole('region', { name: /^Packet \d+$/ }).waitFor();
    await picture(page, 'packet-open');
    const table = await page.locator('.packet-table').boundingBox();
    assert.ok(table);
    for (const name of ['Protocol', 'Info']) {
      const head = await page.locator('.packet-table th', { hasText: name }).boundingBox();
      assert.ok(head && head.x + head.width <= table.x + table.width + 1, `${name} is beyond the edge`);
      assert.ok(head.width >= 60, `${name} is ${head.width} px wide`);
    }
  });

  for (const state of ['live', 'ended'] as const)
    it(`has its packets again after another view: ${state}`, async () => {
      if (state === 'ended') {
        await client.post(`${project.path}/links/${link_id}/stop_capture`);
        await page.getByText('Ended:').waitFor();
      }
      await page.getByRole('link', { name: 'Projects' }).first().click();
      await page.getByRole('heading', { name: 'Projects' }).waitFor();
      await page.goBack();
      await canvas(page).node('PC1').waitFor();
      await page.getByText(/(Live|Ended): [1-9]\d* packets/).waitFor();
      assert.ok((await page.locator('.packet-table [data-packet]').count()) > 0);
    });

  it('of a deleted node keeps its packets, in the colours of the page', async () => {
    await client.delete(`${project.path}/nodes/${nodes[1]?.node_id}`);
    await page.locator('.capture').getByText('This link was deleted.').waitFor();
    await picture(page, 'link-deleted');
    assert.ok((await page.locator('.packet-table [data-packet]').count()) > 0);
    const colour = 'getComputedStyle(document.querySelector(".capture")).backgroundColor';
    assert.equal(
      await page.evaluate(colour),
      await page.evaluate('getComputedStyle(document.querySelector(".inspector")).backgroundColor'),
    );
  });

  it('causes no errors in the page', () => assert.deepEqual(problems, []));
});
