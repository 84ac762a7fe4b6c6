/** A packet's way on the canvas: its links in order with their times, and the link, or the node, at which it ended. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { PacketTrace } from '../../src/schema/frame-trace.ts';
import type { Link } from '../../src/schema/link.ts';
import type { NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';
import { canvas, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Trace', auto_close: false });
const pc = (name: string, last: number, x: number) =>
  createNode(client, project, 'vpcs', { name, x, y: 60, properties: { startup_script: `ip 10.0.0.${last}/24\n` } });
const [one, two] = [await pc('PC1', 1, -260), await pc('PC2', 2, 260)];
const [left, right] = [
  await createNode(client, project, 'ethernet_switch', { name: 'SW1', x: -100, y: -60 }),
  await createNode(client, project, 'ethernet_switch', { name: 'SW2', x: 100, y: -60 }),
];
const linked = (a: NodeBody, b: NodeBody, ports: readonly [number, number]) =>
  client.post<Link>(`${project.path}/links`, { nodes: [end(a, 0, ports[0]), end(b, 0, ports[1])] });
const first = await linked(one, left, [0, 0]);
const trunk = await linked(left, right, [1, 0]);
const last = await linked(right, two, [1, 0]);
const impair = ({ link_id }: Link, filters: Record<string, unknown>) =>
  client.put(`${project.path}/links/${link_id}`, { filters }, 201);
await impair(trunk, { delay: [30] });
await client.post(`${project.path}/nodes/start`, {}, 204);
const answers = async () => {
  const probe = { type: 'ping', to: '10.0.0.2', count: 1 };
  return (await client.post<NodeProbeAnswer>(`${project.path}/nodes/${one.node_id}/probe`, probe, 200)).received === 1;
};
await waitFor(answers, { what: 'addresses of both PCs' });
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`, { motion: true });
await canvas(page).node('PC1').waitFor();
await page.evaluate(axe.source);

const panel = page.getByRole('region', { name: 'Trace of a packet' });
const outcome = panel.getByRole('status');
const litLinks = () =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('.link:is(.look-1, .look-2, .look-4, .look-5)')].map((link) => link.dataset.id)`,
  );
const hops = () => panel.locator('tbody tr').allInnerTexts();

async function say(phrase: string, label: string): Promise<void> {
  await page.keyboard.press('Control+K');
  const menu = page.getByRole('dialog', { name: 'Find anything' });
  await menu.getByRole('combobox').fill(phrase);
  const first = menu.getByRole('option').first().locator('span').first();
  await waitFor(async () => (await first.textContent()) === label, { what: label });
  await menu.getByRole('combobox').press('Enter');
}

async function look(name: string, part = 'document'): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await picture(page, `trace-${name}-${theme}`);
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${part}, { resultTypes: ['violations'] })`);
    const seen = violations.map(({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html }) => html.slice(0, 150))}`);
    assert.deepEqual(seen, []);
  }
}

describe('the trace of a packet', () => {
  it('lights the links that it passes, with the times that the server measured', async () => {
    const answer = page.waitForResponse((response) => response.url().endsWith('/trace'));
    await say('trace PC1 PC2', 'Trace a packet from PC1 to PC2');
    const { ways }: PacketTrace = await (await answer).json();
    await outcome.filter({ hasText: /^Answered after [\d.]+ ms\.$/ }).waitFor();
    const rows = await hops();
    assert.deepEqual(
      rows.map((row) => row.split('\t')[0]),
      ['PC1 → SW1', 'SW1 → SW2', 'SW2 → PC2', 'PC2 → SW2', 'SW2 → SW1', 'SW1 → PC1'],
    );
    const delays = rows.map((row) => Number.parseFloat(row.split('\t').at(-1) ?? ''));
    const measured = ways.flatMap((way) => way.hops.map(({ delay_ms }) => delay_ms ?? Number.NaN));
    for (const [place, delay] of delays.entries())
      assert.ok(Math.abs(delay - (measured[place] ?? 0)) < 0.1, `${delay} is ${measured[place]} ms`);
    assert.ok((delays[1] ?? 0) >= 29.9 && (delays[4] ?? 0) >= 29.9, `${delays}`);
    await waitFor(async () => (await panel.locator('tr.lit').count()) === 6, { what: 'all hops lit' });
    assert.deepEqual((await litLinks()).sort(), [first, trunk, last].map(({ link_id }) => link_id).sort());
    const badge = page.locator(`.link[data-id="${trunk.link_id}"] .badge text`);
    const [there, back] = [1, 4].map((place) => rows[place]?.split('\t').at(-1));
    assert.equal(await badge.textContent(), `→ ${there} ← ${back}`);
    await look('answered');
  });

  it('selects the link of a hop by the keyboard', async () => {
    await panel.getByRole('button', { name: 'SW1 → SW2' }).focus();
    await page.keyboard.press('Enter');
    await page.locator(`.link.selected[data-id="${trunk.link_id}"]`).waitFor();
  });

  it('names the link that lost the packet, with the filter and its value', async () => {
    await impair(last, { packet_loss: [100] });
    await panel.getByRole('button', { name: 'Trace again' }).click();
    await outcome.filter({ hasText: 'Lost on SW2 – PC2: filter packet loss 100 % (the ping).' }).waitFor();
    assert.deepEqual((await hops()).at(-1)?.split('\t').at(-1), 'lost');
    await page.locator(`.link.look-4[data-id="${last.link_id}"]`).waitFor();
    await look('lost');
    await impair(last, {});
  });

  it('begins with two selected nodes and a key, and goes the other way', async () => {
    await panel.getByRole('button', { name: 'Close the trace' }).click();
    await panel.waitFor({ state: 'detached' });
    assert.equal(await page.locator('.overlaid').count(), 0);
    await toCanvas(page);
    await canvas(page).node('PC1').click();
    await canvas(page)
      .node('PC2')
      .click({ modifiers: ['Shift'] });
    await page.keyboard.press('Alt+T');
    await outcome.filter({ hasText: 'Answered after' }).waitFor();
    await panel.getByRole('button', { name: 'Trace the other way' }).click();
    await panel.getByRole('heading', { name: 'PC2 → PC1' }).waitFor();
    await outcome.filter({ hasText: 'Answered after' }).waitFor();
  });

  it('asks for the address of a node that is no PC, and waits for a ping of one', async () => {
    await say('trace PC1 SW2', 'Trace a packet from PC1 to SW2');
    await panel.getByRole('textbox', { name: 'Address of SW2' }).fill('10.0.0.99');
    await page.keyboard.press('Enter');
    await outcome.filter({ hasText: /PC2 received|SW2 received/ }).waitFor();
    await say('trace SW1 PC2', 'Trace a packet from SW1 to PC2');
    await outcome.filter({ hasText: 'Waiting for a ping of SW1: type one at its console.' }).waitFor();
    await panel.getByRole('button', { name: 'Close the trace' }).click();
    await panel.waitFor({ state: 'detached' });
  });

  it('shows all at once with reduced motion, and has room on a phone', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 390, height: 844 });
    await say('trace PC2 PC1', 'Trace a packet from PC2 to PC1');
    await outcome.filter({ hasText: 'Answered after' }).waitFor();
    assert.equal(await panel.locator('tr.lit').count(), 6);
    const box = await panel.boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
    const covers = async (name: string) => {
      const node = await canvas(page).node(name).boundingBox();
      return node !== null && node.y < box.y + box.height && node.x < box.x + box.width;
    };
    for (const { name } of [one, two, left, right])
      await waitFor(async () => !(await covers(name)), { what: `${name} beside the list` });
    await look('phone', "document.querySelector('.trace-panel')");
  });

  it('leaves nothing behind', async () => {
    assert.deepEqual(await client.get(`${project.path}/captures`), []);
    const { undoable } = await client.get<{ undoable: number | null }>(`${project.path}/history`);
    await panel.getByRole('button', { name: 'Trace again' }).click();
    await outcome.filter({ hasText: 'Answered after' }).waitFor();
    assert.deepEqual((await client.get<{ undoable: number | null }>(`${project.path}/history`)).undoable, undoable);
    assert.deepEqual(problems, []);
  });
});
