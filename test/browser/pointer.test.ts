/** The pointer on the canvas: what a click, a right click and the wheel do to the view; and arrow keys on tabs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, middleOf, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const names = ['PC1', 'PC2', 'PC3'];
const nodes = await Promise.all(
  names.map((name, place) => createNode(client, project, 'vpcs', { name, x: place * 200 - 200, y: 0 })),
);
await client.post(`${project.path}/links`, { nodes: nodes.slice(0, 2).map((node) => end(node)) });
await client.post(`${project.path}/nodes/start`, {}, 204);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const view = async () => {
  const text = await page.locator('svg.canvas > g').getAttribute('transform');
  const [x = 0, y = 0, scale = 1] = (text?.match(/-?[\d.]+/g) ?? []).map(Number);
  return { x, y, scale };
};
const settled = () => page.locator('svg.canvas.gliding').waitFor({ state: 'detached' });

describe('the pointer on the canvas', () => {
  it('draws no frame around the canvas with the first click, and one for the keyboard', async () => {
    await canvas(page).node('PC1').waitFor();
    const frame = () => page.evaluate('getComputedStyle(document.querySelector("svg.canvas")).outlineStyle');
    await page.mouse.click(500, 650);
    assert.equal(await page.evaluate('document.activeElement.matches("svg.canvas")'), true);
    assert.equal(await frame(), 'none');
    await picture(page, 'first-click');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    assert.equal(await page.evaluate('document.activeElement.matches("svg.canvas")'), true);
    assert.equal(await frame(), 'solid');
  });

  it('does not move the canvas with a right click on a node at its edge', async () => {
    await toCanvas(page);
    const box = await canvas(page).node('PC1').boundingBox();
    const area = await page.locator('svg.canvas').boundingBox();
    assert.ok(box && area);
    // Two thirds of the node are beyond the edge.
    await page.mouse.move(area.x + area.width / 2, area.y + 40);
    await page.mouse.wheel(box.x - area.x + (box.width * 2) / 3, 0);
    await settled();
    const before = await view();
    await page.mouse.click(area.x + box.width / 6, box.y + box.height / 2, { button: 'right' });
    await page.getByRole('menu').first().waitFor();
    await page.locator('.node.selected').waitFor();
    assert.deepEqual(await view(), before);
    await page.keyboard.press('Escape');
    await page.keyboard.press('f');
  });

  it('moves the canvas by the wheel, and zooms by the wheel with Ctrl', async () => {
    await toCanvas(page);
    await page.keyboard.press('f');
    const [x, y] = await middleOf(canvas(page).node('PC2').locator('.symbol'));
    await page.mouse.move(x, y);
    const before = await view();
    await page.mouse.wheel(30, 50);
    await settled();
    await waitFor(async () => (await view()).y !== before.y, { what: 'a canvas that moved' });
    const moved = await view();
    assert.deepEqual([Math.round(moved.x - before.x), Math.round(moved.y - before.y), moved.scale], [-30, -50, before.scale]);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await settled();
    await waitFor(async () => (await view()).scale > before.scale, { what: 'a larger scale' });
    await page.keyboard.press('f');
  });
});

describe('arrow keys', () => {
  it('move between the tabs of consoles and keep the focus there; Tab enters the active one', async () => {
    for (const name of names) {
      await toCanvas(page);
      await canvas(page).node(name).dblclick();
      await page.getByRole('tab', { name, selected: true }).waitFor();
    }
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await tab('PC3').focus();
    const isAt = async (name: string) => {
      await tab(name).and(page.locator('[aria-selected=true]')).waitFor();
      assert.equal(await page.evaluate('document.activeElement.textContent'), name);
      await page.getByRole('tabpanel', { name, exact: true }).waitFor();
    };
    for (const [key, name] of [
      ['ArrowLeft', 'PC2'],
      ['ArrowLeft', 'PC1'],
      ['ArrowLeft', 'PC3'],
      ['ArrowRight', 'PC1'],
      ['End', 'PC3'],
      ['Home', 'PC1'],
    ] as const) {
      await page.keyboard.press(key);
      await isAt(name);
    }
    assert.deepEqual(await page.locator('.tab-list [role=tab][tabindex="0"]').allTextContents(), ['PC1']);
  });

  it('move between the directions of a link, and no node', async () => {
    await toCanvas(page);
    await selectLink(page);
    const ways = page.getByRole('tablist', { name: 'Direction' }).or(page.locator('.ways'));
    await ways.getByRole('tab').first().focus();
    await page.keyboard.press('ArrowRight');
    await ways.getByRole('tab', { name: 'PC1 → PC2', selected: true }).waitFor();
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-selected")'), 'true');
  });

  it('cause no errors in the page', () => assert.deepEqual(problems, []));
});
