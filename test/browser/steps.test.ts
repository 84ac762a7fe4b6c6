/** A gesture is one step of undo, however many things it moves; a large step is reverted only after confirmation. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { beforeEach, describe, it } from 'node:test';
import type { Request } from 'playwright-core';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { History } from '../../src/schema/history.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';
import { canvas, middleOf, selectLink, toCanvas } from './page-parts.ts';

const count = 24;
const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
const { nodes } = expectStatus(
  await client.send(`POST ${project.path}/bulk`, {
    body: {
      nodes: Array.from({ length: count }, (_, number) => ({
        name: `S${number}`,
        node_type: 'ethernet_hub',
        compute_id: 'local',
        x: (number % 6) * 120 - 300,
        y: Math.floor(number / 6) * 100 - 200,
      })),
    },
  }),
  201,
).json<{ nodes: Node[] }>();
const svg = '<svg width="40" height="40"><rect fill="#ffcc00" width="40" height="40"/></svg>';
const drawing = await client.post<Drawing>(`${project.path}/drawings`, { svg, x: 0, y: 220 });
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
await canvas(page).node('S23').waitFor();
const unanswered = new Set<Request>();
page.on('request', (request) => request.method() === 'PUT' && unanswered.add(request));
page.on('requestfinished', (request) => unanswered.delete(request));
page.on('requestfailed', (request) => unanswered.delete(request));
/** The server has a movement before the page has its answer, and the page sends no other one until then. */
const allAnswered = () => waitFor(() => unanswered.size === 0, { what: 'the answers of all movements' });
beforeEach(async () => {
  await toCanvas(page);
  await allAnswered();
});

const history = () => client.get<History>(`${project.path}/history?limit=1000`);
const steps = async () => new Set((await history()).entries.map(({ step }) => step)).size;
const placesOf = async () =>
  new Map((await client.get<Node[]>(`${project.path}/nodes`)).map(({ node_id, x, y }) => [node_id, { x, y }]));
const placeOf = async (place: number) => (await placesOf()).get(nodes[place]?.node_id ?? '') ?? assert.fail('no such node');

/** Waits for the condition; resolves to the steps made since. */
async function stepsOf(act: () => Promise<void>, isDone: () => Promise<boolean>): Promise<number> {
  const before = await steps();
  await act();
  await waitFor(isDone, { what: 'the moved items' });
  return (await steps()) - before;
}

describe('a gesture on several items', () => {
  it('is one step when a layout arranges them, and undo restores their places', async () => {
    for (const key of ['Alt+Shift+L', 'Alt+Shift+T', 'Alt+Shift+F', 'Alt+Shift+O']) {
      const before = await placesOf();
      await page.keyboard.press('Control+A');
      const isMoved = async () => {
        const after = await placesOf();
        return [...before].some(([id, { x, y }]) => after.get(id)?.x !== x || after.get(id)?.y !== y);
      };
      assert.equal(await stepsOf(() => page.keyboard.press(key), isMoved), 1);
      const places = [...(await placesOf()).values()];
      assert.equal(new Set(places.map(({ x, y }) => `${x} ${y}`)).size, count);
      await client.post(`${project.path}/undo`, {}, 200);
      assert.deepEqual(await placesOf(), before);
      // The page shows them where they were.
      const [first] = before.values();
      await page.locator(`.node[transform="translate(${first?.x} ${first?.y})"]`).waitFor({ state: 'attached' });
    }
  });

  it('is one step when they are dragged', async () => {
    const from = await placeOf(23);
    await page.keyboard.press('Control+A');
    const [left, top] = await middleOf(canvas(page).node('S0').locator('.symbol'));
    const made = await stepsOf(
      async () => {
        await page.mouse.move(left, top);
        await page.mouse.down();
        await page.mouse.move(left + 50, top + 20, { steps: 4 });
        await page.mouse.up();
      },
      async () => (await placeOf(23)).x !== from.x,
    );
    assert.equal(made, 1);
    assert.notEqual((await client.get<Drawing>(`${project.path}/drawings/${drawing.drawing_id}`)).x, 0);
  });

  it('is one step when they are aligned or distributed', async () => {
    await page.keyboard.press('Control+A');
    const aligned = await stepsOf(
      () => page.keyboard.press('Alt+ArrowUp'),
      async () => new Set([...(await placesOf()).values()].map(({ y }) => y)).size === 1,
    );
    assert.equal(aligned, 1);
    const distributed = await stepsOf(
      () => page.keyboard.press('Alt+Shift+H'),
      async () => new Set([...(await placesOf()).values()].map(({ x }) => x)).size === count,
    );
    assert.equal(distributed, 1);
  });

  it('is one request at a time when a key is held down', async () => {
    const from = await placeOf(23);
    const requests: string[] = [];
    const note = (request: Request) => request.method() === 'PUT' && requests.push(new URL(request.url()).pathname);
    page.on('request', note);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/bulk', async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press('Control+A');
    const presses = 10;
    await page.keyboard.press('ArrowRight');
    await waitFor(() => requests.length === 1, { what: 'the request of the first press' });
    for (let press = 1; press < presses; press += 1) await page.keyboard.press('ArrowRight');
    release();
    await waitFor(async () => (await placeOf(23)).x === from.x + presses * 10, { what: 'all movements' });
    await allAnswered();
    page.off('request', note);
    assert.deepEqual(requests, [`${project.path}/bulk`, `${project.path}/bulk`]);
  });

  it('moves back what the server refuses', async (context) => {
    const from = await canvas(page).node('S5').getAttribute('transform');
    context.after(() => page.unroute('**/bulk'));
    await page.route('**/bulk', (route) => route.fulfill({ status: 409, json: { message: 'refused', status: 409 } }));
    await page.keyboard.press('Control+A');
    await page.keyboard.press('ArrowDown');
    await page.getByText('refused').waitFor();
    await canvas(page)
      .node('S5')
      .and(page.locator(`[transform="${from}"]`))
      .waitFor({ state: 'attached' });
  });
});

describe('a step that is reverted', () => {
  it('is not asked about, however much it changes: redo brings all back', async () => {
    const { x } = await placeOf(23);
    await page.keyboard.press('Control+Z');
    await waitFor(async () => (await placeOf(23)).x < x, { what: 'the nodes where they were' });
    await page.keyboard.press('Control+Shift+Z');
    await waitFor(async () => (await placeOf(23)).x === x, { what: 'the nodes moved again' });
    const made = await client.send(`POST ${project.path}/bulk`, {
      body: { nodes: Array.from({ length: 6 }, () => ({ name: 'T{0}', node_type: 'ethernet_hub', compute_id: 'local' })) },
    });
    expectStatus(made, 201);
    await page.keyboard.press('Control+Z');
    await waitFor(async () => (await placesOf()).size === count, { what: 'the nodes deleted' });
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  it('is asked about before it deletes what runs', async () => {
    const { node_id } = await createNode(client, project, 'vpcs', { name: 'Runs' });
    await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
    await page.keyboard.press('Control+Z');
    const question = page.getByRole('dialog', { name: 'Undo a change of 1 node?' });
    await question.getByText('1 running node is deleted, and what is in its memory is lost.').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await placesOf()).size, count + 1);
    await page.keyboard.press('Control+Z');
    await question.getByRole('button', { name: 'Undo' }).click();
    await waitFor(async () => (await placesOf()).size === count, { what: 'the node deleted' });
  });

  it('is not asked about when it is small', async () => {
    const { name } = (await client.get<Node[]>(`${project.path}/nodes`))[0] ?? assert.fail('no node');
    const { node_id } = nodes[0] ?? assert.fail('no node');
    await client.put(`${project.path}/nodes/${node_id}`, { name: 'Small' });
    await page.keyboard.press('Control+Z');
    await waitFor(async () => (await client.get<Node>(`${project.path}/nodes/${node_id}`)).name === name, { what: 'the old name' });
  });

  it('the activity log goes back to a state in one step', async () => {
    const { node_id } = nodes[1] ?? assert.fail('no node');
    const before = await placesOf();
    for (const x of [900, 910, 920, 930]) await client.put(`${project.path}/nodes/${node_id}`, { x });
    const last = await placesOf();
    await page.getByRole('button', { name: 'Activity', exact: true }).click();
    const log = page.getByRole('dialog', { name: 'Activity' });
    await log.getByText('Moved S1').nth(3).waitFor();
    // The newest state has none: the fourth is that of the state before the moves.
    await log
      .getByRole('button', { name: /^Undo to here:/ })
      .nth(3)
      .click();
    await waitFor(async () => JSON.stringify([...(await placesOf())]) === JSON.stringify([...before]), { what: 'the old places' });
    await log.getByText('Reverted: Moved S1').nth(3).waitFor();
    await toCanvas(page);
    for (let count = 0; count < 4; count++) await client.post(`${project.path}/redo`, {}, 200);
    assert.deepEqual(await placesOf(), last);
  });
});

describe('the minimap of a large project', () => {
  it('shows its nodes and the visible part; a click moves the view', async () => {
    const map = page.locator('.minimap');
    for (let turn = 0; turn < 6; turn += 1) await page.keyboard.press('+');
    const frame = () => map.locator('.minimap-frame').getAttribute('style');
    const before = await frame();
    await map.click({ position: { x: 20, y: 20 } });
    await waitFor(async () => (await frame()) !== before, { what: 'the frame at another place' });
    await picture(page, 'minimap');
    const isDrawn = () =>
      page.evaluate<boolean>(
        "document.querySelector('.minimap canvas').getContext('2d').getImageData(0, 0, 176, 116).data.some((value) => value > 0)",
      );
    await waitFor(isDrawn, { what: 'the drawn nodes' });
    await page.keyboard.press('Shift+M');
    await map.waitFor({ state: 'detached' });
    await page.keyboard.press('Shift+M');
    await map.waitFor();
  });
});

describe('notes of the project', () => {
  const address = `${project.path}/files/README.txt`;
  const pane = page.getByRole('complementary', { name: 'Notes' });
  const open = () => page.getByRole('button', { name: 'Notes', exact: true }).click();
  const close = () => pane.getByRole('button', { name: 'Close the notes' }).click();

  it('are the file that clients of GNS3 show, and lead to nodes', async () => {
    await open();
    await pane.getByLabel('Notes in Markdown').fill('# Lab\n\nBegin at [the switch](#S5).');
    await pane.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Notes saved').waitFor();
    assert.equal((await client.send(`GET ${address}`)).text(), '# Lab\n\nBegin at [the switch](#S5).');
    await pane.getByRole('button', { name: 'the switch' }).click();
    await page.locator('.node.selected[aria-label^="S5"]').waitFor();
    await close();
    await page.locator('.inspector h2', { hasText: 'S5' }).waitFor();
  });

  it('of another user are not replaced without a question', async () => {
    await open();
    await pane.getByRole('button', { name: 'Edit' }).click();
    await pane.getByLabel('Notes in Markdown').fill('mine');
    expectStatus(await client.send(`POST ${address}`, { raw: Buffer.from('theirs') }), 201);
    await pane.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', { name: 'Replace the changes of another user?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await client.send(`GET ${address}`)).text(), 'theirs');
    // Nor is what was typed lost with the pane.
    await close();
    await toCanvas(page);
    await open();
    const field = pane.getByLabel('Notes in Markdown');
    await waitFor(async () => (await field.inputValue()) === 'mine', { what: 'the unsaved notes' });
    await field.fill('theirs');
    await close();
  });

  it('run no script and load nothing from other sites', async () => {
    const hostile = [
      '<script>window.hurt = 1</script><img src="https://other.example/x.png" onerror="window.hurt = 1">',
      '![picture](https://other.example/y.png) [a](javascript:window.hurt=1) [b](data:text/html,x) <b>bold</b>',
      '[no node](#%E0%A4%A)',
    ].join('\n\n');
    expectStatus(await client.send(`POST ${address}`, { raw: Buffer.from(hostile) }), 201);
    await open();
    const notes = page.locator('.markdown');
    await notes.getByText('<b>').first().waitFor();
    assert.equal(await notes.locator('script, img, iframe, b').count(), 0);
    assert.deepEqual(await notes.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
      'https://other.example/y.png',
    ]);
    assert.equal(await page.evaluate('window.hurt'), undefined);
    await close();
    // Nested deeper than the parser goes.
    expectStatus(await client.send(`POST ${address}`, { raw: Buffer.from(`${'> '.repeat(5_000)}${'['.repeat(5_000)}<b>`) }), 201);
    await open();
    await notes.getByText('<b>').first().waitFor();
    await close();
    assert.deepEqual(problems, []);
  });
});

describe('a shared view', () => {
  it('shows another user the same part of the canvas, with the same selection', async () => {
    const { node_id } = nodes.find(({ name }) => name === 'S7') ?? assert.fail('no node');
    // Others do not cover it there.
    await client.put(`${project.path}/nodes/${node_id}`, { x: -400, y: 300 });
    await page.locator(`[data-id="${node_id}"][transform="translate(-400 300)"]`).waitFor();
    await page.keyboard.press('f');
    await canvas(page).node('S7').click();
    for (let count = 0; count < 3; count++) await page.keyboard.press('-');
    const shown = await middleOf(canvas(page).node('S7'));
    await page.getByRole('button', { name: 'Share this view' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Share this view' });
    const address = await dialog.getByLabel('Address').inputValue();
    assert.match(address, /\?at=-?\d+,-?\d+,\d\d&select=[0-9a-f-]{36}$/);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Address copied').waitFor();
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator('.inspector h2', { hasText: 'S7' }).waitFor();
    const place = await middleOf(canvas(page).node('S7'));
    // Rounded in the address.
    for (const axis of [0, 1] as const) assert.ok(Math.abs(place[axis] - shown[axis]) < 12, `${place} ${shown}`);
    await toCanvas(page, `${server.url}/projects/${project.id}`);
  });
});

describe('links and places', async () => {
  const small = await createProject(client, { auto_close: false, snap_to_grid: false });
  const [a, b, c, d] = await Promise.all(
    [
      ['A', -260, -80],
      ['B', 40, -80],
      ['C', -90, 90],
      ['D', 240, 60],
    ].map(([name, x, y]) => createNode(client, small, 'ethernet_hub', { name, x, y })),
  );
  const nodeOf = (node: NodeBody | undefined) => node ?? assert.fail('no node was made');
  const { link_id } = await client.post<Link>(`${small.path}/links`, {
    nodes: [end(nodeOf(a)), end(nodeOf(b))],
    filters: { delay: [7] },
  });
  const link = () => client.get<Link>(`${small.path}/links/${link_id}`);
  const isAt = (place: 0 | 1, node: NodeBody | undefined, port?: number) => async () => {
    const to = (await link()).nodes[place];
    return to?.node_id === node?.node_id && (port === undefined || to?.port_number === port);
  };
  const undoable = async () => (await client.get<History>(`${small.path}/history`)).undo;
  const shows = (title: string) => page.locator('.link title', { hasText: title }).waitFor({ state: 'attached' });
  const handle = (place: 0 | 1) => page.locator(`[data-link-end="${place}"]`);
  const dragTo = async (from: readonly [number, number], to: readonly [number, number]) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 3 });
    await page.mouse.move(...to, { steps: 3 });
  };

  it('an end of a link is dragged to another node: one step, and the link keeps the rest', async () => {
    await toCanvas(page, `${server.url}/projects/${small.id}`);
    // Made without a symbol: shown by that of its kind.
    await canvas(page).node('A').locator('.tile.switch').waitFor();
    await selectLink(page);
    await dragTo(await middleOf(handle(1)), await middleOf(canvas(page).node('C').locator('.symbol')));
    await picture(page, 'rewire');
    await page.mouse.up();
    await waitFor(isAt(1, c, 0), { what: 'the link at C' });
    assert.deepEqual((await link()).filters, { delay: [7] });
    await page.locator('.link.selected').waitFor();
    // The page shows the link there once that is a step; the server a moment before.
    await shows('A Ethernet0 — C Ethernet0');
    await page.keyboard.press('Control+Z');
    await waitFor(isAt(1, b), { what: 'the link at B again' });
    await shows('A Ethernet0 — B Ethernet0');
    await page.keyboard.press('Control+Shift+Z');
    await waitFor(isAt(1, c), { what: 'the link at C again' });
    await shows('A Ethernet0 — C Ethernet0');
    // The only link between two nodes is straight.
    await page.locator('.link .line:not([d*="Q"])').waitFor({ state: 'attached' });
  });

  it('with Shift, or by the keyboard, the port is chosen', async () => {
    await selectLink(page);
    await page.keyboard.down('Shift');
    await dragTo(await middleOf(handle(0)), await middleOf(canvas(page).node('D').locator('.symbol')));
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.getByRole('menuitem', { name: 'Ethernet3', exact: true }).click();
    await waitFor(isAt(0, d, 3), { what: 'the link at the fourth port of D' });
    await shows('D Ethernet3 — C Ethernet0');
    await page.locator('.link-ends', { hasText: 'Ethernet3' }).waitFor();
    await page.keyboard.press('Alt+Shift+E');
    await page.locator('.tool-hint', { hasText: 'The end at D stays' }).waitFor();
    // The next item after a link is the first one, A.
    await page.keyboard.press('n');
    await page.keyboard.press('l');
    await page.getByRole('menuitem', { name: 'Ethernet0', exact: true }).focus();
    await page.keyboard.press('Enter');
    await waitFor(isAt(1, a, 0), { what: 'the link at A' });
    await shows('D Ethernet3 — A Ethernet0');
  });

  it('a group moves what lies inside, and hides it when it is collapsed: one step each', async () => {
    const placeOf = async (node: NodeBody | undefined) => (await client.get<Node>(`${small.path}/nodes/${node?.node_id}`)).x;
    await canvas(page).node('A').locator('.symbol').click();
    await page.keyboard.press('Control+G');
    const frame = page.locator('.drawing.selected');
    await frame.waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Site "A"');
    await page.keyboard.press('Tab');
    await frame.locator('.group-name', { hasText: 'Site "A"' }).waitFor();
    const [x, y] = await middleOf(canvas(page).node('A').locator('.symbol'));
    const from = { b: await placeOf(b), a: await placeOf(a) };
    const undo = await undoable();
    // The frame is wider than the node.
    await dragTo([x - 50, y], [x - 88, y + 20]);
    await page.mouse.up();
    await waitFor(async () => (await placeOf(a)) !== from.a, { what: 'the node moved with its group' });
    assert.equal(await placeOf(b), from.b);
    await picture(page, 'group');
    await page.keyboard.press('Alt+C');
    const card = page.locator('.collapsed-group', { hasText: 'Site "A"1 node' });
    await card.waitFor();
    await canvas(page).node('A').waitFor({ state: 'detached' });
    // The link to D leads to the group.
    assert.equal(await page.locator('.link').count(), 1);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'collapsed');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.keyboard.press('Control+Z');
    await canvas(page).node('A').waitFor();
    await page.keyboard.press('Control+Z');
    await waitFor(async () => (await placeOf(a)) === from.a, { what: 'the node and its group where they were' });
    await waitFor(async () => (await undoable()) === undo, { what: 'two steps undone' });
    // A frame around the frame, with the same middle: collapsed, neither hides the other one.
    const [inner = assert.fail('no group')] = await client.get<Drawing[]>(`${small.path}/drawings`);
    const svgOf = (width: number, height: number) =>
      `<svg width="${width}" height="${height}"><rect data-patchbay-group='collapsed' width="${width}" height="${height}"/></svg>`;
    const [width = 0, height = 0] = [...inner.svg.matchAll(/="(\d+)"/g)].map(([, size]) => Number(size));
    const around = { svg: svgOf(width + 40, height + 40), x: inner.x - 20, y: inner.y - 20 };
    const outer = await client.post<Drawing>(`${small.path}/drawings`, around);
    await client.put(`${small.path}/drawings/${inner.drawing_id}`, { svg: svgOf(width, height) }, 201);
    await waitFor(async () => (await page.locator('.collapsed-group').count()) === 1, { what: 'the card of the outer group' });
    assert.equal(await page.locator('.node').count(), 3);
    await client.delete(`${small.path}/drawings/${outer.drawing_id}`);
    await frame.locator('.card').waitFor();
    await page.keyboard.press('Control+Shift+G');
    await frame.waitFor({ state: 'detached' });
  });

  it('a turned group holds what lies inside it, its links lie side by side, and a copy of it has its members', async () => {
    const turned = await createProject(client, { auto_close: false, snap_to_grid: false });
    const places = { A: [-85, -110], B: [-85, 60], C: [250, 0] } as const;
    const made = await Promise.all(
      Object.entries(places).map(([name, [x, y]]) => createNode(client, turned, 'ethernet_hub', { name, x, y })),
    );
    const [one, two, outside] = made.map(nodeOf);
    assert.ok(one && two && outside);
    for (const [port, [from, to]] of [[one, outside] as const, [two, outside] as const, [one, two] as const].entries())
      await client.post(`${turned.path}/links`, { nodes: [end(from, 0, port), end(to, 0, port)] });
    const frame = '<rect data-patchbay-group="collapsed" width="300" height="100" rx="14" fill="#64748b" stroke="#000000"/>';
    const body = { svg: `<svg width="300" height="100">${frame}</svg>`, x: 0, y: -150, rotation: 90 };
    await client.post<Drawing>(`${turned.path}/drawings`, body);
    await toCanvas(page, `${server.url}/projects/${turned.id}`);
    const card = page.locator('.collapsed-group', { hasText: '2 nodes' });
    await card.waitFor();
    await waitFor(async () => (await page.locator('.link').count()) === 2, { what: 'the links that leave the group' });
    const lines = await page.locator('.link .line').evaluateAll((all) => all.map((path) => path.getAttribute('d')));
    assert.equal(new Set(lines).size, 2);
    await card.click();
    await page.locator('.collapsed-group.selected').waitFor();
    await page.keyboard.press('Control+D');
    const countOf = async (what: string) => (await client.get<unknown[]>(`${turned.path}/${what}`)).length;
    // The link between the members is copied, those to the outside are not.
    await waitFor(async () => (await countOf('nodes')) === 5 && (await countOf('links')) === 4, { what: 'the copied members' });
    assert.equal(await countOf('drawings'), 2);
    await toCanvas(page, `${server.url}/projects/${small.id}`);
    await client.delete(turned.path);
  });

  it('a dragged node snaps to others, with Alt it does not', async () => {
    const placeOfB = async () => {
      const { x, y } = await client.get<Node>(`${small.path}/nodes/${nodeOf(b).node_id}`);
      return { x, y };
    };
    const symbol = canvas(page).node('B').locator('.symbol');
    const from = await placeOfB();
    const [x, y] = await middleOf(symbol);
    const undo = await undoable();
    // A is on the same height, C 170 pixels below it.
    await dragTo([x, y], [x + 61, y + 3]);
    // A line has no area: it does not count as visible.
    await page.locator('.guide.edge').first().waitFor({ state: 'attached' });
    await picture(page, 'guides');
    await page.mouse.up();
    await waitFor(async () => (await placeOfB()).x !== from.x, { what: 'the node at another place' });
    assert.equal((await placeOfB()).y, from.y);
    await page.locator('.guide').waitFor({ state: 'detached' });
    assert.notEqual(await undoable(), undo);
    const [x2, y2] = await middleOf(symbol);
    await page.keyboard.down('Alt');
    await dragTo([x2, y2], [x2 + 20, y2 + 3]);
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await waitFor(async () => (await placeOfB()).y !== from.y, { what: 'the node off the line' });
  });

  it('a node that another one covers is above it under the pointer', async () => {
    const { x, y } = await client.get<Node>(`${small.path}/nodes/${nodeOf(b).node_id}`);
    await client.put(`${small.path}/nodes/${nodeOf(c).node_id}`, { x: x + 25, y: y + 20, z: 2 });
    const uppermost = (name: string) => page.locator(`.node:last-child[aria-label^="${name},"]`);
    await page.mouse.move(5, 5);
    await uppermost('C').waitFor();
    await canvas(page)
      .node('B')
      .locator('.symbol')
      .hover({ position: { x: 5, y: 5 } });
    await uppermost('B').waitFor();
    await page.mouse.move(5, 5);
    await uppermost('C').waitFor();
  });

  it('the whole canvas is saved as SVG and PNG, as other programs show it', async () => {
    await toCanvas(page, `${server.url}/projects/${small.id}`);
    const save = async (label: string) => {
      await page.locator('svg.canvas').click({ button: 'right', position: { x: 40, y: 40 } });
      const item = page.getByRole('menuitem', { name: label });
      const [download] = await Promise.all([page.waitForEvent('download'), item.click()]);
      return readFile(await download.path());
    };
    await canvas(page).node('A').locator('.symbol').click();
    // Names are not shown at a small scale; in the picture they are.
    for (let count = 0; count < 5; count++) await page.keyboard.press('-');
    await page.locator('svg.canvas.far').waitFor();
    const svg = String(await save('Save the canvas as SVG'));
    for (const name of 'ABCD') assert.match(svg, new RegExp(`<text [^>]*fill="#[^>]*>${name}</text>`));
    assert.doesNotMatch(svg, /\s(class|style)=|var\(|href="\//);
    const [, width, height] = /<svg [^>]*width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
    const png = await save('Save the canvas as PNG');
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2 * Number(width), 2 * Number(height)]);
    const colours = await page.evaluate<number>(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png.toString('base64')}';
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
    })()`);
    assert.ok(colours > 20, `${colours} colours`);
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
