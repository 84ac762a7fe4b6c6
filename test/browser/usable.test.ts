/** The page at work in small windows, with many consoles, without a mouse, and beside other users. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';
import { canvas, middleOf, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
const consoles = 20;
for (let number = 0; number < consoles; number += 1)
  await createNode(client, project, 'vpcs', {
    name: `A${number}`,
    x: (number % 5) * 110 - 220,
    y: Math.floor(number / 5) * 90 - 300,
  });
const address = `${server.url}/projects/${project.id}`;
const { page, problems } = await openTab(address);
await canvas(page).node('A19').waitFor();
beforeEach(() => toCanvas(page, address));
const placeOf = async () => (await canvas(page).node('A0').boundingBox()) ?? assert.fail('A0 is not drawn');

describe('the canvas', () => {
  it('stays where it is when the pointer is dragged in link mode', async () => {
    await page.keyboard.press('l');
    const area = (await page.locator('svg.canvas').boundingBox()) ?? assert.fail('no canvas');
    const before = await placeOf();
    await page.mouse.move(area.x + 20, area.y + 200);
    await page.mouse.down();
    await page.mouse.move(area.x + 90, area.y + 260, { steps: 4 });
    await page.mouse.up();
    assert.deepEqual(await placeOf(), before);
    await page.keyboard.press('Escape');
  });

  it('keeps a text that was typed when the editor is left with Escape', async () => {
    await page.keyboard.press('t');
    const area = (await page.locator('svg.canvas').boundingBox()) ?? assert.fail('no canvas');
    await page.mouse.click(area.x + 30, area.y + 200);
    await page.getByRole('textbox', { name: 'Edit the text' }).waitFor();
    await page.keyboard.type('Typed');
    await page.keyboard.press('Escape');
    const isKept = async () => (await client.get<Drawing[]>(`${project.path}/drawings`)).some(({ svg }) => svg.includes('>Typed<'));
    await waitFor(isKept, { what: 'the text' });
  });
});

describe('what the server or another user changed', () => {
  it('is said when a name was changed', async () => {
    await canvas(page).node('A0').click();
    const name = page.locator('.inspector').getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Client A');
    await name.press('Enter');
    await page.getByText('The server changed the name “Client A” to “ClientA”.').waitFor();
  });

  it('is said when a node was deleted', async () => {
    const node = (await client.get<Node[]>(`${project.path}/nodes`)).find(({ name }) => name === 'ClientA') ?? assert.fail();
    // The page has not received the notification yet.
    await page.route(`**/nodes/${node.node_id}`, async (route) => {
      await client.delete(`${project.path}/nodes/${node.node_id}`);
      await route.continue();
    });
    await page.keyboard.press('Escape');
    await canvas(page).node('ClientA').click();
    await page.keyboard.press('ArrowRight');
    await page.getByText('The node was deleted by another user.').waitFor();
  });
});

describe('many consoles', () => {
  it('leave the active tab in sight, and a menu lists them all', async () => {
    await page.keyboard.press('Control+A');
    await page.keyboard.press('c');
    const last = page.getByRole('tab', { name: 'A19' });
    await last.waitFor();
    const isInSight = (name: string) =>
      page.getByRole('tab', { name, exact: true }).evaluate((tab) => {
        const [box, list] = [tab.getBoundingClientRect(), tab.parentElement?.getBoundingClientRect()];
        return list !== undefined && box.left >= list.left - 1 && box.right <= list.right + 1;
      });
    await waitFor(() => isInSight('A19'), { what: 'the tab of A19 in sight' });
    await page.getByRole('button', { name: 'All consoles of this pane' }).click();
    await page.getByRole('menuitem', { name: 'A1', exact: true }).click();
    await waitFor(() => isInSight('A1'), { what: 'the tab of A1 in sight' });
  });

  it('are a list of tabs only', async () => {
    const foreign = page.locator('[role=tablist] > :not([role=tab])');
    assert.equal(await foreign.count(), 0);
    await page.getByRole('button', { name: 'Close the console of A1', exact: true }).click();
    await page.getByRole('tab', { name: 'A1', exact: true }).waitFor({ state: 'detached' });
  });
});

describe('the command menu', () => {
  const menu = page.getByRole('dialog', { name: 'Find anything' });
  const find = async (text: string) => {
    await menu.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await menu.waitFor();
    await page.keyboard.type(text);
  };

  it('finds nodes, commands, templates, projects and views', async () => {
    await find('a17');
    await page.keyboard.press('Enter');
    await page.locator('.node.selected[aria-label^="A17"]').waitFor();
    await page.locator('svg.canvas:focus').waitFor();
    await find('project settings');
    await page.keyboard.press('Enter');
    const settings = page.getByRole('dialog', { name: /settings/i });
    await settings.waitFor();
    await page.keyboard.press('Escape');
    await settings.waitFor({ state: 'detached' });
    await find('add ethernet hub');
    await page.keyboard.press('Enter');
    await waitFor(
      async () => (await client.get<Node[]>(`${project.path}/nodes`)).some(({ node_type }) => node_type === 'ethernet_hub'),
      {
        what: 'the hub',
      },
    );
    await find('no such thing');
    await menu.getByText('Nothing matches.').waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Find anything' }).click();
    await menu.waitFor();
    await page.keyboard.type('server');
    await menu.getByRole('option', { name: 'Server Views' }).click();
    await page.getByRole('heading', { name: 'Computes' }).waitFor();
    await find('project-');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await canvas(page).node('A19').waitFor();
  });
});

describe('a node under the pointer', () => {
  const links = () => client.get<Link[]>(`${project.path}/links`);
  /** Drags from the handle of one node to another node. */
  const dragLink = async (from: string, to: string) => {
    const imageOf = (name: string) => canvas(page).node(name).locator('.symbol');
    const end = await middleOf(imageOf(to));
    await imageOf(from).hover();
    await page.locator('.wire-handle').hover({ force: true });
    await page.mouse.down();
    await page.mouse.move(...end, { steps: 5 });
    await page.mouse.up();
  };
  /** The hub that the links need: the command menu has created one if its test has passed. */
  const needHub = async () => {
    const nodes = await client.get<Node[]>(`${project.path}/nodes`);
    if (!nodes.some(({ name }) => name === 'Hub1'))
      await createNode(client, project, 'ethernet_hub', { name: 'Hub1', x: 0, y: 120 });
    await canvas(page).node('Hub1').waitFor({ state: 'attached' });
  };
  const portsOf = async (name: string) => {
    const nodes = await client.get<Node[]>(`${project.path}/nodes`);
    const hub = nodes.find(({ node_type }) => node_type === 'ethernet_hub')?.node_id;
    const pc = nodes.find((node) => node.name === name)?.node_id;
    const link = (await links()).find((one) => one.nodes.some(({ node_id }) => node_id === pc));
    return link?.nodes.find(({ node_id }) => node_id === hub)?.port_number;
  };

  it('is linked by a drag: the first free ports, or with Shift a chosen one', async () => {
    await needHub();
    await page.keyboard.press('f');
    await dragLink('A5', 'Hub1');
    await waitFor(async () => (await portsOf('A5')) === 0, { what: 'the link of A5' });
    await page.locator('.link').waitFor({ state: 'attached' });
    await page.locator('.tool-hint').waitFor({ state: 'detached' });
    await page.keyboard.down('Shift');
    await dragLink('A6', 'Hub1');
    await page.keyboard.up('Shift');
    await page.getByRole('menuitem', { name: 'Ethernet3' }).click();
    await waitFor(async () => (await portsOf('A6')) === 3, { what: 'the link of A6' });
    await page.keyboard.press('Escape');
    await dragLink('A5', 'A7');
    await page.getByText('A5 has no free port').waitFor();
    assert.equal((await links()).length, 2);
  });

  it('is renamed by a double click on its name, or F2', async () => {
    await canvas(page).node('A7').locator('text').dblclick();
    const field = page.getByRole('textbox', { name: 'New name of A7' });
    await field.fill('R7');
    await page.keyboard.press('Enter');
    await canvas(page).node('R7').waitFor();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'New name of R7' }).fill('Lost');
    await page.keyboard.press('Escape');
    await page.locator('svg.canvas:focus').waitFor();
    assert.equal(
      (await client.get<Node[]>(`${project.path}/nodes`)).some(({ name }) => name === 'Lost'),
      false,
    );
  });
});

describe('single keys', () => {
  it('can be switched off, and stay off', async () => {
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keys and help' });
    const body = help.locator('.dialog-body');
    await body.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('End');
    await waitFor(() => body.evaluate((element) => element.scrollTop > 0), { what: 'the scrolled help' });
    await help.getByRole('switch', { name: 'Single keys run commands' }).uncheck();
    await page.keyboard.press('Escape');
    await page.reload();
    await canvas(page).node('A19').waitFor();
    const hint = page.locator('.tool-hint');
    await page.locator('svg.canvas').focus();
    await page.keyboard.press('l');
    await page.keyboard.press('?');
    await help.waitFor();
    assert.equal(await hint.count(), 0);
    await help.getByRole('switch', { name: 'Single keys run commands' }).check();
    await page.keyboard.press('Escape');
    // The canvas has the focus again.
    await page.locator('svg.canvas:focus').waitFor();
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('l');
    await hint.waitFor();
    await page.keyboard.press('Escape');
  });
});

describe('a narrow window', () => {
  const overflow =
    '[...document.querySelectorAll(".top-bar *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length';

  it('of 390 pixels shows the whole toolbar', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await waitFor(async () => (await page.evaluate<number>(overflow)) === 0, { what: 'a toolbar inside the window' });
  });

  it('of 768 pixels shows the details beside the canvas', async () => {
    await page.setViewportSize({ width: 768, height: 800 });
    const isBeside = async () => {
      const [area, details] = [await page.locator('svg.canvas').boundingBox(), await page.locator('.inspector').boundingBox()];
      return area && details && area.x + area.width <= details.x + 1;
    };
    await waitFor(isBeside, { what: 'the details beside the canvas' });
    await waitFor(async () => (await page.evaluate<number>(overflow)) === 0, { what: 'a toolbar inside the window' });
  });

  it('has a main landmark', () => page.getByRole('main').waitFor());

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
