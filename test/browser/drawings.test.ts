/** Drawings are resized, rotated and edited in place. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Drawing } from '../../src/schema/drawing.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';
import { middleOf, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
const address = `${server.url}/projects/${project.id}`;
const first = await openTab(address);
const second = await openTab(address, { width: 768 });
const { page } = first;
beforeEach(() => toCanvas(page));
const draw = (svg: string, place: object) => client.post<Drawing>(`${project.path}/drawings`, { svg, ...place });
const stored = ({ drawing_id }: Drawing) => client.get<Drawing>(`${project.path}/drawings/${drawing_id}`);
const item = ({ drawing_id }: Drawing, tab = first) => tab.page.locator(`.drawing[data-id="${drawing_id}"]`);

async function select(drawing: Drawing): Promise<void> {
  await page.keyboard.press('Escape');
  await item(drawing).click();
  await page.locator('.handles').waitFor();
}

/** A handle of the selected drawing; the canvas is at 100 %. */
async function pull(handle: string, dx: number, dy: number): Promise<void> {
  const [x, y] = await middleOf(page.locator(`.handle-${handle}`));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 3 });
  await page.mouse.move(x + dx, y + dy, { steps: 3 });
  await page.mouse.up();
}

const changed = (drawing: Drawing, what: string) =>
  waitFor(
    async () => {
      const now = await stored(drawing);
      return (now.svg !== drawing.svg || now.rotation !== drawing.rotation) && now;
    },
    { what },
  );

describe('drawings on the canvas', () => {
  it('are resized by their handles, and keep their other attributes', async () => {
    const svg =
      '<svg width="200" height="100"><rect fill="#ffcc00" fill-opacity="0.5" height="100" rx="9" stroke="#000000" stroke-dasharray="5, 25, 25" stroke-width="2" width="200"/></svg>';
    const made = await draw(svg, { x: -300, y: -200 });
    await select(made);
    await picture(page, 'handles');
    await pull('se', 60, 40);
    const larger = await changed(made, 'the larger rectangle');
    assert.equal(larger.svg, svg.replaceAll('width="200"', 'width="260"').replaceAll('height="100"', 'height="140"'));
    assert.deepEqual([larger.x, larger.y], [-300, -200]);
    await item(made, second).locator('rect[width="260"]').waitFor();
    await pull('nw', 100, 30);
    const smaller = await changed(larger, 'the moved origin of the rectangle');
    assert.match(smaller.svg, /^<svg width="160" height="110"><rect .*height="110" .*width="160"\/><\/svg>$/);
    assert.deepEqual([smaller.x, smaller.y], [-200, -170]);
    await page.keyboard.press('Control+z');
    await waitFor(async () => (await stored(made)).svg === larger.svg, { what: 'the size before, at one press' });
    assert.deepEqual([(await stored(made)).x, (await stored(made)).y], [-300, -200]);
  });

  it('are ellipses that follow the handle, and keep their proportions with Shift', async () => {
    const made = await draw(
      '<svg width="100" height="50"><ellipse cx="50" cy="25" fill="#ffffff" rx="50" ry="25" stroke="#000000" stroke-width="2"/></svg>',
      {
        x: 50,
        y: -200,
      },
    );
    await item(made).click({ position: { x: 3, y: 26 }, force: true });
    await page.locator('.handles').waitFor();
    await page.keyboard.down('Shift');
    await pull('se', 100, 0);
    await page.keyboard.up('Shift');
    const { svg } = await changed(made, 'the larger ellipse');
    assert.match(svg, /^<svg width="200" height="100"><ellipse cx="100" cy="50" fill="#ffffff" rx="100" ry="50"/);
  });

  it('are lines whose ends follow the pointer, even past one another', async () => {
    const made = await draw(
      '<svg width="100" height="40"><line stroke="#ff0000" stroke-width="2" x1="0" x2="100" y1="0" y2="40"/></svg>',
      {
        x: -300,
        y: 60,
      },
    );
    await select(made);
    await pull('to', -150, 20);
    const line = await changed(made, 'the line');
    assert.equal(
      line.svg,
      '<svg width="50" height="60"><line stroke="#ff0000" stroke-width="2" x1="50" x2="0" y1="0" y2="60"/></svg>',
    );
    assert.deepEqual([line.x, line.y], [-350, 60]);
  });

  it('are pictures whose corners keep the proportions', async () => {
    const made = await draw(
      '<svg width="60" height="30"><circle cx="15" cy="15" r="15" fill="#00f"/><circle cx="45" cy="15" r="15"/></svg>',
      {
        x: 60,
        y: 60,
      },
    );
    await select(made);
    await pull('se', 60, 0);
    const { svg } = await changed(made, 'the larger picture');
    assert.match(svg, /^<svg width="120" height="60" viewBox="0 0 60 30" preserveAspectRatio="none"><circle cx="15"/);
    await item(made, second).locator('image[width="120"][height="60"]').waitFor();
  });

  it('keep round corners when their form changes them', async () => {
    const svg = '<svg width="90" height="60"><rect width="90" height="60" rx="12" fill="#ffffff" stroke="#000000"/></svg>';
    const made = await draw(svg, { x: -100, y: 150 });
    await select(made);
    await page.locator('.inspector').getByLabel('Width', { exact: true }).first().fill('120');
    await page.keyboard.press('Tab');
    assert.match((await changed(made, 'the wider rectangle')).svg, /<rect width="120" height="60" rx="12"/);
  });

  it('rotate around their upper left corner, and are resized while rotated', async () => {
    const made = await draw('<svg width="100" height="60"><rect width="100" height="60" fill="#ffffff" stroke="#000000"/></svg>', {
      x: 0,
      y: -80,
    });
    await select(made);
    // The pointer moves from above the centre to its right, around the corner: a quarter turn.
    await page.keyboard.down('Shift');
    await pull('turn', -24, 76);
    await page.keyboard.up('Shift');
    const { rotation } = await changed(made, 'the turned rectangle');
    assert.equal(rotation, 90);
    await page.locator('.handles[transform*="rotate(90)"]').waitFor();
    // The right edge is at the bottom now.
    await pull('e', 0, 50);
    await waitFor(async () => /^<svg width="150" height="60">/.test((await stored(made)).svg), { what: 'the longer rectangle' });
    assert.deepEqual([(await stored(made)).x, (await stored(made)).y], [0, -80]);
  });

  it('have no handles when they are locked', async () => {
    const [made] = await client.get<Drawing[]>(`${project.path}/drawings`);
    assert.ok(made);
    await select(made);
    await page.keyboard.press('k');
    await page.locator('.handles').waitFor({ state: 'detached' });
    await page.keyboard.press('k');
    await page.locator('.handles').waitFor();
  });

  it('are texts that are edited in place', async () => {
    await page.keyboard.press('t');
    const area = await page.locator('svg.canvas').boundingBox();
    assert.ok(area);
    await page.mouse.click(area.x + 80, area.y + 560);
    const editor = page.getByRole('textbox', { name: 'Edit the text' });
    await editor.waitFor();
    await page.keyboard.type('Rack <1>');
    await page.keyboard.press('Enter');
    await page.keyboard.type('upper');
    await page.keyboard.press('Control+Enter');
    await editor.waitFor({ state: 'detached' });
    const note = (tab = first) => tab.page.locator('.drawing text').filter({ hasText: 'Rack <1>' });
    await note(second).waitFor();
    const texts = (await client.get<Drawing[]>(`${project.path}/drawings`)).filter(({ svg }) => svg.includes('<text'));
    assert.match(texts[0]?.svg ?? '', />Rack &lt;1&gt;\nupper<\/text><\/svg>$/);
    await note().dblclick();
    await editor.fill('Rack <1> in the corner');
    await page.keyboard.press('Escape');
    await editor.waitFor({ state: 'detached' });
    await note(second).filter({ hasText: 'in the corner' }).waitFor();
    await page.keyboard.press('F2');
    await editor.fill('Rack 2');
    await page.locator('svg.canvas').click({ position: { x: 500, y: 600 } });
    await second.page.locator('.drawing text').filter({ hasText: 'Rack 2' }).waitFor();
  });

  it('cause no error in the page', () => assert.deepEqual([...first.problems, ...second.problems], []));
});
