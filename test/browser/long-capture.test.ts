/** A capture of twenty thousand packets: only visible rows exist, and it can be scrolled, filtered and navigated by keys. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { type Packet, PcapParser, pcapFile } from '../../web/capture/pcap.ts';
import { openTab } from '../support/browser.ts';
import { command, openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { selectLink } from './page-parts.ts';

const count = 20_000;
const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const pc = (number: number, x: number) =>
  createNode(client, project, 'vpcs', { x, properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
const nodes = [await pc(1, -200), await pc(2, 200)];
const [one, other] = nodes;
assert.ok(one && other);
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });

// The capture appends to an existing file of its name.
const { path } = await client.get<{ path: string }>(project.path);
await mkdir(join(path, 'project-files/captures'), { recursive: true });
await writeFile(join(path, 'project-files/captures/long.pcap'), await longFile());
for (const { node_id } of nodes) await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
await client.post(`${project.path}/links/${link_id}/start_capture`, { capture_file_name: 'long.pcap', append: true });

const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
const table = page.locator('.packet-table');
const rows = table.locator('tbody tr');
const scrollTo = (part: number) => table.evaluate((element, to) => element.scrollTo(0, element.scrollHeight * to), part);

describe('a long capture', () => {
  it('is read completely, and only few of its rows exist', async () => {
    await selectLink(page);
    await page.keyboard.press('w');
    // Real frames of the two nodes may be among them.
    await page.getByText(/Live: 20,?0\d\d packets/).waitFor();
    assert.equal(
      await page
        .getByRole('grid', { name: 'Packets' })
        .getAttribute('aria-rowcount')
        .then((text) => Number(text) > count),
      true,
    );
    assert.ok((await rows.count()) < 100);
  });

  it('can be scrolled to any row', async () => {
    await scrollTo(0);
    await page.locator('[data-packet="1"]').waitFor();
    await scrollTo(0.5);
    await page.locator('[data-packet^="100"]').first().waitFor();
    assert.ok((await rows.count()) < 100);
  });

  it('is navigated with keys', async () => {
    await scrollTo(0);
    await page.getByRole('grid', { name: 'Packets' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('region', { name: 'Packet 1', exact: true }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('region', { name: /^Packet 20\d\d\d$/ }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Home');
    await page.getByRole('region', { name: 'Packet 1', exact: true }).waitFor();
  });

  it('is filtered', async () => {
    await page.getByRole('searchbox', { name: 'Display filter' }).fill('tcp');
    // Nine of every 45 packets of the file match.
    await page.getByText(/4,00\d of 20,?0\d\d packets/).waitFor();
    await page.getByRole('searchbox', { name: 'Display filter' }).fill('');
  });

  it('keeps the selected packet in sight while packets arrive', async () => {
    const counts = page.getByText(/Live: 20,?\d\d\d packets/);
    const kept = async () => Number(/20,?\d\d\d/.exec((await counts.textContent()) ?? '')?.[0].replace(',', ''));
    const grid = page.getByRole('grid', { name: 'Packets' });
    const chosen = page.locator('.packet-table [aria-selected="true"]');
    const isInSight = () =>
      chosen.evaluate((row) => {
        const [box, area] = [row.getBoundingClientRect(), row.closest('.packet-table')?.getBoundingClientRect()];
        return area !== undefined && box.top >= area.top && box.bottom <= area.bottom + 1;
      });
    // The table follows new packets when it is at its end.
    await grid.focus();
    await page.keyboard.press('End');
    await waitFor(isInSight, { what: 'the last packet in sight', limitMs: 60_000 });
    const number = await chosen.getAttribute('data-packet');
    const before = await kept();
    const telnet = await openTelnet(one.console as number);
    await command(telnet, 'ping 10.0.0.2 -c 100 -i 10', /icmp_seq=1 /);
    // More than a screenful.
    await waitFor(async () => (await kept()) > before + 40, { what: '40 more packets', limitMs: 60_000 });
    telnet.socket.destroy();
    assert.equal(await chosen.getAttribute('data-packet'), number);
    await waitFor(isInSight, { what: 'the selected packet in sight' });
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});

/** The packets of the decoders' tests, repeated. */
async function longFile(): Promise<Uint8Array> {
  const parser = new PcapParser();
  parser.push(new Uint8Array(await readFile(join(import.meta.dirname, '../../web/capture/traffic.pcap'))));
  const packets: Packet[] = [];
  for (let packet = parser.next(); packet; packet = parser.next()) packets.push(packet);
  const many = Array.from({ length: count }, (_, place) => packets[place % packets.length] ?? []).flat();
  return new Uint8Array(await pcapFile(many, 1).arrayBuffer());
}
