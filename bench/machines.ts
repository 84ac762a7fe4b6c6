/**
 * TCP and pings between two virtual machines with virtio, in turn: over a plain link of a server (`patchbay`), the same link with filters
 * or a capture (`delayed`, `lossy`, `captured`), one without offloads (`portable`, as models other than virtio have it), one that the
 * fabric carries (`fabric`), between two QEMU on TAP interfaces in a bridge (`taps`), and between two joined by a socket (`bare`).
 * `node bench/machines.ts [ROUNDS] [--user]`; takes some minutes without hardware acceleration. Root only; needs iperf3. With `--user` an
 * ordinary user starts the server, as on a host where `/dev/net/tun` is open to all.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Console } from '../demo/console.ts';
import { addPrograms } from '../demo/guest/add-programs.ts';
import { ensureGuest } from '../demo/guest/guest.ts';
import { machineProperties } from '../demo/topology.ts';
import { runTool } from '../src/process/tool.ts';
import type { LinkStats } from '../src/schema/link-stats.ts';
import { noContainerEnds } from '../test/support/container-end.ts';
import { noOrdinaryUser, userServer } from '../test/support/ordinary-user.ts';
import { RawClient } from '../test/support/raw-http.ts';
import { startServer } from '../test/support/server.ts';
import { createNode, createProject, end } from '../test/support/with-server.ts';
import { median, quantile } from './fabric/figures.ts';
import { Machine, measure } from './fabric/guests.ts';

const isUser = process.argv.includes('--user');
const rounds = Number(process.argv.slice(2).find((word) => !word.startsWith('-')) ?? 5);
const bootMs = 600_000;
const [near, far] = ['10.99.0.1/24', '10.99.0.2/24'] as const;
const names = { taps: ['pbxa', 'pbxb'], bridge: 'pbxbr' } as const;

const missing = (await noContainerEnds()) ?? (isUser ? await noOrdinaryUser() : undefined);
if (missing !== undefined) {
  console.error(`Links of machines cannot be measured: ${missing}.`);
  process.exit(2);
}

async function ip(...commands: readonly string[]): Promise<void> {
  const { code, reason } = await runTool('ip', ['-batch', '-'], { timeoutMs: 10_000, input: `${commands.join('\n')}\n` });
  if (code !== 0) throw new Error(`ip: ${reason}`);
}

await using made = new AsyncDisposableStack();
const folder = await mkdtemp(`${tmpdir()}/machines-bench-`);
made.defer(() => rm(folder, { recursive: true }));
const guest = await addPrograms(await ensureGuest((line) => console.error(line)), ['iperf3'], `${folder}/initrd`);

const server = await startedServer();
const plain = await ofServer('plain', {});
const pairs = {
  patchbay: plain,
  fabric: await ofServer('fabric', { kernel_path: false }),
  taps: await onTaps(),
  portable: await ofServer('portable', { offload: 'portable' }),
  bare: await onSocket(),
};
type Way = keyof typeof pairs;

/** Ways over the plain link while it does something, each with what it is compared with. */
const changed: Readonly<Record<string, (measure: () => Promise<void>) => Promise<void>>> = {
  delayed: (work) => whileFiltered({ delay: [5] }, work),
  lossy: (work) => whileFiltered({ delay: [10], packet_loss: [0.1] }, work),
  captured: whileCaptured,
};
const reference = (way: string): Way => (way === 'portable' ? 'bare' : 'taps');

for (const { far } of Object.values(pairs)) await far.console.run('iperf3 -s -D');
const figures = new Map<string, number[]>();
const note = (way: string, figure: number) => void figures.set(way, [...(figures.get(way) ?? []), figure]);
const speed = async ({ near }: Pair) => (await measure(near, [])).mbits;
const times = { patchbay: [] as number[], taps: [] as number[] };
for (let round = 0; round < rounds; round += 1) {
  for (const [way, pair] of Object.entries(pairs)) note(way, await speed(pair));
  for (const [way, during] of Object.entries(changed)) await during(async () => note(way, await speed(plain)));
  for (const way of ['patchbay', 'taps'] as const) times[way].push(...(await pings(pairs[way], Math.ceil(2000 / rounds))));
  console.error(`round ${round + 1}: ${JSON.stringify(Object.fromEntries([...figures].map(([way, all]) => [way, all.at(-1)])))}`);
}

console.log('| way | Mbit/s, median | compared with | ratio in the same round, median | 95 % interval |\n|---|---|---|---|---|');
for (const [way, all] of figures) {
  const of = figures.get(reference(way)) as number[];
  const ratios = all.map((mbits, round) => mbits / (of[round] as number));
  const [low, high] = medianInterval(ratios).map((ratio) => ratio.toFixed(2));
  console.log(`| ${way} | ${Math.round(median(all))} | ${reference(way)} | ${median(ratios).toFixed(2)} | ${low} to ${high} |`);
}
console.log('\n| round trip of 64 bytes, ms | median | 99th percentile |\n|---|---|---|');
for (const [way, all] of Object.entries(times))
  console.log(`| ${way} | ${median(all).toFixed(2)} | ${quantile(all, 0.99).toFixed(2)} |`);

interface Pair {
  readonly near: Pick<Machine, 'console'>;
  readonly far: Pick<Machine, 'console'>;
  /** Path of the link, of a pair of the server. */
  readonly link?: string;
}

/** Bounds of the median by the order of the values (sign test): at most 5 % of samples have it outside. */
function medianInterval(values: readonly number[]): [low: number, high: number] {
  const sorted = values.toSorted((one, other) => one - other);
  let [skipped, chance, term] = [0, 0, 0.5 ** sorted.length];
  for (; chance + term <= 0.025; skipped += 1) {
    chance += term;
    term *= (sorted.length - skipped) / (skipped + 1);
  }
  const from = Math.max(0, skipped - 1);
  return [sorted[from] as number, sorted[sorted.length - 1 - from] as number];
}

async function whileFiltered(filters: object, work: () => Promise<void>): Promise<void> {
  await server.put(plain.link as string, { filters }, 201);
  await work();
  await server.put(plain.link as string, { filters: {} }, 201);
}

async function whileCaptured(work: () => Promise<void>): Promise<void> {
  await server.post(`${plain.link}/start_capture`, { capture_file_name: 'bench.pcap' });
  await work();
  const { captures = [] } = await server.get<LinkStats>(`${plain.link}/stats`);
  for (const { missed_frames, frames } of captures)
    if (missed_frames > 0) console.error(`missed in the capture: ${missed_frames} of ${frames}`);
  await server.post(`${plain.link}/stop_capture`);
}

/** Round trips, ms; each ping is sent when the one before was answered. */
async function pings({ near }: Pair, count: number): Promise<number[]> {
  const text = await near.console.run(`ping -A -s 56 -c ${count} 10.99.0.2`, bootMs);
  return [...text.matchAll(/time=([\d.]+) ms/g)].map(([, ms]) => Number(ms));
}

async function startedServer(): Promise<RawClient> {
  const options = isUser ? made.use(await userServer()) : {};
  const server = await startServer({ ...options, config: { Qemu: { acceleration: 'off' } } });
  made.defer(() => server.stop());
  const client = new RawClient(server.url);
  made.defer(async () => void (await client.close()));
  for (const [name, path] of Object.entries(guest))
    if (isUser) await client.send(`POST /v2/compute/qemu/images/bench-${name}`, { raw: await readFile(path) });
  return client;
}

async function ofServer(what: string, more: object): Promise<Pair> {
  const client = server;
  const project = await createProject(client, { auto_close: false });
  const make = (name: string, address: string) =>
    createNode(client, project, 'qemu', {
      name,
      properties: {
        ...machineProperties(isUser ? { kernel: 'bench-kernel', initrd: 'bench-initrd' } : guest, name, [address]),
        ram: 192,
        ...more,
      },
    });
  const nodes = [await make('a', near), await make('b', far)] as const;
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const open = async (port: unknown) => {
    const console = await Console.open(port as number);
    made.defer(() => console.close());
    await console.expect(/GUEST READY/, bootMs);
    return { console };
  };
  const link = `${project.path}/links/${link_id}`;
  const pair = { near: await open(nodes[0].console), far: await open(nodes[1].console), link };
  const { carrier } = await client.get<LinkStats>(`${link}/stats`);
  console.error(`${what}: carried by ${carrier}`);
  return pair;
}

async function ready(name: string, address: string, netdev: string): Promise<Machine> {
  const machine = await Machine.start({ name, address, netdev, guest });
  made.defer(() => machine.stop());
  await machine.ready();
  return machine;
}

async function onTaps(): Promise<Pair> {
  const { taps, bridge } = names;
  made.defer(() => ip(...[...taps, bridge].map((name) => `link delete dev ${name}`)));
  await ip(
    `link add ${bridge} type bridge stp_state 0`,
    `link set ${bridge} addrgenmode none up`,
    ...taps.flatMap((tap) => [`tuntap add dev ${tap} mode tap`, `link set ${tap} addrgenmode none master ${bridge} up`]),
  );
  const netdev = (tap: string) => `tap,id=n,ifname=${tap},script=no,downscript=no`;
  return { near: await ready('c', near, netdev(taps[0])), far: await ready('d', far, netdev(taps[1])) };
}

async function onSocket(): Promise<Pair> {
  const socket = (role: 'on' | 'off') => `stream,id=n,server=${role},addr.type=unix,addr.path=${folder}/s`;
  return { near: await ready('e', near, socket('on')), far: await ready('f', far, socket('off')) };
}
