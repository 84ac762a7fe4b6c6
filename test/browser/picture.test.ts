/** The canvas as a picture: in every sample, labels lie on nothing, and the exported SVG shows the same. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import type { Label } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';
import { canvas, middleOf, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const root = join(import.meta.dirname, '../..');
const samples = [
  ...['campus', 'lossy-wan'].map((name) => `web/dialogs/samples/${name}.yaml`),
  ...['bgp-filters', 'dns-satellite', 'ospf-failover', 'vlan-trunk', 'vrrp-split-brain'].map((name) => `labs/${name}.yaml`),
];

async function madeOf(file: string): Promise<ProjectHandle> {
  const project = await createProject(client, { auto_close: false, show_interface_labels: true });
  const lab = await readFile(join(root, file), 'utf8');
  const body = { lab, file: basename(file), project: project.id };
  const answer = await client.send('POST /v2/labs/apply', { body });
  assert.equal(answer.status, 200, answer.text());
  return project;
}

const labelled = await createProject(client, { auto_close: false, snap_to_grid: false, show_interface_labels: true });
const { page, problems } = await openTab(`${server.url}/projects/${labelled.id}`);

/** A shown text: its content, and its place on the screen relative to the first symbol. */
interface ShownText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Runs in the page. Boxes of texts without the room above and below their letters, and all pairs that touch. */
const look = `(selector) => {
  const svg = document.querySelector(selector);
  const inner = (element) => {
    const { left, top, right, bottom, height } = element.getBoundingClientRect();
    return { left, right, top: top + height * 0.2, bottom: bottom - height * 0.2 };
  };
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const texts = [...svg.querySelectorAll('text')].filter((text) => text.getBoundingClientRect().width > 0 && !text.closest('.far-names'));
  const found = [];
  const tiles = [...svg.querySelectorAll('.symbol')];
  for (const [place, text] of texts.entries()) {
    const box = inner(text);
    for (const other of texts.slice(place + 1)) if (meet(box, inner(other))) found.push(text.textContent + ' on ' + other.textContent);
    for (const tile of tiles) if (meet(box, inner(tile))) found.push(text.textContent + ' on a node');
    const [node, link] = [text.closest('.node')?.dataset.id, text.closest('.link')];
    if (!node && !link) continue;
    for (const line of svg.querySelectorAll('.link .line')) {
      const other = line.closest('.link');
      if (other === link || (node && window.endsOf(other.dataset.id).includes(node))) continue;
      const [matrix, length] = [line.getScreenCTM(), line.getTotalLength()];
      for (let at = 0; at <= length; at += 2) {
        const { x, y } = line.getPointAtLength(at).matrixTransform(matrix);
        if (x > box.left && x < box.right && y > box.top && y < box.bottom) {
          found.push(text.textContent + ' on a link');
          break;
        }
      }
    }
  }
  return found;
}`;

const overlapsOn = async (project: ProjectHandle): Promise<string[]> => {
  const links = await client.get<Link[]>(`${project.path}/links`);
  const ends = Object.fromEntries(links.map(({ link_id, nodes }) => [link_id, nodes.map(({ node_id }) => node_id)]));
  await page.evaluate(`window.endsOf = (id) => (${JSON.stringify(ends)})[id] ?? []`);
  return page.evaluate<string[]>(`(${look})('svg.canvas')`);
};

/** Texts of a picture, with the middle of each relative to that of the first name of a node. */
const textsOf = (selector: string) =>
  page.evaluate<ShownText[]>(`(() => {
    const texts = [...document.querySelectorAll('${selector} text')].filter((text) => text.getBoundingClientRect().width > 0);
    const at = texts.map((text) => {
      const { left, top, width, height } = text.getBoundingClientRect();
      return { text: text.textContent, x: left + width / 2, y: top + height / 2 };
    }).sort((one, other) => one.text.localeCompare(other.text) || one.x - other.x || one.y - other.y);
    return at.map(({ text, x, y }) => ({ text, x: Math.round(x - at[0].x), y: Math.round(y - at[0].y) }));
  })()`);

async function savedSvg(): Promise<string> {
  const download = page.waitForEvent('download');
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox').fill('Save the canvas as SVG');
  await page.getByRole('combobox').press('Enter');
  return readFile(await (await download).path(), 'utf8');
}

describe('labels', () => {
  for (const file of samples)
    it(`lie on nothing in ${basename(file)}, and neither do they in its exported picture`, async () => {
      const project = await madeOf(file);
      await page.goto(`${server.url}/projects/${project.id}`);
      await page.locator('.node text.label').first().waitFor();
      await page.locator('svg.canvas').focus();
      await page.keyboard.press('0');
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await picture(page, `labels-${basename(file, '.yaml')}-${theme}`);
      }
      assert.deepEqual(await overlapsOn(project), []);
      const shown = await textsOf('svg.canvas');
      const svg = await savedSvg();
      await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<div id="saved" style="position:fixed;top:0;left:0"></div>');
        document.getElementById('saved').innerHTML = ${JSON.stringify(svg)}`);
      assert.deepEqual(await textsOf('#saved'), shown);
    });

  it('of an impaired link are its values', async () => {
    const [one, other] = await Promise.all(
      [-200, 150].map((x, place) => createNode(client, labelled, 'vpcs', { name: `N${place}`, x, y: 0 })),
    );
    const { link_id } = await client.post<Link>(`${labelled.path}/links`, {
      nodes: [end(one as NodeBody), end(other as NodeBody)],
    });
    await page.goto(`${server.url}/projects/${labelled.id}`);
    await toCanvas(page);
    await canvas(page).node('N1').waitFor();
    assert.equal(await page.locator('.badge').count(), 0);
    await client.put(`${labelled.path}/links/${link_id}`, { filters: { delay: [100], packet_loss: [1] } }, 201);
    await page.locator('.badge text', { hasText: /^100 ms · 1 %$/ }).waitFor();
    await client.put(`${labelled.path}/links/${link_id}`, { filters: { delay_ab: [100], delay_ba: [20] } }, 201);
    await page.locator('.badge text', { hasText: /^→ 100 ms · ← 20 ms$/ }).waitFor();
    assert.match(await savedSvg(), /→ 100 ms · ← 20 ms/);
  });

  it('stay relative to their node while it is dragged, and find another place when it is let go', async () => {
    const label = canvas(page).node('N0').locator('text.label');
    const [x, y] = await middleOf(canvas(page).node('N0').locator('.symbol'));
    const above = await label.getAttribute('y');
    // The dragged node ends below this one, on which its name would lie.
    const third = await createNode(client, labelled, 'vpcs', { name: 'N2', x: -200, y: -200 });
    await canvas(page).node('N2').waitFor();
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 70, { steps: 4 });
    await page.mouse.move(x, y - 142, { steps: 4 });
    await waitFor(async () => (await canvas(page).node('N0').getAttribute('transform')) !== 'translate(-200 0)', {
      what: 'the node on its way',
    });
    assert.equal(await label.getAttribute('y'), above);
    await page.mouse.up();
    await waitFor(async () => (await label.getAttribute('y')) !== above, { what: 'a name at another side' });
    assert.deepEqual(await overlapsOn(labelled), []);
    await client.delete(`${labelled.path}/nodes/${third.node_id}`);
  });

  it('stay where a user put them', async () => {
    const [node] = await client.get<{ node_id: string; label: Label }[]>(`${labelled.path}/nodes`);
    const label = { ...node?.label, x: 70, y: 40 };
    await client.put(`${labelled.path}/nodes/${node?.node_id}`, { label });
    await page.locator('.node text.label[x="70"][y="52"][text-anchor="start"]').waitFor();
    await page.reload();
    await page.locator('.node text.label[x="70"][y="52"][text-anchor="start"]').waitFor();
  });

  it('and links avoid a node that is put on their line, when it is let go', async () => {
    const line = page.locator('.link .line').first();
    const straight = (await line.getAttribute('d')) ?? '';
    assert.match(straight, /^M[^Q]*L/);
    const [one, other] = await client.get<{ node_id: string; x: number; y: number }[]>(`${labelled.path}/nodes`);
    const [x, y] = [((one?.x ?? 0) + (other?.x ?? 0)) / 2, ((one?.y ?? 0) + (other?.y ?? 0)) / 2];
    const { node_id } = await createNode(client, labelled, 'vpcs', { name: 'Between', x: Math.round(x), y: Math.round(y) });
    await waitFor(async () => /Q/.test((await line.getAttribute('d')) ?? ''), { what: 'a link around the node' });
    assert.deepEqual(await overlapsOn(labelled), []);
    await picture(page, 'labels-around');
    await client.delete(`${labelled.path}/nodes/${node_id}`);
    await waitFor(async () => (await line.getAttribute('d')) === straight, { what: 'the straight link' });
  });

  it('give way to glyphs of few strokes, down to tiles of 12 pixels', async () => {
    await toCanvas(page);
    const tile = () => page.locator('.node .ground').first().boundingBox();
    const seen: string[] = [];
    for (let press = 0; press < 14; press += 1) {
      await page.keyboard.press('-');
      const { width = 0 } = (await tile()) ?? {};
      const [full, small] = [
        await page.locator('.canvas .glyph:not(.small)').count(),
        await page.locator('.canvas .glyph.small').count(),
      ];
      const form = full > 0 ? 'full' : small > 0 ? 'small' : 'none';
      if (seen.at(-1) !== form) seen.push(form);
      if (form === 'none') assert.ok(width < 12, `${width}`);
      if (form === 'small') {
        await picture(page, `glyphs-${Math.round(width)}`);
        const stroke = 2.8 * 1.5 * (width / 44);
        assert.ok(stroke >= 1, `strokes of ${stroke} pixels`);
      }
    }
    assert.deepEqual(seen, ['full', 'small', 'none']);
    await page.keyboard.press('f');
  });

  it('cause no error in the page', () => assert.deepEqual(problems, []));
});
