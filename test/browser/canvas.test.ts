/** The canvas with several users at once, and after its server is killed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, middleOf, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
const one = await createNode(client, project, 'vpcs', { name: 'Alpha', x: -200, y: 0 });
const other = await createNode(client, project, 'vpcs', { name: 'Beta', x: 100, y: 0 });
const address = `${server.url}/projects/${project.id}`;
const first = await openTab(address);
const second = await openTab(address, { width: 768, height: 900, dark: true });
const { page } = first;
const nodeObject = async (id: string) => client.get<{ x: number; y: number; locked: boolean }>(`${project.path}/nodes/${id}`);

describe('the canvas', () => {
  it('shows changes of another window and of the API at once', async () => {
    await canvas(page).node('Alpha').waitFor();
    await canvas(second.page).node('Alpha').waitFor();
    await client.post(`${project.path}/links`, { nodes: [end(one), end(other)] });
    for (const tab of [first, second]) await tab.page.locator('.link').waitFor({ state: 'attached' });
    const [left, top] = await middleOf(canvas(page).node('Beta').locator('.symbol'));
    await page.mouse.move(left, top);
    await page.mouse.down();
    await page.mouse.move(left + 20, top + 40, { steps: 4 });
    await page.mouse.move(left + 50, top + 100, { steps: 4 });
    await page.mouse.up();
    await waitFor(async () => (await nodeObject(other.node_id)).y !== 0, { what: 'the moved node on the server' });
    const { x, y } = await nodeObject(other.node_id);
    await second.page.locator(`.node[transform="translate(${x} ${y})"]`).waitFor();
  });

  it('shows who else is here and what they have selected; a name can be set', async () => {
    const header = (tab: typeof first) => tab.page.getByRole('list', { name: 'Others who have this project open' });
    await header(first).getByText('Follow Guest 2', { exact: true }).waitFor({ state: 'attached' });
    const places = () =>
      page.locator('svg.canvas, .top-bar .button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
    const before = await places();
    const [left, top] = await middleOf(canvas(second.page).node('Alpha').locator('.symbol'));
    await second.page.mouse.click(left, top);
    const outlines = page.locator('.selections-of-others');
    await outlines.getByText('G2').waitFor();
    assert.equal(await outlines.locator('rect').count(), 1);
    await second.page.getByRole('button', { name: 'You are Guest 2. Change your name' }).click();
    await second.page.getByLabel('Name that others see').fill(`Ada Lovelace ${'😀'.repeat(20)}`);
    await second.page.getByRole('button', { name: 'Save' }).click();
    await outlines.getByText('AL').waitFor();
    // A longer name is cut, and not in the middle of a character: the server would end the connection.
    await header(first)
      .getByText(`Follow Ada Lovelace ${'😀'.repeat(13)}`, { exact: true })
      .waitFor({ state: 'attached' });
    await picture(page, 'presence');
    await picture(second.page, 'presence-dark');
    await toCanvas(second.page);
    await outlines.waitFor({ state: 'detached' });
    // A third user enters and leaves.
    const third = await openTab(address);
    await header(first).getByText('Follow Guest 3', { exact: true }).waitFor({ state: 'attached' });
    assert.deepEqual(await places(), before, 'nothing moves when a user enters');
    await third.close();
    await header(first).getByText('Follow Guest 3', { exact: true }).waitFor({ state: 'detached' });
  });

  it('moves its picture during a gesture, and draws it again after a pause or when the gesture leads too far', async () => {
    // The page itself looks, as the pause would end before a test does.
    const [before, moved, further] = (await page.evaluate(`(async () => {
      const svg = document.querySelector('svg.canvas');
      const look = () => ({
        drawn: svg.querySelector(':scope > g').getAttribute('transform'),
        isGliding: svg.matches('.gliding'),
        left: document.querySelector('.node').getBoundingClientRect().left,
      });
      const scrolled = async (deltaY) => {
        svg.dispatchEvent(new WheelEvent('wheel', { deltaY, shiftKey: true, bubbles: true, cancelable: true }));
        await new Promise((resolve) => setTimeout(resolve));
        return look();
      };
      const before = look();
      const moved = await scrolled(60);
      // A panel that opens meanwhile has the canvas measured: below, the place of the pointer would be wrong.
      for (let press = 0; press < 2; press += 1) {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'd', bubbles: true }));
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      }
      return [before, moved, await scrolled(4000)];
    })()`)) as { drawn: string; isGliding: boolean; left: number }[];
    assert.ok(before && moved && further);
    assert.deepEqual([moved.drawn, moved.isGliding, Math.round(moved.left)], [before.drawn, true, Math.round(before.left - 60)]);
    assert.notEqual(further.drawn, before.drawn);
    assert.deepEqual([further.isGliding, Math.round(further.left)], [false, Math.round(before.left - 4060)]);
    await page.keyboard.press('f');
    const [left, top] = await middleOf(canvas(page).node('Alpha').locator('.symbol'));
    await page.mouse.move(left, top);
    const drawn = () => page.locator('svg.canvas > g').getAttribute('transform');
    const fitted = await drawn();
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await waitFor(async () => (await drawn()) !== fitted, { what: 'the canvas drawn at the new scale' });
    await page.locator('svg.canvas.gliding').waitFor({ state: 'detached' });
    // The point below the pointer stands still.
    const [sameLeft, sameTop] = await middleOf(canvas(page).node('Alpha').locator('.symbol'));
    assert.ok(Math.hypot(sameLeft - left, sameTop - top) < 1, `${sameLeft - left}, ${sameTop - top}`);
    await page.keyboard.press('f');
  });

  it('draws names and ports where they can be read, of what is in view and around it', async () => {
    await toCanvas(page);
    const labels = () => page.locator('.node text.label, .end text.label').count();
    assert.equal(await labels(), 4);
    for (let press = 0; press < 6; press += 1) await page.keyboard.press('-');
    await page.locator('svg.canvas.far').waitFor();
    assert.equal(await labels(), 0);
    await page.locator('.far-names').getByText('Alpha', { exact: true }).waitFor({ state: 'attached' });
    await page.keyboard.press('f');
    await page.locator('svg.canvas:not(.far)').waitFor();
    assert.equal(await labels(), 4);
    for (let press = 0; press < 60; press += 1) await page.keyboard.press('ArrowRight');
    await waitFor(async () => (await labels()) === 0, { what: 'no labels out of view' });
    await page.keyboard.press('f');
    assert.equal(await labels(), 4);
  });

  it('moves nodes with the keyboard; a locked node stays', async () => {
    await canvas(page).node('Alpha').click();
    await page.keyboard.press('ArrowRight');
    await waitFor(async () => (await nodeObject(one.node_id)).x === -190, { what: 'the node ten pixels to the right' });
    await page.keyboard.press('k');
    await waitFor(async () => (await nodeObject(one.node_id)).locked, { what: 'the locked node' });
    // The page updates first: keys act on its state.
    await canvas(page).node('Alpha').locator('.lock').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('k');
    await waitFor(async () => !(await nodeObject(one.node_id)).locked, { what: 'the node that is free again' });
    assert.equal((await nodeObject(one.node_id)).x, -190);
  });

  it('draws, undoes and redoes, and copies nodes with the links between them', async () => {
    await page.keyboard.press('b');
    const area = await page.locator('svg.canvas').boundingBox();
    assert.ok(area);
    await page.mouse.move(area.x + 60, area.y + 60);
    await page.mouse.down();
    await page.mouse.move(area.x + 260, area.y + 160, { steps: 4 });
    await page.mouse.up();
    await second.page.locator('.drawing rect').first().waitFor();
    await page.keyboard.press('Control+z');
    for (const tab of [first, second]) await tab.page.locator('.drawing').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Shift+z');
    for (const tab of [first, second]) await tab.page.locator('.drawing rect').first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await waitFor(async () => (await client.get<object[]>(`${project.path}/links`)).length === 2, { what: 'the copied link' });
    assert.equal((await client.get<object[]>(`${project.path}/nodes`)).length, 4);
    assert.equal((await client.get<object[]>(`${project.path}/drawings`)).length, 2);
    // The copies are selected.
    await page.getByRole('heading', { name: '2 nodes, 1 drawing' }).waitFor();
    await picture(page, 'canvas');
  });

  it('deletes the selection after confirmation', async () => {
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await waitFor(async () => (await client.get<object[]>(`${project.path}/nodes`)).length === 2, { what: 'two nodes' });
    await waitFor(async () => (await page.locator('.node').count()) === 2, { what: 'two nodes in the page' });
  });

  it('shows a hostile drawing as a picture: nothing in it runs or loads', async () => {
    const hostile =
      `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60" onload="window.hacked=1"><script>window.hacked=1</script>` +
      `<image href="${server.url}/v2/version?stolen" width="9" height="9" onerror="window.hacked=1"/><foreignObject width="9" height="9">` +
      `<iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script&gt;parent.hacked=1&lt;/script&gt;"></iframe></foreignObject>` +
      `<a href="javascript:window.hacked=1"><rect width="120" height="60" fill="red" onclick="window.hacked=1"/></a></svg>`;
    const texts = `<svg width="90" height="30"><text font-size="12" fill="url(#x)" onclick="window.hacked=1">&lt;img src=x onerror=hacked=1&gt;</text></svg>`;
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await client.post(`${project.path}/drawings`, { svg: hostile, x: -100, y: -150 });
    await client.post(`${project.path}/drawings`, { svg: texts, x: 100, y: -150 });
    await page.locator('.drawing image').click({ force: true });
    await page.locator('.drawing text').filter({ hasText: '<img src=x' }).click({ force: true });
    assert.equal(await page.evaluate('window.hacked'), undefined);
    assert.equal(await page.locator('.canvas script, .canvas iframe, .canvas foreignObject, .canvas a').count(), 0);
    assert.deepEqual(
      requests.filter((url) => url.includes('stolen')),
      [],
    );
  });

  it('reports a lost server and shows every change after the reconnection', async () => {
    await server.kill9();
    for (const tab of [first, second]) await tab.page.getByText('The connection to the server is lost').waitFor();
    await server.restart();
    await client.post(`${project.path}/nodes`, { name: 'Gamma', node_type: 'vpcs', compute_id: 'local' });
    for (const tab of [first, second]) {
      await canvas(tab.page).node('Gamma').waitFor();
      await tab.page.getByText('The connection to the server is lost').waitFor({ state: 'detached' });
    }
  });

  it('causes no error in the page', () => assert.deepEqual([...first.problems, ...second.problems], []));
});
