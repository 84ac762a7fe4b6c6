/** A refusal of the server: it is shown where the text was typed, and the text stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import type { Node } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Mine', auto_close: false });
const node = await createNode(client, project, 'vpcs', { name: 'PC1', x: -100, y: 0 });
const svg = '<svg width="80" height="20"><text font-size="12">a note</text></svg>';
const { drawing_id } = await client.post<{ drawing_id: string }>(`${project.path}/drawings`, { svg, x: 60, y: 60 });
const address = `${server.url}/projects/${project.id}`;
const { page, problems } = await openTab(server.url);
const long = 'x'.repeat(200);
const panel = page.locator('.inspector');

/** A field that shows a refusal which belongs to it, and keeps its text. */
async function isRefused(field: Locator, text: string): Promise<void> {
  await field.and(page.locator('[aria-invalid=true]')).waitFor();
  assert.equal(await field.inputValue(), text);
  const described = (await field.getAttribute('aria-describedby')) ?? '';
  const reason = page.locator(
    described
      .split(' ')
      .map((id) => `[id="${id}"]`)
      .join(', '),
  );
  assert.match(await reason.and(page.getByRole('alert')).innerText(), /\w/);
}

describe('a refused name', () => {
  for (const [button, yes] of [
    ['New project', 'Create'],
    ['Duplicate', 'Duplicate'],
    ['Rename', 'Rename'],
  ] as const)
    it(`of a project stays in the dialog: ${button}`, async () => {
      if (button === 'New project') await page.getByRole('button', { name: button }).first().click();
      else {
        await page.getByRole('button', { name: 'Actions for Mine', exact: true }).click();
        await page.getByRole('menuitem', { name: button }).click();
      }
      const field = page.getByRole('dialog').getByLabel('Name', { exact: true });
      await field.fill(long);
      await page.getByRole('dialog').getByRole('button', { name: yes }).click();
      await isRefused(field, long);
      await picture(page, `refused-${button.replace(' ', '-')}`);
      await field.fill(`${button} 1`);
      await page.getByRole('dialog').getByRole('button', { name: yes }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.goto(server.url);
    });

  it('of a node stays in the panel', async () => {
    await page.goto(address);
    await canvas(page).node('PC1').click();
    const field = panel.getByLabel('Name', { exact: true });
    await field.fill('bad\u0007name');
    await field.press('Enter');
    await field.blur();
    await isRefused(field, 'bad\u0007name');
    await field.fill('PC5');
    await field.press('Enter');
    await canvas(page).node('PC5').waitFor();
    await panel.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('of a node stays on the canvas', async () => {
    await toCanvas(page);
    await canvas(page).node('PC5').click();
    await page.keyboard.press('F2');
    const field = page.locator('.rename-editor input');
    await page.route(`**/nodes/${node.node_id}`, (route) =>
      route.fulfill({ status: 400, json: { message: 'The name is refused.' } }),
    );
    await field.fill('PC7');
    await field.press('Enter');
    await page.locator('.rename-editor').getByRole('alert').filter({ hasText: 'The name is refused.' }).waitFor();
    assert.equal(await field.inputValue(), 'PC7');
    await picture(page, 'refused-on-canvas');
    await page.unroute(`**/nodes/${node.node_id}`);
    await field.press('Enter');
    await canvas(page).node('PC7').waitFor();
    await field.waitFor({ state: 'detached' });
  });
});

describe('another refused text', () => {
  it('of the canvas opens its editor again', async () => {
    await toCanvas(page);
    await page.locator('.drawing').first().dblclick();
    const field = page.locator('.text-editor');
    await page.route(`**/drawings/${drawing_id}`, (route) => route.fulfill({ status: 409, json: { message: 'No room.' } }));
    await field.fill('another note');
    await field.press('Escape');
    await page.getByRole('alert').filter({ hasText: 'No room.' }).waitFor();
    assert.equal(await field.inputValue(), 'another note');
    await page.unroute(`**/drawings/${drawing_id}`);
    await field.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.locator('.drawing', { hasText: 'another note' }).waitFor();
  });

  it('of a drawing, and a refused number, stay in the panel', async () => {
    await toCanvas(page);
    await page.locator('.drawing').first().click();
    await page.route(`**/drawings/${drawing_id}`, (route) => route.fulfill({ status: 409, json: { message: 'No room.' } }));
    const rotation = panel.getByLabel('Rotation');
    await rotation.fill('30');
    await rotation.blur();
    await isRefused(rotation, '30');
    await page.unroute(`**/drawings/${drawing_id}`);
    await rotation.fill('31');
    await rotation.blur();
    await panel.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('of a project’s settings stays at its field', async () => {
    await toCanvas(page);
    await panel.getByRole('button', { name: 'Project settings' }).click();
    const field = page.getByRole('dialog').getByLabel('Name', { exact: true });
    await field.fill(long);
    await field.blur();
    await isRefused(field, long);
    await page.keyboard.press('Escape');
  });

  it('of a node’s settings is shown at the property, and invalid JSON is said', async () => {
    const body = { name: 'Relay', x: 100, y: 0, properties: { mappings: { '1:101': '2:201' } } };
    const relay = await createNode(client, project, 'frame_relay_switch', body);
    await canvas(page).node('Relay').click();
    await panel.getByText('Settings', { exact: true }).click();
    const field = panel.getByLabel('Mappings');
    await field.fill('{"1:101": ');
    await field.blur();
    await isRefused(field, '{"1:101": ');
    await field.fill('{"1:101": "nonsense"}');
    await field.blur();
    await panel.getByRole('button', { name: 'Apply' }).click();
    await panel
      .getByRole('alert')
      .filter({ hasText: /nonsense|mapping/i })
      .waitFor();
    assert.match(await field.inputValue(), /nonsense/);
    await field.fill('{"1:102": "2:202"}');
    await field.blur();
    await panel.getByRole('button', { name: 'Apply' }).click();
    await panel.getByRole('button', { name: 'Apply' }).waitFor({ state: 'detached' });
    const mappings = async () => (await client.get<Node>(`${project.path}/nodes/${relay.node_id}`)).properties.mappings;
    await waitFor(async () => JSON.stringify(await mappings()) === '{"1:102":"2:202"}', { what: 'the mapping on the server' });
  });

  it('causes no errors in the page', () => assert.deepEqual(problems, []));
});
