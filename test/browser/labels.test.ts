/** Labels of nodes and links are moved on the canvas, shown to all users at once, and reset. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import type { Link } from '../../src/schema/link.ts';
import type { Label } from '../../src/schema/node.ts';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { middleOf, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, snap_to_grid: false, show_interface_labels: true });
const one = await createNode(client, project, 'vpcs', { name: 'Alpha', x: -200, y: 0 });
const other = await createNode(client, project, 'vpcs', { name: 'Beta', x: 150, y: 0 });
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const address = `${server.url}/projects/${project.id}`;
const first = await openTab(address);
const second = await openTab(address, { width: 768 });
const { page } = first;
beforeEach(() => toCanvas(page));
const nodeLabel = (tab = first) => tab.page.locator('.node[aria-label^="Alpha"] text.label');
const endLabel = (place: 0 | 1, tab = first) => tab.page.locator(`.link text.label[data-label="${place}"]`);
const standard = (one as unknown as { label: Label }).label;
/** Above the baseline of text of 12 pixels. */
const shownTop = async () => Number(await nodeLabel().getAttribute('y')) - 12;
const stored = async () => (await client.get<{ label: Label; x: number }>(`${project.path}/nodes/${one.node_id}`)).label;
const storedEnd = async (place: 0 | 1) => (await client.get<Link>(`${project.path}/links/${link_id}`)).nodes[place]?.label as Label;

/** Drags with the mouse; the canvas is at 100 %. */
async function drag(what: Locator, dx: number, dy: number): Promise<void> {
  const [x, y] = await middleOf(what);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 3 });
  await page.mouse.move(x + dx, y + dy, { steps: 3 });
  await page.mouse.up();
}

const near = (value: number | null | undefined, wanted: number) => Math.abs((value ?? Number.NaN) - wanted) <= 1.5;

describe('labels on the canvas', () => {
  it('of a node are dragged without the node, and other windows show it at once', async () => {
    for (const tab of [first, second]) await nodeLabel(tab).waitFor();
    const before = await nodeLabel().boundingBox();
    const top = await shownTop();
    await drag(nodeLabel(), 60, 90);
    await waitFor(async () => (await stored()).x !== null, { what: 'the label on the server' });
    const { x, y } = await stored();
    await second.page.locator(`.node[aria-label^="Alpha"] text.label[x="${x}"]`).waitFor();
    assert.equal(y, top + 90);
    const after = await nodeLabel().boundingBox();
    assert.ok(near(after?.x, (before?.x ?? 0) + 60), 'it stands where it was let go');
    assert.deepEqual((await client.get<{ x: number; y: number }>(`${project.path}/nodes/${one.node_id}`)).x, -200);
  });

  it('are restored by undo, and reset to their default position', async () => {
    await page.keyboard.press('Control+z');
    await waitFor(async () => (await stored()).x === null, { what: 'the label where it was' });
    for (const tab of [first, second])
      await tab.page.locator('.node[aria-label^="Alpha"] text.label[text-anchor="middle"]').waitFor();
    await drag(nodeLabel(), 0, 80);
    await waitFor(async () => (await stored()).x !== null, { what: 'the moved label' });
    await page.keyboard.press('Alt+l');
    await waitFor(async () => (await stored()).x === null, { what: 'the label at its usual place' });
    assert.deepEqual(await stored(), standard);
  });

  it('of the ends of a link are dragged independently', async () => {
    const before = await endLabel(1).boundingBox();
    await drag(endLabel(1), -20, 50);
    await waitFor(async () => typeof (await storedEnd(1)).x === 'number', { what: 'the label of the second end' });
    assert.equal((await storedEnd(0)).x, undefined);
    assert.match((await storedEnd(1)).text, /^0\/0$/);
    for (const tab of [first, second]) await tab.page.locator('.link text.label[data-label="1"][text-anchor="start"]').waitFor();
    const after = await endLabel(1).boundingBox();
    assert.ok(near(after?.x, (before?.x ?? 0) - 20) && near(after?.y, (before?.y ?? 0) + 50), 'it stands where it was let go');
  });

  it('are selected and moved with the keyboard alone', async () => {
    await page.keyboard.press('n');
    await page.keyboard.press('Shift+L');
    await page.locator('text.label.picked').waitFor();
    const top = await shownTop();
    await page.keyboard.press('ArrowDown');
    await waitFor(async () => (await stored()).y === top + 5, { what: 'the label five pixels lower' });
    await page.keyboard.press('Escape');
    await page.locator('text.label.picked').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await waitFor(async () => (await client.get<{ y: number }>(`${project.path}/nodes/${one.node_id}`)).y === 10, {
      what: 'the node, which the keys move again',
    });
  });

  it('of a link are reset to where the line leaves the node', async () => {
    await selectLink(page);
    await page.keyboard.press('Alt+l');
    await waitFor(async () => (await storedEnd(1)).x === undefined, { what: 'a label without a place' });
    await endLabel(1, second).and(second.page.locator('[text-anchor="middle"]')).waitFor();
  });

  it('of a locked node cannot be moved', async () => {
    await client.put(`${project.path}/nodes/${one.node_id}`, { locked: true });
    await page.locator('.node .lock').waitFor({ state: 'attached' });
    const before = await stored();
    await drag(nodeLabel(), 40, 40);
    await client.put(`${project.path}/nodes/${one.node_id}`, { locked: false });
    assert.deepEqual(await stored(), before);
  });

  it('cause no error in the page', () => assert.deepEqual([...first.problems, ...second.problems], []));
});
