/** Two users of a project: each sees the other's pointer, and may follow what the other one sees. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Node } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
for (const [place, name] of ['PC1', 'PC2', 'PC3'].entries())
  await createNode(client, project, 'vpcs', { name, x: place * 300 - 300, y: 0 });
const address = `${server.url}/projects/${project.id}`;
const [one, two] = [await openTab(address), await openTab(address)];
for (const { page } of [one, two]) await canvas(page).node('PC1').waitFor();

const transform = (page: Page) => page.locator('svg.canvas > g').first().getAttribute('transform');
const follow = one.page.getByRole('button', { name: 'Follow Guest 2' });
const centreOf = async (page: Page, name: string) => {
  const [box, area] = [await canvas(page).node(name).boundingBox(), await page.locator('svg.canvas').boundingBox()];
  return box && area ? [Math.round(box.x - area.x), Math.round(box.y - area.y)] : [];
};

describe('two users of a project', () => {
  it('see the pointer of each other on the canvas, with the name, while it is there', async () => {
    const box = (await canvas(two.page).node('PC2').boundingBox()) ?? assert.fail('PC2 is not shown');
    await two.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const cursor = one.page.locator('.cursor');
    await cursor.getByText('Guest 2').waitFor();
    const isAt = async () => {
      const [tip, node] = [await cursor.locator('path').boundingBox(), await canvas(one.page).node('PC2').boundingBox()];
      return tip !== null && node !== null && Math.abs(tip.x - node.x - node.width / 2) < 3;
    };
    await waitFor(isAt, { what: 'the pointer over the same node' });
    await picture(one.page, 'cursor');
    assert.equal(await two.page.locator('.cursor').count(), 0, 'no pointer is shown to its own user');
    await two.page.mouse.move(2, 2);
    await cursor.waitFor({ state: 'detached' });
  });

  it('follow the view of each other, until they move their own', async () => {
    await follow.click();
    assert.equal(await follow.getAttribute('aria-pressed'), 'true');
    await toCanvas(two.page);
    for (let times = 0; times < 3; times++) await two.page.keyboard.press('+');
    const isSame = async () => {
      const [here, there] = [await centreOf(one.page, 'PC1'), await centreOf(two.page, 'PC1')];
      return here.length > 0 && here.every((place, axis) => Math.abs(place - (there[axis] ?? 0)) < 4);
    };
    await waitFor(isSame, { what: 'the same view' });
    await picture(one.page, 'following');
    const followed = await transform(one.page);
    await toCanvas(one.page);
    await one.page.keyboard.press('-');
    await waitFor(async () => (await follow.getAttribute('aria-pressed')) === 'false', { what: 'the end of following' });
    assert.notEqual(await transform(one.page), followed);
  });

  it('undo and redo what they changed themselves, not what the other did since', async () => {
    const placeOf = async (name: string) =>
      (await client.get<Node[]>(`${project.path}/nodes`)).find((node) => node.name === name)?.x;
    const isAt = (name: string, x: number) => waitFor(async () => (await placeOf(name)) === x, { what: `${name} at ${x}` });
    const move = async (page: Page, name: string) => {
      const from = (await placeOf(name)) ?? 0;
      await canvas(page).node(name).click();
      await page.keyboard.press('ArrowRight');
      await waitFor(async () => (await placeOf(name)) !== from, { what: `a move of ${name}` });
      return [from, (await placeOf(name)) ?? 0] as const;
    };
    for (const { page } of [one, two]) {
      await toCanvas(page);
      await page.keyboard.press('f');
    }
    const [was, is] = await move(one.page, 'PC1');
    const [, other] = await move(two.page, 'PC3');
    await one.page.keyboard.press('Control+z');
    await isAt('PC1', was);
    assert.equal(await placeOf('PC3'), other);
    await one.page.keyboard.press('Control+z');
    await one.page.getByText('There is nothing of yours to undo').waitFor();
    await one.page.keyboard.press('Control+Shift+z');
    await isAt('PC1', is);
    await two.page.keyboard.press('Control+z');
    await isAt('PC3', 300);
    assert.equal(await placeOf('PC1'), is);
    await one.page.keyboard.press('Escape');
    await one.page.getByRole('button', { name: 'Activity' }).click();
    await one.page.getByText('by Guest 2').first().waitFor();
    await one.page.keyboard.press('Escape');
  });

  it('find the command in the menu, and are followed until they leave', async () => {
    await one.page.keyboard.press('Control+K');
    await one.page.getByRole('combobox').last().fill('follow');
    await one.page.getByRole('option', { name: 'Follow Guest 2' }).click();
    assert.equal(await follow.getAttribute('aria-pressed'), 'true');
    await two.close();
    await follow.waitFor({ state: 'detached' });
    assert.deepEqual([...one.problems, ...two.problems], []);
  });
});
