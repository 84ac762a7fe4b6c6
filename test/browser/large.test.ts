/** A project of 1,000 nodes and 1,500 links works like a small one. `bench/web.ts` measures its speed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { Node } from '../../src/schema/node.ts';
import { openTab } from '../support/browser.ts';
import { expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, tinyVm, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const size = { nodes: 1000, links: 1500 };
const columns = 40;
const spacingPx = 130;
const drawLimitMs = 120_000;

// Nothing is started, so no port is bound.
const { server, client } = await withServer({ config: { Server: { udp_start_port_range: 40_000, udp_end_port_range: 43_999 } } });
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
/** Each node is linked to the next, and half of them to a node further on. */
const linkEnds = Array.from({ length: size.links }, (_, link) => {
  const from = link % size.nodes;
  return [from, (from + (link < size.nodes ? 1 : 500)) % size.nodes] as const;
});
const end = (ref: number, adapter_number: number) => ({ ref: String(ref), adapter_number, port_number: 0 });
const { nodes } = expectStatus(
  await client.send(`POST ${project.path}/bulk`, {
    limitMs: drawLimitMs,
    body: {
      nodes: Array.from({ length: size.nodes }, (_, number) => ({
        ref: String(number),
        name: `N${number}`,
        node_type: 'qemu',
        console_type: 'none',
        compute_id: 'local',
        properties: { ...tinyVm, adapters: 4 },
        x: (number % columns) * spacingPx,
        y: Math.floor(number / columns) * spacingPx,
      })),
      links: linkEnds.map(([from, to], link) => ({
        nodes: [end(from, link < size.nodes ? 0 : 2), end(to, link < size.nodes ? 1 : 3)],
      })),
    },
  }),
  201,
).json<{ nodes: Node[] }>();
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const linksOf = (number: number) => linkEnds.filter((ends) => ends.includes(number)).length;
const first = nodes[0] ?? assert.fail('no node was made');

const middleOf = ({ x, y, width, height }: { x: number; y: number; width: number; height: number }) => ({
  x: x + width / 2,
  y: y + height / 2,
});
const framesDrawn = (tab: Page) =>
  tab.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))');
/** Run in the page: the elements of the canvas that change, and how many did. */
const watchCanvas = `{
  window.changed = new Set();
  window.watcher = new MutationObserver((records) => records.forEach(({ target }) => window.changed.add(target.closest('[data-id]') ?? target)));
  window.watcher.observe(document.querySelector('svg.canvas > g > g'), { attributes: true, childList: true, subtree: true });
}`;
const endWatch = '(window.watcher.disconnect(), window.changed.size)';

/** Counts the calls of the page's functions while something is done, which says more of its cost than its time does. */
async function callCounter(tab: Page): Promise<(act: () => Promise<unknown>) => Promise<number>> {
  const session = await tab.context().newCDPSession(tab);
  await session.send('Profiler.enable');
  await session.send('Profiler.startPreciseCoverage', { callCount: true });
  return async (act) => {
    await session.send('Profiler.takePreciseCoverage');
    await act();
    const { result } = await session.send('Profiler.takePreciseCoverage');
    const functions = result.filter(({ url }) => url.includes('/assets/')).flatMap((script) => script.functions);
    return functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  };
}

describe('a project of 1,000 nodes', () => {
  it('is rendered completely', async () => {
    await page.getByText(`${size.nodes} nodes, 0 running · ${size.links} links`).waitFor({ timeout: drawLimitMs });
    const isDrawn = async () =>
      (await page.locator('.node').count()) === size.nodes && (await page.locator('.link').count()) === size.links;
    await waitFor(isDrawn, { what: 'all nodes and links on the canvas', limitMs: drawLimitMs });
  });

  it('is zoomed and fitted again, and one of its nodes moves', async () => {
    const areaOf = async () => (await canvas(page).node('N0').boundingBox()) ?? assert.fail('N0 is not drawn');
    const whole = await areaOf();
    for (let turn = 0; turn < 4; turn += 1) await page.keyboard.press('+');
    await waitFor(async () => (await areaOf()).width > whole.width, { what: 'larger nodes' });
    await page.keyboard.press('f');
    await waitFor(async () => (await areaOf()).width <= whole.width, { what: 'the whole project' });
    // Each change of it computes the styles of all elements anew.
    const nameSize = () => page.locator('svg.canvas').getAttribute('style');
    const [sizeBefore, fitted] = [await nameSize(), await areaOf()];
    await page.keyboard.press('-');
    await waitFor(async () => (await areaOf()).width < fitted.width, { what: 'smaller nodes' });
    assert.equal(await nameSize(), sizeBefore);
    const smaller = await areaOf();
    await page.keyboard.press('f');
    await waitFor(async () => (await areaOf()).width > smaller.width, { what: 'larger nodes again' });
    await canvas(page).node('N0').click();
    await page.keyboard.press('ArrowRight');
    const isMoved = async () => (await client.get<{ x: number }>(`${project.path}/nodes/${first.node_id}`)).x === first.x + 10;
    await waitFor(isMoved, { what: 'the node ten pixels to the right', limitMs: drawLimitMs });
    await page.keyboard.press('Escape');
  });

  it('does work for what is dragged, however large the project is', async () => {
    const calls = await callCounter(page);
    const symbol = canvas(page).node('N0').locator('.symbol');
    const { x, y } = middleOf((await symbol.boundingBox()) ?? assert.fail('N0 is not drawn'));
    for (const [selected, most] of [
      // The node, its links, and perhaps its name, which is apart at small scales.
      ['N0', 2 + linksOf(0)],
      ['all', 1],
    ] as const) {
      if (selected === 'all') await page.keyboard.press('Control+a');
      await page.mouse.move(x, y);
      await page.mouse.down();
      // Alt has it snap to no other node.
      await page.keyboard.down('Alt');
      await page.mouse.move(x + 20, y + 20);
      await framesDrawn(page);
      await page.evaluate(watchCanvas);
      const frames: number[] = [];
      for (let step = 1; step <= 5; step += 1)
        frames.push(
          await calls(async () => {
            await page.mouse.move(x + 20 + step, y + 20);
            await framesDrawn(page);
          }),
        );
      assert.ok(Math.min(...frames) < size.nodes, `${selected}: ${frames.join(', ')} calls of functions`);
      const elements = Number(await page.evaluate(endWatch));
      assert.ok(elements > 0 && elements <= most, `${selected}: ${elements} elements changed`);
      const to = (await symbol.boundingBox()) ?? assert.fail('N0 is not drawn');
      assert.ok(Math.abs(middleOf(to).x - x - 25) < 2, `N0 is ${middleOf(to).x - x} pixels to the right`);
      // Back to where it was: nothing is moved.
      await page.mouse.move(x, y);
      await page.mouse.up();
      await page.keyboard.up('Alt');
    }
    await page.keyboard.press('Escape');
  });

  it('shows changes of another client at once', async () => {
    await client.put(`${project.path}/nodes/${first.node_id}`, { name: 'Renamed' });
    await canvas(page).node('Renamed').waitFor({ state: 'attached', timeout: drawLimitMs });
  });

  it('is moved by a key and deleted with few requests', async () => {
    const sent: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      // The page may connect again meanwhile, for which it asks for a ticket.
      if (request.method() !== 'GET' && pathname.startsWith(`${project.path}/`))
        sent.push(`${request.method()} ${pathname.slice(project.path.length + 1)}`);
    });
    const placeOf = async () => (await client.get<{ x: number }>(`${project.path}/nodes/${first.node_id}`)).x;
    const before = await placeOf();
    await page.keyboard.press('Control+a');
    for (let press = 0; press < 2; press += 1) await page.keyboard.press('ArrowRight');
    await waitFor(async () => (await placeOf()) === before + 20, { what: 'all nodes at their places', limitMs: drawLimitMs });
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').waitFor({ timeout: drawLimitMs });
    await page.keyboard.press('Enter');
    await page.getByText('0 nodes, 0 running').waitFor({ timeout: drawLimitMs });
    // Requests are one for each press, or one for both; the last may be sent, or reported, when all nodes are at their places
    // already.
    const moves = sent.filter((line) => line === 'PUT bulk').length;
    assert.ok(moves >= 1 && moves <= 2, sent.join(', '));
    assert.deepEqual(
      sent.filter((line) => line !== 'PUT bulk'),
      ['POST bulk/delete'],
    );
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
