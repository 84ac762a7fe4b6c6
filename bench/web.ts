/** The page in headless Chromium: a big project against a small one, and a long capture against a short one, in the same run. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { Client } from 'undici';
import { fileHeader } from '../src/schema/pcap-file.ts';
import { median, type Row, request } from './measure.ts';
import { type Running, startPatchbay } from './server.ts';

/** Nodes of the big project; links are half as many again. */
const bigNodes = Number(process.env.BENCH_WEB_NODES ?? 1000);
const big = { nodes: bigNodes, links: bigNodes * 1.5 };
const small = { nodes: 20, links: 30 };
const columns = 40;
/** Distance of the second kind of links, in nodes. */
const stride = 10;
const spacingPx = 130;
const adapters = 4;
const openings = 3;
const movingMs = 3_000;
/** Dragged: nodes of a square on the grid. */
const square = 10;
const dragged = square ** 2;
const packets = { many: 20_000, few: 200 };
const limitMs = 60_000;
/** Each link takes two ports. */
const manyPorts = '[Server]\nudp_start_port_range = 10000\nudp_end_port_range = 60000\n';

export async function benchWeb(say: (text: string) => void): Promise<Row[]> {
  const server = await startPatchbay(manyPorts);
  const client = new Client(server.url);
  const profile = await mkdtemp(join(tmpdir(), 'pb-bench-chromium-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.PATCHBAY_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
    viewport: { width: 1280, height: 800 },
  });
  try {
    const page = await browser.newPage();
    return [...(await canvas(page, { client, server, say })), ...(await captures(page, { client, server, say }))];
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
    await client.close();
    await server.stop();
  }
}

interface Place {
  readonly client: Client;
  readonly server: Running;
  readonly say: (text: string) => void;
}

async function canvas(page: Page, { client, server, say }: Place): Promise<Row[]> {
  const figures = [];
  for (const size of [big, small]) {
    say(`a project of ${size.nodes} nodes and ${size.links} links`);
    const address = `${server.url}/projects/${await makeProject(client, size)}`;
    const openMs: number[] = [];
    for (let time = 0; time < openings; time += 1) openMs.push(await opening(page, address, size.links));
    await page.keyboard.press('f');
    figures.push({
      openMs: median(openMs),
      pan: await panning(page),
      zoom: await framesDuring(page, (turn) => page.mouse.wheel(0, turn % 40 < 20 ? -30 : 30), {
        before: async () => {
          await page.mouse.move(640, 400);
          await page.keyboard.down('Control');
        },
        after: () => page.keyboard.up('Control'),
      }),
      drag: await dragging(page),
      dragAll: await dragging(page, { all: true }),
      panNear: await page.keyboard.press('0').then(() => panning(page)),
    });
  }
  const [ours, baseline] = figures;
  if (!ours || !baseline) return [];
  const against = `${small.nodes} nodes and ${small.links} links`;
  const what = (text: string) => `${big.nodes} nodes, ${big.links} links: ${text}`;
  return [
    { what: what('opening until all links are drawn, ms'), ours: ours.openMs, baseline: baseline.openMs, against },
    { what: what('frames/s while panning'), ours: ours.pan, baseline: baseline.pan, against },
    { what: what('frames/s while panning at 100 %'), ours: ours.panNear, baseline: baseline.panNear, against },
    { what: what('frames/s while zooming'), ours: ours.zoom, baseline: baseline.zoom, against },
    { what: what(`frames/s while dragging ${dragged} nodes`), ours: ours.drag, baseline: baseline.drag, against },
    { what: what('frames/s while dragging all'), ours: ours.dragAll, baseline: baseline.dragAll, against },
  ];
}

/** Pixels of the window. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

async function panning(page: Page): Promise<number> {
  return framesDuring(page, (turn) => page.mouse.move(640 + 200 * Math.sin(turn / 12), 400 + 90 * Math.cos(turn / 9)), {
    before: async () => {
      await page.mouse.move(640, 400);
      await page.mouse.down({ button: 'middle' });
    },
    after: () => page.mouse.up({ button: 'middle' }),
  });
}

/** Frames per second while the first nodes are dragged, or all if there are less or `all` is wanted. */
async function dragging(page: Page, { all = false } = {}): Promise<number> {
  await page.keyboard.press('f');
  await page.keyboard.press('Escape');
  const places = (await page.evaluate(placesOfNodes)) as Box[];
  // Nodes in the first rows of the grid: a box around those of a square of ten by ten.
  const [first, ...others] = places;
  const corner = others.findLast((_, place) => (place + 1) % columns < square && place + 1 < columns * square);
  if (!first || !corner) throw new Error('no nodes are drawn');
  if (all) await page.keyboard.press('Control+a');
  else {
    await page.mouse.move(first.left - 4, first.top - 4);
    await page.mouse.down();
    await page.mouse.move(corner.right + 4, corner.bottom + 4, { steps: 4 });
    await page.mouse.up();
  }
  const [left, top] = [first.left + first.width / 2, first.top + first.height / 2];
  return framesDuring(page, (turn) => page.mouse.move(left + 60 + 40 * Math.sin(turn / 10), top + 60 + 30 * Math.cos(turn / 8)), {
    before: async () => {
      await page.mouse.move(left, top);
      await page.mouse.down();
    },
    after: async () => {
      await page.keyboard.press('Escape');
      await page.mouse.up();
    },
  });
}

async function opening(page: Page, address: string, links: number): Promise<number> {
  await page.goto('about:blank');
  const began = performance.now();
  await page.goto(address);
  const last = page
    .locator('.link')
    .nth(links - 1)
    .or(page.locator('.crowd .link'));
  await last.first().waitFor({ state: 'attached', timeout: limitMs });
  return performance.now() - began;
}

interface Around {
  readonly before?: () => Promise<void>;
  readonly after?: () => Promise<void>;
}

/** Runs in the page: boxes of nodes in the window, whether each has elements or all are paths. */
const placesOfNodes = `(() => {
  const crowd = document.querySelector('.crowd');
  if (!crowd) return [...document.querySelectorAll('.node .symbol')].map((one) => one.getBoundingClientRect().toJSON());
  const matrix = crowd.getScreenCTM();
  const squares = [...crowd.querySelectorAll('.dot')].flatMap((path) => [...path.getAttribute('d').matchAll(/M(\\S+) (\\S+?)h(\\d+)v(\\d+)/g)]);
  return squares.map(([, x, y, width, height]) => {
    const from = new DOMPoint(x, y).matrixTransform(matrix);
    const to = new DOMPoint(+x + +width, +y + +height).matrixTransform(matrix);
    return new DOMRect(from.x, from.y, to.x - from.x, to.y - from.y).toJSON();
  });
})()`;

/** Runs in the page. An earlier count ends. */
const countFrames = `{
  const counter = { frames: 0 };
  window.counter = counter;
  requestAnimationFrame(function next() {
    counter.frames += 1;
    if (window.counter === counter) requestAnimationFrame(next);
  });
}`;

/** Frames per second that the page draws while an action repeats. */
async function framesDuring(page: Page, act: (turn: number) => Promise<void>, { before, after }: Around): Promise<number> {
  await before?.();
  await page.evaluate(countFrames);
  const frames = () => page.evaluate('window.counter.frames') as Promise<number>;
  const [first, began] = [await frames(), performance.now()];
  for (let turn = 0; performance.now() - began < movingMs; turn += 1) await act(turn);
  const rate = ((await frames()) - first) / ((performance.now() - began) / 1000);
  await after?.();
  return rate;
}

/** The capture appends to an existing file, which saves waiting for twenty thousand pings. */
async function captures(page: Page, { client, server, say }: Place): Promise<Row[]> {
  const rates: number[] = [];
  for (const count of [packets.many, packets.few]) {
    say(`scrolling through ${count} packets`);
    rates.push(await scrolling(page, { client, server, say }, count));
  }
  const [ours = Number.NaN, baseline = Number.NaN] = rates;
  const what = `frames/s while scrolling through ${packets.many} captured packets`;
  return [{ what, ours, baseline, against: `${packets.few} packets` }];
}

async function scrolling(page: Page, { client, server }: Place, count: number): Promise<number> {
  const id = await makeProject(client, { nodes: 2, links: 1 }, 'vpcs');
  const path = `/v2/projects/${id}`;
  const [project, links] = await Promise.all([
    read<{ path: string }>(server, path),
    read<{ link_id: string }[]>(server, `${path}/links`),
  ]);
  const folder = join(project.path, 'project-files/captures');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'long.pcap'), pcap(count));
  await request(client, { method: 'POST', path: `${path}/nodes/start` });
  const body = { capture_file_name: 'long.pcap', append: true };
  await request(client, { method: 'POST', path: `${path}/links/${links[0]?.link_id}/start_capture`, body });
  await page.goto(`${server.url}/projects/${id}`);
  await page.locator('.link .hit').click({ force: true });
  await page.keyboard.press('w');
  // The nodes may have sent frames since their start.
  await page.getByText(new RegExp(`Live: ${count / 10}\\d packets`)).waitFor({ timeout: limitMs });
  const rate = await framesDuring(page, (turn) => page.mouse.wheel(0, turn % 60 < 40 ? 700 : -900), {
    before: async () => {
      await page.locator('.packet-table').hover();
      await page.locator('.packet-table').evaluate((table) => table.scrollTo(0, 0));
    },
  });
  await request(client, { method: 'POST', path: `${path}/nodes/stop` });
  return rate;
}

const read = async <T>(server: Running, path: string): Promise<T> => (await (await fetch(server.url + path)).json()) as T;

/** Nodes on a grid, each linked to the next, then to one further on. */
async function makeProject(client: Client, size: { nodes: number; links: number }, type = 'qemu'): Promise<string> {
  const post = async <T>(path: string, body: object) => (await request(client, { method: 'POST', path, body })) as T;
  const name = `${type} ${size.nodes}-${performance.now()}`;
  const { project_id } = await post<{ project_id: string }>('/v2/projects', { name, auto_close: false });
  const path = `/v2/projects/${project_id}`;
  const nodes: string[] = [];
  for (let count = 0; count < size.nodes; count += 1) {
    const place = { x: (count % columns) * spacingPx, y: Math.floor(count / columns) * spacingPx };
    const properties = type === 'qemu' ? { adapters, ram: 64 } : {};
    const node = { name: `N${count + 1}`, node_type: type, compute_id: 'local', properties, ...place };
    nodes.push((await post<{ node_id: string }>(`${path}/nodes`, node)).node_id);
  }
  for (let link = 0; link < size.links; link += 1) {
    const [from, to] =
      link < size.nodes - 1 ? [link, link + 1] : [link - size.nodes + 1, (link - size.nodes + 1 + stride) % size.nodes];
    const adapter = link < size.nodes - 1 ? [0, 1] : [2, 3];
    const ends = [nodes[from], nodes[to]].map((node_id, end) => ({
      node_id,
      adapter_number: type === 'qemu' ? (adapter[end] ?? 0) : 0,
      port_number: 0,
    }));
    await post(`${path}/links`, { nodes: ends });
  }
  return project_id;
}

/** UDP frames, a millisecond apart. */
function pcap(count: number): Buffer {
  const frameBytes = 106;
  const header = fileHeader({ linkType: 1, nanoseconds: false });
  const file = Buffer.alloc(header.length + count * (16 + frameBytes));
  header.copy(file);
  for (let number = 0, at = header.length; number < count; number += 1, at += 16 + frameBytes) {
    file.writeUInt32LE(1_700_000_000 + Math.floor(number / 1000), at);
    file.writeUInt32LE((number % 1000) * 1000, at + 4);
    file.writeUInt32LE(frameBytes, at + 8);
    file.writeUInt32LE(frameBytes, at + 12);
    const ip = at + 16 + 14;
    file.writeUInt16BE(0x0800, ip - 2);
    file.writeUInt32BE(0x4500_005c, ip);
    file.writeUInt32BE(0x4011_0000, ip + 8);
    file.writeUInt32BE(0x0a00_0001, ip + 12);
    file.writeUInt32BE(0x0a00_0002, ip + 16);
    file.writeUInt32BE(0xc000_0007, ip + 20);
    file.writeUInt32BE(0x0048_0000, ip + 24);
  }
  return file;
}
