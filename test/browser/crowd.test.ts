/** A lab of thousands of nodes seen from afar: some paths instead of thousands of elements, which can be pointed at, started and dragged as elsewhere. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';
import { canvas, toCanvas } from './page-parts.ts';

const count = 2_200;
const columns = 55;
const spacingPx = 130;
const limitMs = 120_000;

const { server, client } = await withServer({ config: { Server: { udp_start_port_range: 40_000, udp_end_port_range: 49_999 } } });
const project = await createProject(client, { auto_close: false, snap_to_grid: false });
const numbers = Array.from({ length: count }, (_, number) => number);
/** Whether it is in the row of PCs above the hubs. */
const isPc = (number: number) => number < columns;
const { nodes } = expectStatus(
  await client.send(`POST ${project.path}/bulk`, {
    limitMs,
    body: {
      nodes: numbers.map((number) => ({
        ref: String(number),
        name: `N${number}`,
        node_type: isPc(number) ? 'vpcs' : 'ethernet_hub',
        compute_id: 'local',
        x: (number % columns) * spacingPx,
        y: Math.floor(number / columns) * spacingPx,
      })),
      links: numbers.slice(columns + 1).map((number) => ({
        nodes: [
          { ref: String(number - 1), adapter_number: 0, port_number: 0 },
          { ref: String(number), adapter_number: 0, port_number: 1 },
        ],
      })),
    },
  }),
  201,
).json<{ nodes: Node[] }>();
const at = (number: number) => nodes[number] ?? assert.fail(`N${number} was not made`);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const crowd = page.locator('.crowd');
/** Number of squares in the path of a look, and of lines. */
const drawn = (what: string) =>
  page.evaluate(`(document.querySelector('.crowd ${what}')?.getAttribute('d') ?? '').split('M').length - 1`) as Promise<number>;
/** The middle of a node in the window. */
const placeOf = async (number: number): Promise<readonly [number, number]> => {
  const { x, y, width, height } = await client.get<Node>(`${project.path}/nodes/${at(number).node_id}`);
  const place = await page.evaluate(
    `new DOMPoint(${x + width / 2}, ${y + height / 2}).matrixTransform(document.querySelector('.crowd').getScreenCTM()).toJSON()`,
  );
  const { x: left, y: top } = place as { x: number; y: number };
  return [left, top];
};
const heading = (name: string) => page.locator('aside.inspector').getByRole('heading', { name, exact: true });

describe('a lab of 2,200 nodes seen from afar', () => {
  it('is drawn as paths, by what the nodes do', async () => {
    await crowd.waitFor({ timeout: limitMs });
    assert.equal(await page.locator('svg.canvas .node').count(), 0);
    assert.match((await crowd.getAttribute('aria-label')) ?? '', /^2200 nodes/);
    assert.deepEqual([await drawn('.link .line'), await drawn('.dot.started')], [count - columns - 1, count - columns]);
    assert.equal(await drawn('.dot.stopped'), columns);
    await picture(page, 'crowd');
    await client.post(`${project.path}/nodes/${at(3).node_id}/start`, {}, 200);
    await waitFor(async () => (await drawn('.dot.stopped')) === columns - 1, { what: 'a PC that was started' });
  });

  it('selects the node under the pointer, which is drawn as elsewhere then, and its menu', async () => {
    await page.mouse.click(...(await placeOf(700)));
    await heading('N700').waitFor();
    await canvas(page).node('N700').waitFor();
    assert.equal(await page.locator('svg.canvas .node').count(), 1);
    await page.mouse.click(...(await placeOf(701)), { button: 'right' });
    await page.getByRole('menu').waitFor();
    await heading('N701').waitFor();
  });

  it('moves what is dragged, one node or many', async () => {
    await toCanvas(page);
    const drag = async (from: number, to: readonly [number, number]) => {
      await page.mouse.move(...(await placeOf(from)));
      await page.mouse.down();
      await page.mouse.move(...to, { steps: 5 });
      await page.mouse.up();
    };
    const [x, y] = await placeOf(0);
    const before = at(0);
    await drag(0, [x - 20, y]);
    const movedBy = async (number: number, origin: Node) =>
      (await client.get<Node>(`${project.path}/nodes/${at(number).node_id}`)).x - origin.x;
    await waitFor(async () => (await movedBy(0, before)) < -50, { what: 'the dragged node' });
    await page.keyboard.press('Control+a');
    await page.locator('.crowd .dot.selected').waitFor({ state: 'attached' });
    assert.equal(await drawn('.dot.selected'), count);
    const last = at(count - 1);
    await drag(500, [(await placeOf(500))[0] + 15, (await placeOf(500))[1]]);
    await waitFor(async () => (await movedBy(count - 1, last)) > 40, { what: 'all nodes moved', limitMs });
  });

  it('has its elements again when it is near', async () => {
    await toCanvas(page);
    await page.mouse.click(...(await placeOf(700)));
    await page.keyboard.press('1');
    for (let press = 0; press < 12 && (await crowd.count()) > 0; press += 1) await page.keyboard.press('+');
    await crowd.waitFor({ state: 'detached', timeout: limitMs });
    await canvas(page).node('N700').waitFor();
    assert.deepEqual(problems, []);
  });
});
