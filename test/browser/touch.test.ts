/** The canvas with fingers: on a tablet's screen, with the browser's own touch events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
const node = await createNode(client, project, 'vpcs', { name: 'Alpha', x: 0, y: 0 });
const other = await createNode(client, project, 'vpcs', { name: 'Beta', x: 200, y: 100 });
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`, { width: 768, height: 900, touch: true });
const screen = await page.context().newCDPSession(page);
const stored = ({ node_id }: { node_id: string }) => client.get<{ x: number; y: number }>(`${project.path}/nodes/${node_id}`);

type Finger = readonly [x: number, y: number];
const points = (fingers: readonly Finger[]) => fingers.map(([x, y], id) => ({ x, y, id }));
const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', fingers: readonly Finger[]) =>
  screen.send('Input.dispatchTouchEvent', { type, touchPoints: points(fingers) });

/** Puts fingers down one after the other, moves them together in steps, and lifts them. */
async function gesture(from: readonly Finger[], to: readonly Finger[]): Promise<void> {
  for (let count = 1; count <= from.length; count += 1) await touch('touchStart', from.slice(0, count));
  for (let step = 1; step <= 8; step += 1)
    await touch(
      'touchMove',
      from.map(([x, y], id): Finger => {
        const [toX = x, toY = y] = to[id] ?? [];
        return [x + ((toX - x) * step) / 8, y + ((toY - y) * step) / 8];
      }),
    );
  await touch('touchEnd', []);
}

async function middleOf(name: string): Promise<Finger> {
  const box = await canvas(page).node(name).locator('.symbol').boundingBox();
  assert.ok(box);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

const isAt = async (name: string, [x, y]: Finger, what: string) =>
  waitFor(
    async () => {
      const [nowX, nowY] = await middleOf(name);
      return Math.abs(nowX - x) <= 2 && Math.abs(nowY - y) <= 2;
    },
    { what },
  );

describe('the canvas under fingers', () => {
  it('moves a node with one finger, and the server notifies all clients', async () => {
    await canvas(page).node('Alpha').waitFor();
    const [x, y] = await middleOf('Alpha');
    await gesture([[x, y]], [[x + 60, y - 90]]);
    await waitFor(async () => (await stored(node)).y !== 0, { what: 'the moved node' });
    const now = await stored(node);
    assert.deepEqual([now.x, now.y], [60, -90]);
    await isAt('Alpha', [x + 60, y - 90], 'the node under the finger');
  });

  it('scrolls with one finger beside the items, and keeps the selection', async () => {
    const [x, y] = await middleOf('Alpha');
    await page.locator('.node.selected').waitFor();
    await gesture([[150, 700]], [[210, 640]]);
    await isAt('Alpha', [x + 60, y - 60], 'the canvas that was moved');
    assert.equal(await page.locator('.node.selected').count(), 1);
    assert.deepEqual([(await stored(node)).x, (await stored(node)).y], [60, -90]);
  });

  it('zooms with two fingers, around the point between them', async () => {
    const [x, y] = await middleOf('Beta');
    await page.getByText('100 %').waitFor();
    await gesture(
      [
        [x - 50, y + 90],
        [x + 50, y - 90],
      ],
      [
        [x - 100, y + 180],
        [x + 100, y - 180],
      ],
    );
    await page.getByText('200 %').waitFor();
    await isAt('Beta', [x, y], 'the node between the fingers');
    await gesture(
      [
        [x - 100, y + 180],
        [x + 100, y - 180],
      ],
      [
        [x - 50, y + 90],
        [x + 50, y - 90],
      ],
    );
    await page.getByText('100 %').waitFor();
    assert.deepEqual([(await stored(other)).x, (await stored(other)).y], [200, 100]);
  });

  it('reverts the move of a node when a second finger comes down', async () => {
    const [x, y] = await middleOf('Beta');
    await touch('touchStart', [[x, y]]);
    await touch('touchMove', [[x + 30, y + 30]]);
    await touch('touchMove', [[x + 60, y + 60]]);
    await isAt('Beta', [x + 60, y + 60], 'the node under the finger');
    await touch('touchStart', [
      [x + 60, y + 60],
      [x + 60, y + 200],
    ]);
    await isAt('Beta', [x, y], 'the node where it was');
    await touch('touchEnd', []);
    await page.keyboard.press('0');
    assert.deepEqual([(await stored(other)).x, (await stored(other)).y], [200, 100]);
  });

  it('selects items on a tap, and clears the selection beside them', async () => {
    const [x, y] = await middleOf('Beta');
    await page.touchscreen.tap(x, y);
    await page.locator('.node.selected[aria-label^="Beta"]').waitFor();
    await page.touchscreen.tap(60, 800);
    await page.locator('.node.selected').waitFor({ state: 'detached' });
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
