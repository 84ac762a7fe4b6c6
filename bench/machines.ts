/**
 * TCP between two virtual machines with virtio, in turn: over a plain link of a server (`patchbay`), over one that the fabric carries
 * (`fabric`), between two QEMU on TAP interfaces in a bridge (`taps`), and between two joined by a socket (`bare`).
 * `node bench/machines.ts [ROUNDS]`; takes some minutes without hardware acceleration. Root only; needs iperf3.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Console } from '../demo/console.ts';
import { addPrograms } from '../demo/guest/add-programs.ts';
import { ensureGuest } from '../demo/guest/guest.ts';
import { machineProperties } from '../demo/topology.ts';
import { runTool } from '../src/process/tool.ts';
import type { LinkStats } from '../src/schema/link-stats.ts';
import { noContainerEnds } from '../test/support/container-end.ts';
import { RawClient } from '../test/support/raw-http.ts';
import { startServer } from '../test/support/server.ts';
import { createNode, createProject, end } from '../test/support/with-server.ts';
import { median } from './fabric/figures.ts';
import { Machine, measure } from './fabric/guests.ts';

const rounds = Number(process.argv[2] ?? 5);
const bootMs = 600_000;
const [near, far] = ['10.99.0.1/24', '10.99.0.2/24'] as const;
const names = { taps: ['pbxa', 'pbxb'], bridge: 'pbxbr' } as const;

const missing = await noContainerEnds();
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
const pairs = {
  patchbay: await ofServer('plain', {}),
  fabric: await ofServer('fabric', { kernel_path: false }),
  taps: await onTaps(),
  bare: await onSocket(),
};
for (const [, two] of Object.values(pairs)) await two.console.run('iperf3 -s -D');
const figures: Record<keyof typeof pairs, number[]> = { patchbay: [], fabric: [], taps: [], bare: [] };
for (let round = 0; round < rounds; round += 1) {
  for (const way of Object.keys(figures) as (keyof typeof pairs)[]) figures[way].push((await measure(pairs[way][0], [])).mbits);
  console.error(
    `round ${round + 1}: ${JSON.stringify(Object.fromEntries(Object.entries(figures).map(([way, all]) => [way, all.at(-1)])))}`,
  );
}
const ratio = (way: keyof typeof pairs) => median(figures[way].map((mbits, round) => mbits / (figures.taps[round] as number)));
console.log('| way | Mbit/s, median | of taps in the same round, median |\n|---|---|---|');
for (const way of Object.keys(figures) as (keyof typeof pairs)[]) {
  console.log(`| ${way} | ${Math.round(median(figures[way]))} | ${ratio(way).toFixed(2)} |`);
}

type Pair = readonly [Pick<Machine, 'console'>, Pick<Machine, 'console'>];

async function startedServer(): Promise<RawClient> {
  const server = await startServer({ config: { Qemu: { acceleration: 'off' } } });
  made.defer(() => server.stop());
  const client = new RawClient(server.url);
  made.defer(async () => void (await client.close()));
  return client;
}

async function ofServer(what: string, more: object): Promise<Pair> {
  const client = server;
  const project = await createProject(client, { auto_close: false });
  const make = (name: string, address: string) =>
    createNode(client, project, 'qemu', {
      name,
      properties: { ...machineProperties(guest, name, [address]), ram: 192, process_priority: 'normal', ...more },
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
  const pair = [await open(nodes[0].console), await open(nodes[1].console)] as const;
  const { carrier } = await client.get<LinkStats>(`${project.path}/links/${link_id}/stats`);
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
  return [await ready('c', near, netdev(taps[0])), await ready('d', far, netdev(taps[1]))];
}

async function onSocket(): Promise<Pair> {
  const socket = (server: 'on' | 'off') => `stream,id=n,server=${server},addr.type=unix,addr.path=${folder}/s`;
  return [await ready('e', near, socket('on')), await ready('f', far, socket('off'))];
}
