/** Live traffic of links on the canvas, in each direction. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { selectLink } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const pc = (name: string, number: number) =>
  createNode(client, project, 'vpcs', {
    name,
    x: number * 250 - 500,
    properties: { startup_script: `ip 10.0.0.${number}/24\n` },
  });
const one = await pc('PC1', 1);
const other = await pc('PC2', 2);
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const calm = await openTab('about:blank');
const moving = await openTab('about:blank', { motion: true, width: 768 });
const flow = (page: Page, way: 'ab' | 'ba') => page.locator(`.link .flow.${way}`);
const movesOf = (path: Locator) => path.evaluate((element) => element.getAnimations().length);

/** Connections on which the page receives figures of traffic. */
const sockets = { opened: 0, closed: 0 };
calm.page.on('websocket', (socket) => {
  if (!socket.url().includes('link_stats')) return;
  sockets.opened += 1;
  socket.on('close', () => {
    sockets.closed += 1;
  });
});

describe('traffic on the canvas', () => {
  it('is not polled while no node runs', async () => {
    for (const { page } of [calm, moving]) {
      await page.goto(`${server.url}/projects/${project.id}`);
      await page.locator('.link').waitFor({ state: 'attached' });
    }
    assert.equal(sockets.opened, 0);
  });

  it('runs along the link in both directions, and has a text for screen readers', async () => {
    for (const { node_id } of [one, other]) await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
    const telnet = await openTelnet(one.console as number);
    after(() => telnet.close());
    await skipHistory(telnet);
    await command(telnet, 'ping 10.0.0.2 -t -i 20', /ttl=/);
    for (const { page } of [calm, moving])
      for (const way of ['ab', 'ba'] as const) await flow(page, way).waitFor({ state: 'attached' });
    const title = calm.page.locator('.link title').filter({ hasText: /PC1 → PC2 [\d.]+ k?bit\/s, PC2 → PC1 [\d.]+ k?bit\/s/ });
    await title.waitFor({ state: 'attached' });
    assert.equal(sockets.opened, 1);
    await picture(calm.page, 'traffic');
  });

  it('moves, except with reduced motion or at a small scale', async () => {
    assert.equal(await movesOf(flow(moving.page, 'ab')), 1);
    assert.equal(await movesOf(flow(calm.page, 'ab')), 0);
    await moving.page.locator('svg.canvas').focus();
    for (let step = 0; step < 6; step += 1) await moving.page.keyboard.press('-');
    await moving.page.locator('svg.canvas.far').waitFor();
    assert.equal(await movesOf(flow(moving.page, 'ab')), 0);
    await moving.page.keyboard.press('0');
    await waitFor(async () => (await movesOf(flow(moving.page, 'ab'))) === 1, { what: 'dots that move again' });
  });

  it('moves all dots in the same frames, and not in every frame', async () => {
    const start = (way: 'ab' | 'ba') => flow(moving.page, way).evaluate((element) => element.getAnimations()[0]?.startTime);
    await waitFor(async () => (await start('ab')) === 0 && (await start('ba')) === 0, { what: 'animations in phase' });
    const { frames, seconds } = await moving.page.evaluate<{ frames: number; seconds: number }>(`new Promise((resolve) => {
      const flows = [...document.querySelectorAll('.flow')];
      const began = performance.now();
      let [frames, last] = [0, ''];
      const look = (now) => {
        const offsets = flows.map((flow) => getComputedStyle(flow).strokeDashoffset).join();
        if (offsets !== last) frames += 1;
        last = offsets;
        // A busy machine draws few frames.
        if (now - began > 1500 && frames > 1) resolve({ frames, seconds: (now - began) / 1000 });
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    })`);
    // A step takes 80 ms; where it falls on a frame exactly, one direction may be a frame later than the other.
    assert.ok(frames > 1 && frames <= seconds * 20, `${frames} frames in ${seconds} s`);
  });

  it('shows one direction while the other carries nothing', async () => {
    await client.put(`${project.path}/links/${link_id}`, { filters: { packet_loss_ba: [100] } }, 201);
    await flow(calm.page, 'ba').waitFor({ state: 'detached' });
    await flow(calm.page, 'ab').waitFor({ state: 'attached' });
  });

  it('needs no other connection for the graph of a link', async () => {
    await selectLink(calm.page);
    await calm.page.locator('.link-graph path.way-ab[d*="L"]').first().waitFor({ state: 'attached' });
    assert.equal(sockets.opened, 1);
    await calm.page.keyboard.press('Escape');
  });

  it('ends when its nodes stop, and polling stops, too', async () => {
    for (const { node_id } of [one, other]) await client.post(`${project.path}/nodes/${node_id}/stop`, {}, 200);
    await flow(calm.page, 'ab').waitFor({ state: 'detached' });
    await waitFor(() => sockets.closed === 1, { what: 'the connection that is closed' });
    assert.equal(sockets.opened, 1);
  });

  it('causes no error in the page', () => assert.deepEqual([...calm.problems, ...moving.problems], []));
});
