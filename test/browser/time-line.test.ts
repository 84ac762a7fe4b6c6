/** The time line at the foot of the canvas: what happened, on one axis, and the ways back. */
import assert from 'node:assert/strict';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const one = await createNode(client, project, 'vpcs', { name: 'PC1', x: -150, y: 0 });
const other = await createNode(client, project, 'vpcs', { name: 'PC2', x: 150, y: 0 });
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
for (const { node_id } of [one, other]) await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
const address = `${server.url}/projects/${project.id}`;
const { page, problems } = await openTab(address, { width: 1280, height: 720 });
const { keyboard } = page;
const line = page.getByRole('region', { name: 'Time line' });
const marks = (name: string | RegExp) => line.getByRole('button', { name });
const card = line.getByRole('region', { name: 'What happened then' });
const nodesOf = () => client.get<Node[]>(`${project.path}/nodes`);
const namesOf = async () => (await nodesOf()).map(({ name }) => name).sort();
/** Opens the card of a change, which may be in a group. */
async function openChange(words: string): Promise<void> {
  const isOpen = async () => {
    for (const mark of await line.locator('.mark.step').all()) {
      await mark.click();
      await card.waitFor();
      const entry = card.getByRole('button', { name: new RegExp(`^${words}, `) });
      if ((await entry.count()) > 0) await entry.click();
      if ((await card.getByText(words, { exact: true }).count()) > 0) return true;
    }
    return false;
  };
  await waitFor(isOpen, { what: `the change ${words}`, everyMs: 300 });
}
const away = () => page.mouse.move(640, 120);

describe('the time line', () => {
  it('opens with a key, and stays open after a reload', async () => {
    await toCanvas(page);
    assert.equal(await line.count(), 0);
    await keyboard.press('h');
    await line.waitFor();
    await line.locator('.mark.step').first().waitFor();
    await page.reload();
    await line.waitFor();
    await line.locator('.mark.step').first().waitFor();
    await toCanvas(page);
  });

  it('leaves the canvas three fifths of a low window beside an open console', async () => {
    await canvas(page).node('PC1').dblclick();
    await page.getByRole('tab', { name: 'PC1' }).waitFor();
    const [area, middle] = [await page.locator('.canvas-area').boundingBox(), await page.locator('.middle').boundingBox()];
    assert.ok(area && middle && area.height >= 0.6 * middle.height, `${area?.height} of ${middle?.height}`);
    await picture(page, 'time-line-console');
    await page.getByRole('button', { name: 'Close the console of PC1' }).click();
  });

  it('shows a freeze by its key, and a change after it', async () => {
    await toCanvas(page);
    await keyboard.press('Alt+f');
    await marks(/^Freeze “.+”, \d\d:\d\d:\d\d$/).waitFor();
    await createNode(client, project, 'vpcs', { name: 'Later', x: 0, y: 150 });
    await client.put(`${project.path}/nodes/${one.node_id}`, { x: -200 }, 200);
    await marks(/^Moved PC1, |^\d changes, /)
      .last()
      .waitFor();
    const [freeze, change] = await Promise.all([
      marks(/^Freeze “/).boundingBox(),
      marks(/^Moved PC1, |^\d changes, /)
        .last()
        .boundingBox(),
    ]);
    assert.ok(freeze && change && freeze.y < change.y, 'snapshots are in a lane of their own');
  });

  it('previews the picture of then under the pointer, on the canvas as well', async () => {
    await marks(/^Freeze “/).hover();
    await card.getByRole('img').waitFor();
    await card.getByText('Going back moves or renames 1 node, removes 1 node.').waitFor();
    await page.locator('[data-ghost="delete node Later"]').waitFor({ state: 'attached' });
    await page.locator('[data-ghost="update node PC1"]').waitFor({ state: 'attached' });
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `time-line-freeze-${theme}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await away();
    await card.waitFor({ state: 'detached' });
    await page.locator('.plan-ghosts').waitFor({ state: 'detached' });
  });

  it('says what a change changed', async () => {
    await client.put(`${project.path}/links/${link_id}`, { filters: { delay: [40, 5] } }, 201);
    await openChange('Changed PC1 – PC2');
    await card.getByText('Latency, each way: none → 40 ms, 5 ms jitter').waitFor();
    await toCanvas(page);
    await card.waitFor({ state: 'detached' });
  });

  it('rewinds, and one undo returns', async () => {
    await marks(/^Freeze “/).click();
    await card.getByRole('button', { name: 'Rewind here' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind' }).click();
    await page.getByText(/^The lab continues from “.+”\. Undo returns to the time before\.$/).waitFor();
    await canvas(page).node('Later').waitFor({ state: 'detached' });
    assert.deepEqual(await namesOf(), ['PC1', 'PC2']);
    await card.waitFor({ state: 'detached' });
    await marks(/^Rewound to “|changes, /)
      .last()
      .waitFor();
    await toCanvas(page);
    await keyboard.press('Control+z');
    await canvas(page).node('Later').waitFor();
    assert.deepEqual(await namesOf(), ['Later', 'PC1', 'PC2']);
  });

  it('forks, and a link opens the fork', async () => {
    await marks(/^Freeze “/).click();
    await card.getByRole('button', { name: 'Fork from here' }).click();
    const fork = line.getByRole('link', { name: 'Open Lab fork' });
    await fork.waitFor();
    await picture(page, 'time-line-forked');
    await fork.click();
    await page.getByRole('heading', { name: 'Lab fork' }).first().waitFor();
    const made = (await client.get<Project[]>('/v2/projects')).find(({ name }) => name === 'Lab fork');
    assert.equal(new URL(page.url()).pathname, `/projects/${made?.project_id}`);
    await canvas(page).node('PC1').waitFor();
    assert.equal(await canvas(page).node('Later').count(), 0);
    await toCanvas(page, address);
    await canvas(page).node('Later').waitFor();
  });

  it('shows a capture from its first frame to its last, and opens it', async () => {
    const { path } = await client.get<{ path: string }>(project.path);
    const folder = join(path, 'project-files/captures');
    await mkdir(folder, { recursive: true });
    await copyFile(join(import.meta.dirname, '../../web/capture/traffic.pcap'), join(folder, 'kept.pcap'));
    const link = `${project.path}/links/${link_id}`;
    await client.post(`${link}/start_capture`, { capture_file_name: 'kept.pcap', append: true });
    const bar = marks(/^Capture kept\.pcap, .+ – is running$/);
    await bar.waitFor();
    await bar.focus();
    await card.getByText('kept.pcap').waitFor();
    await card.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('tab', { name: 'kept.pcap' }).waitFor();
    await page.getByRole('button', { name: 'Close the console of kept.pcap' }).click();
    await client.post(`${link}/stop_capture`);
    await marks(/^Capture kept\.pcap, .+ – \D*\d.*:\d\d$/).waitFor();
    await toCanvas(page);
  });

  it('works by keyboard: arrow keys, Enter, Escape', async () => {
    await keyboard.press('F6');
    const focused = () => page.evaluate<string>('document.activeElement?.getAttribute("aria-label") ?? ""');
    await waitFor(async () => /\d\d:\d\d/.test(await focused()), { what: 'the focus on a mark' });
    await card.waitFor();
    const before = await focused();
    await keyboard.press('Home');
    await waitFor(async () => (await focused()) !== before, { what: 'the focus on the first mark' });
    await waitFor(
      async () => {
        if ((await focused()).startsWith('Freeze')) return true;
        await keyboard.press('ArrowRight');
        return false;
      },
      { what: 'the focus on the freeze', everyMs: 100 },
    );
    await card.getByRole('button', { name: 'Rewind here' }).waitFor();
    await keyboard.press('Enter');
    await waitFor(async () => (await focused()) === 'Close', { what: 'the focus in the card' });
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind' }).waitFor();
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await namesOf(), ['Later', 'PC1', 'PC2']);
    await toCanvas(page);
  });

  it('undoes to a change', async () => {
    await createNode(client, project, 'vpcs', { name: 'Last', x: 200, y: 200 });
    await canvas(page).node('Last').waitFor();
    await openChange('Changed PC1 – PC2');
    await card.getByText('Latency, each way: none → 40 ms, 5 ms jitter').waitFor();
    await card.getByRole('button', { name: 'Undo to here: Changed PC1 – PC2' }).click();
    await canvas(page).node('Last').waitFor({ state: 'detached' });
    assert.deepEqual(await namesOf(), ['Later', 'PC1', 'PC2']);
    assert.deepEqual((await client.get<Link>(`${project.path}/links/${link_id}`)).filters, { delay: [40, 5] });
    await toCanvas(page);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});

describe('a long history', () => {
  it('is grouped with counts, opened by a click and by zooming', async () => {
    const long = await createProject(client, { name: 'Long', auto_close: false });
    const node = await createNode(client, long, 'vpcs', { name: 'PC1', x: 0, y: 0 });
    for (let step = 1; step <= 1_000; step += 1) await client.put(`${long.path}/nodes/${node.node_id}`, { x: step }, 200);
    await page.goto(`${server.url}/projects/${long.id}`);
    const groups = line.getByRole('button', { name: /^\d+ changes, / });
    await groups.first().waitFor();
    const counts = async () => {
      const names = await line.locator('.mark.step').evaluateAll((all) => all.map((mark) => String(mark.ariaLabel)));
      return names.map((name) => Number(/^(\d+) changes/.exec(name)?.[1] ?? 1));
    };
    const all = (await counts()).reduce((sum, count) => sum + count, 0);
    assert.equal(all, 1_000);
    const overlap = () =>
      line.locator('.mark.step').evaluateAll((every) => {
        const boxes = every.map((mark) => mark.getBoundingClientRect());
        return boxes.filter((box, at) => at > 0 && box.left < (boxes[at - 1]?.right ?? 0) - 0.5).length;
      });
    assert.equal(await overlap(), 0);
    await picture(page, 'time-line-long');
    await groups.first().click();
    await card
      .getByRole('button', { name: /^Moved PC1, / })
      .first()
      .waitFor();
    const before = Math.max(...(await counts()));
    await card.getByRole('button', { name: 'Zoom in' }).click();
    await waitFor(async () => Math.max(...(await counts())) < before, { what: 'smaller groups' });
    assert.equal(await overlap(), 0);
    const zoomed = Math.max(...(await counts()));
    await line.getByRole('toolbar').hover();
    await page.mouse.wheel(0, -400);
    await waitFor(async () => Math.max(...(await counts())) < zoomed, { what: 'smaller groups by the wheel' });
    await line.getByRole('button', { name: 'Show the whole time' }).click();
    await waitFor(async () => (await counts()).reduce((sum, count) => sum + count, 0) === 1_000, { what: 'the whole time' });
    await client.put(`${long.path}/nodes/${node.node_id}`, { y: 40 }, 200);
    await waitFor(async () => (await counts()).reduce((sum, count) => sum + count, 0) === 1_001, { what: 'one more change' });
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});

describe('the time line of a phone', () => {
  it('fits, and shows a card within the window', async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    await page.goto(address);
    await marks(/^Freeze “/).waitFor();
    await page.locator('.zoom-bar').waitFor();
    for (const panel of ['Details', 'Add nodes']) {
      const button = page.getByRole('button', { name: panel, exact: true }).first();
      if ((await button.getAttribute('aria-pressed')) === 'true') await button.click();
    }
    await marks(/^Freeze “/).click();
    await card.getByRole('img').waitFor();
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await picture(page, `time-line-phone-${theme}`);
      const boxes = await Promise.all([card, line].map((part) => part.boundingBox()));
      for (const box of boxes)
        assert.ok(box && box.x >= 0 && box.x + box.width <= 390 && box.y >= 0 && box.y + box.height <= 780, JSON.stringify(box));
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(over <= 0, `${over} pixels wider than the window`);
    }
    await keyboard.press('Escape');
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
