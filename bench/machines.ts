/**
 * Links of virtual machines, in parts (all, or those named): `pairs`, TCP and pings between two machines with virtio, in turn: over a plain
 * link of a server (`patchbay`), the same link with filters or a capture (`delayed`, `lossy`, `captured`), one without offloads
 * (`portable`, as models other than virtio have it), one that the fabric carries (`fabric`), between two QEMU on TAP interfaces in a bridge
 * (`taps`), and between two joined by a socket (`bare`); `paths`, `idle`, `starts` and `warm`: see the files that they are imported from.
 * `node bench/machines.ts [ROUNDS] [PART …] [--user] [--before FOLDER]`; takes some minutes without hardware acceleration. Root only; needs
 * iperf3. With `--user` an ordinary user starts the server, as on a host where `/dev/net/tun` is open to all. `FOLDER`: an earlier checkout,
 * with which `warm` takes turns.
 */
import { parseArgs } from 'node:util';
import type { LinkStats } from '../src/schema/link-stats.ts';
import { noContainerEnds } from '../test/support/container-end.ts';
import { noOrdinaryUser } from '../test/support/ordinary-user.ts';
import { median, quantile, Turns } from './fabric/figures.ts';
import { measure } from './fabric/guests.ts';
import { measureIdle } from './fabric/machine-idle.ts';
import { measurePaths } from './fabric/machine-paths.ts';
import { bootMs, far, MachineSite, near, type Speaker } from './fabric/machine-site.ts';
import { measureStarts } from './fabric/machine-starts.ts';
import { warmInTurn } from './warm.ts';

/** Sets the windows that Linux gives a machine of 1 GiB: those of smaller ones are shorter than what a link of 10 ms and 1 Gbit/s holds. */
const largeWindows = [
  'echo 4096 131072 6291456 > /proc/sys/net/ipv4/tcp_rmem',
  'echo 4096 16384 4194304 > /proc/sys/net/ipv4/tcp_wmem',
].join('; ');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { user: { type: 'boolean', default: false }, before: { type: 'string' } },
});
const isUser = values.user;
const rounds = Number(positionals.find((word) => /^\d+$/.test(word)) ?? 5);
const parts: Readonly<Record<string, () => Promise<void>>> = {
  pairs: measurePairs,
  paths: () => measurePaths({ isUser, rounds }),
  idle: () => measureIdle({ isUser, rounds }),
  starts: () => measureStarts({ isUser, rounds }),
  warm: () => warmInTurn(rounds, values.before),
};
const named = positionals.filter((word) => !/^\d+$/.test(word));

const missing = (await noContainerEnds()) ?? (isUser ? await noOrdinaryUser() : undefined);
if (missing !== undefined || named.some((part) => !(part in parts))) {
  console.error(missing === undefined ? `Parts: ${Object.keys(parts)}` : `Links of machines cannot be measured: ${missing}.`);
  process.exit(2);
}
for (const part of named.length > 0 ? named : Object.keys(parts)) {
  console.log(`\n### ${part}${isUser ? ', as an ordinary user' : ''}\n`);
  await parts[part]?.();
}

interface Pair {
  readonly near: Speaker;
  readonly far: Speaker;
  /** Path of the link, of a pair of the server. */
  readonly link?: string;
}

async function measurePairs(): Promise<void> {
  await using site = await MachineSite.open({ isUser });
  const plain = await ofServer(site, 'plain', {});
  const pairs: Readonly<Record<string, Pair>> = {
    patchbay: plain,
    fabric: await ofServer(site, 'fabric', { kernel_path: false }),
    taps: await site.bridgedPair('pbx'),
    portable: await ofServer(site, 'portable', { offload: 'portable' }),
    bare: await onSocket(site),
  };
  const turns = new Turns();
  /** Ways over the plain link while it does something. */
  const changed: Readonly<Record<string, (work: () => Promise<void>, seed: number) => Promise<void>>> = {
    delayed: (work) => whileFiltered(site, plain, { delay: [5] }, work),
    // A link without a seed makes the same choices whenever its filters are set.
    lossy: (work, seed) => whileFiltered(site, plain, { delay: [10], packet_loss: [0.1], seed: [seed] }, work),
    captured: (work) => whileCaptured(site, plain, work),
  };
  for (const { near, far } of Object.values(pairs)) {
    for (const { console } of [near, far]) await console.run(largeWindows);
    await far.console.run('iperf3 -s -D');
  }
  const speed = async ({ near }: Pair) => (await measure(near, [])).mbits;
  const trips = { median: new Turns(), p99: new Turns() };
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, pair] of Object.entries(pairs)) turns.note(way, await speed(pair));
    for (const [way, during] of Object.entries(changed)) await during(async () => turns.note(way, await speed(plain)), round + 1);
    for (const way of ['patchbay', 'taps']) {
      const times = await pings(pairs[way] as Pair, Math.ceil(2000 / rounds));
      trips.median.note(way, median(times));
      trips.p99.note(way, quantile(times, 0.99));
    }
    console.error(`round ${round + 1}: ${turns.last}`);
  }
  console.log(turns.table('Mbit/s', (way) => (way === 'portable' ? 'bare' : 'taps')));
  for (const [what, each] of Object.entries(trips))
    console.log(`\n${each.table(`${what} of round trips of 64 bytes, ms`, () => 'taps', 2)}`);
}

async function whileFiltered({ client }: MachineSite, { link }: Pair, filters: object, work: () => Promise<void>): Promise<void> {
  await client.put(link as string, { filters }, 201);
  await work();
  await client.put(link as string, { filters: {} }, 201);
}

async function whileCaptured({ client }: MachineSite, { link }: Pair, work: () => Promise<void>): Promise<void> {
  await client.post(`${link}/start_capture`, { capture_file_name: 'bench.pcap' });
  await work();
  const { captures = [] } = await client.get<LinkStats>(`${link}/stats`);
  for (const { missed_frames, frames } of captures)
    if (missed_frames > 0) console.error(`missed in the capture: ${missed_frames} of ${frames}`);
  await client.post(`${link}/stop_capture`);
}

/** Round trips, ms; each ping is sent when the one before was answered. */
async function pings({ near }: Pair, count: number): Promise<number[]> {
  const text = await near.console.run(`ping -A -s 56 -c ${count} 10.99.0.2`, bootMs);
  return [...text.matchAll(/time=([\d.]+) ms/g)].map(([, ms]) => Number(ms));
}

async function ofServer(site: MachineSite, what: string, more: object): Promise<Pair> {
  const project = await site.project();
  const nodes = [await site.machine(project, 'a', near, more), await site.machine(project, 'b', far, more)] as const;
  const link = await site.link(project, ...nodes);
  await site.start(project);
  const pair = { near: await site.speaker(nodes[0]), far: await site.speaker(nodes[1]), link };
  console.error(`${what}: carried by ${await site.carrier(link)}`);
  return pair;
}

async function onSocket(site: MachineSite): Promise<Pair> {
  const socket = (role: 'on' | 'off') => `stream,id=n,server=${role},addr.type=unix,addr.path=${site.folder}/s`;
  return { near: await site.bare('e', near, socket('on')), far: await site.bare('f', far, socket('off')) };
}
