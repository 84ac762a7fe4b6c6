/** Overlays of the canvas: each by a key and in the command menu, with a legend, in words and patterns as well as in colours. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';
import { canvas, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, show_interface_labels: true });
const lab = await readFile(join(import.meta.dirname, '../../web/dialogs/samples/campus.yaml'), 'utf8');
await client.send('POST /v2/labs/apply', { body: { lab, file: 'campus.yaml', project: project.id, start: true } });
const nodes = await client.get<Node[]>(`${project.path}/nodes`);
const idOf = (name: string) => nodes.find((node) => node.name === name)?.node_id ?? assert.fail(name);
const links = await client.get<Link[]>(`${project.path}/links`);
const between = (one: string, other: string) =>
  links.find(({ nodes: ends }) => [one, other].every((name) => ends.some(({ node_id }) => node_id === idOf(name)))) ??
  assert.fail(`${one}-${other}`);
const staff = between('STAFF1', 'FLOOR1');
const trunk = between('FLOOR1', 'CORE');
await client.put(`${project.path}/links/${trunk.link_id}`, { filters: { delay: [100], packet_loss: [1] } }, 201);
await client.put(`${project.path}/links/${staff.link_id}`, { filters: { frequency_drop: [-1] } }, 201);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
await canvas(page).node('CORE').waitFor();
await page.evaluate(axe.source);

const legend = page.getByRole('region', { name: 'Legend of the overlay' });
const shownName = legend.getByRole('combobox', { name: 'Overlay' });
const badgeOf = ({ link_id }: Link) => page.locator(`.link[data-id="${link_id}"] .badge text`);
const lookOf = ({ link_id }: Link) =>
  page.evaluate<{ readonly stroke: string; readonly pattern: string }>(`(() => {
    const { stroke, strokeDasharray, strokeWidth } = getComputedStyle(document.querySelector('.link[data-id="${link_id}"] .line'));
    return { stroke, pattern: strokeDasharray + ' ' + strokeWidth };
  })()`);

/** Shows an overlay by its key, and looks at it in both themes and for findings of axe. */
async function showBy(key: string, name: string): Promise<void> {
  await toCanvas(page);
  await page.keyboard.press(key);
  await waitFor(async () => (await shownName.inputValue()) === name, { what: `the overlay ${name}` });
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await picture(page, `overlay-${name}-${theme}`);
    const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })");
    assert.deepEqual(
      violations.map(({ id, nodes: found }) => `${theme} ${id}: ${found.map(({ html }) => html.slice(0, 150))}`),
      [],
    );
  }
}

describe('overlays', () => {
  it('show impairments by values and by patterns', async () => {
    await showBy('1', 'impairment');
    assert.deepEqual(await badgeOf(trunk).allTextContents(), ['100 ms · 1 %']);
    const [several, lossy, free] = [await lookOf(trunk), await lookOf(staff), await lookOf(between('GUEST1', 'FLOOR1'))];
    assert.equal(new Set([several.pattern, lossy.pattern, free.pattern]).size, 3, 'they differ without colours');
    assert.equal(new Set([several.stroke, lossy.stroke, free.stroke]).size, 3);
    assert.match(await legend.innerText(), /Delay\s+Loss\s+Limited rate/);
  });

  it('show subnets and VLANs on the links that carry them', async () => {
    await showBy('4', 'segments');
    await legend.getByText('VLAN 10 · 10.0.10.0/24').waitFor();
    await legend.getByText('VLAN 20 · 10.0.20.0/24').waitFor();
    assert.deepEqual(await badgeOf(staff).allTextContents(), ['VLAN 10']);
    assert.match((await badgeOf(trunk).allTextContents()).join(), /trunk 10, 20/);
    assert.notEqual((await lookOf(staff)).pattern, (await lookOf(trunk)).pattern);
  });

  it('show states in words on nodes and links', async () => {
    await client.put(`${project.path}/links/${staff.link_id}`, { suspend: true }, 201);
    await client.post(`${project.path}/nodes/${idOf('GUEST2')}/stop`, {}, 200);
    await showBy('5', 'state');
    await canvas(page).node('GUEST2').locator('.tag text', { hasText: 'stopped' }).waitFor();
    assert.equal(await canvas(page).node('CORE').locator('.tag text').textContent(), 'runs');
    assert.deepEqual(await badgeOf(staff).allTextContents(), ['suspended']);
    await client.put(`${project.path}/links/${staff.link_id}`, { suspend: false }, 201);
  });

  it('show rates and lost frames as they are counted', async () => {
    await showBy('3', 'loss');
    const probe = { type: 'ping', to: '10.0.10.1', count: 20, interval_ms: 100, timeout_ms: 200 };
    const ping = (name: string) => client.send(`POST ${project.path}/nodes/${idOf(name)}/probe`, { body: probe });
    // Two requests are needed: the first report of a link is where its count begins.
    await waitFor(
      async () => {
        await ping('STAFF1');
        return (await badgeOf(staff).allTextContents()).join() === '100 % lost';
      },
      { what: 'all frames lost' },
    );
    await client.put(`${project.path}/links/${staff.link_id}`, { filters: {} }, 201);
    await showBy('2', 'rate');
    await waitFor(
      async () => {
        await ping('STAFF1');
        return /→|←|↑|↓/.test((await badgeOf(staff).allTextContents()).join());
      },
      { what: 'a rate on the link' },
    );
  });

  it('are changed in their legend, and end with their key or its button', async () => {
    await shownName.selectOption('impairment');
    await badgeOf(trunk).filter({ hasText: '100 ms · 1 %' }).waitFor();
    await legend.getByRole('button', { name: 'Close the overlay' }).click();
    await legend.waitFor({ state: 'detached' });
    await toCanvas(page);
    await page.keyboard.press('5');
    await legend.waitFor();
    await page.keyboard.press('5');
    await legend.waitFor({ state: 'detached' });
    assert.equal(await page.locator('.overlaid, .tag').count(), 0);
  });

  it('are found in the command menu, and are in the exported picture', async () => {
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox').fill('vlan');
    await page.getByRole('option', { name: 'Overlay: subnets and VLANs' }).click();
    await legend.getByText('Trunk of several VLANs').waitFor();
    const download = page.waitForEvent('download');
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox').last().fill('Save the canvas as SVG');
    await page.getByRole('combobox').last().press('Enter');
    assert.match(await readFile(await (await download).path(), 'utf8'), />VLAN 10</);
  });

  it('leave room on a phone, and selections visible', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const isInside = async () => {
      const box = await legend.boundingBox();
      const palette = await page.locator('aside.palette').boundingBox();
      return box !== null && box.x >= (palette ? palette.x + palette.width : 0) && box.x + box.width <= 390;
    };
    await waitFor(isInside, { what: 'the legend beside the palette' });
    await picture(page, 'overlay-narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
    await toCanvas(page);
    await selectLink(page);
    await page.keyboard.press('4');
    await legend.waitFor({ state: 'detached' });
    assert.deepEqual(problems, []);
  });
});
