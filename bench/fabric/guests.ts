/**
 * Two virtual machines with an iperf3 between them: over a link of the fabric, and over a bare QEMU socket between two other
 * machines of the same configuration. The guest is the demo's, with the host's iperf3 added.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { Console } from '../../demo/console.ts';
import { addPrograms } from '../../demo/guest/add-programs.ts';
import { ensureGuest, type Guest, guestCommandLine } from '../../demo/guest/guest.ts';
import type { FabricClient } from '../../src/fabric/client.ts';
import { cpuMicros } from './cpu.ts';
import { median } from './figures.ts';

const ramMiB = 192;
/** The two ways take turns, as a shared host is never the same for long. */
const rounds = 5;
const seconds = 3;
/** Payload of a segment of TCP. */
const segmentBytes = 1448;
/** Limit for a machine without hardware acceleration on a busy host. */
const startLimitMs = 600_000;
const server = '10.99.0.2';

export interface GuestFigures {
  readonly bare: PairFigures;
  readonly fabric: PairFigures;
  /** Frames that one read of the fabric brings; undefined without frames. */
  readonly framesPerRead: number;
}

export interface PairFigures {
  /** Counted by the receiver. */
  readonly mbits: number;
  /** Processor time of both machines, and of the fabric if it carries the frames. */
  readonly microsPerSegment: number;
}

/** @throws Error when a prerequisite is missing, with its name. */
export async function guestToGuest(client: FabricClient, folder: string): Promise<GuestFigures> {
  const guest = await addPrograms(await ensureGuest((line) => console.error(line)), ['iperf3'], `${folder}/initrd`);
  const machines: Machine[] = [];
  try {
    const start = async (name: string, address: string, netdev: string) => {
      const machine = await Machine.start({ name, address, netdev, guest });
      machines.push(machine);
      return machine;
    };
    const path = (name: string) => `${folder}/vm-${name}`;
    const listening = (name: string) => `stream,id=n,server=on,addr.type=unix,addr.path=${path(name)}`;
    const fabricPair = [
      await start('a', '10.99.0.1/24', listening('a')),
      await start('b', `${server}/24`, listening('b')),
    ] as const;
    const [a, b] = ['a', 'b'].map((name) => ({ type: 'stream' as const, path: path(name) }));
    if (!a || !b) throw new Error('a link has two ends');
    await client.apply([{ id: 'guests', a, b, filters: {}, suspend: false }]);
    const bareEnd = await start('c', '10.99.0.1/24', listening('c'));
    const joined = `stream,id=n,server=off,addr.type=unix,addr.path=${path('c')}`;
    const barePair = [bareEnd, await start('d', `${server}/24`, joined)] as const;
    for (const machine of machines) await machine.ready();
    for (const [, far] of [fabricPair, barePair]) await far.console.run('iperf3 -s -D');
    const found = { fabric: [] as PairFigures[], bare: [] as PairFigures[] };
    const [readsBefore, framesBefore] = [await readCalls(client.pid), await framesOf(client)];
    for (let round = 0; round < rounds; round += 1) {
      found.bare.push(await measure(barePair[0], pidsOf(barePair)));
      found.fabric.push(await measure(fabricPair[0], [...pidsOf(fabricPair), client.pid]));
    }
    const reads = (await readCalls(client.pid)) - readsBefore;
    const framesPerRead = ((await framesOf(client)) - framesBefore) / reads;
    return { bare: medianOf(found.bare), fabric: medianOf(found.fabric), framesPerRead };
  } finally {
    await Promise.all(machines.map((machine) => machine.stop()));
    await client.remove(['guests']);
  }
}

function pidsOf(machines: readonly Machine[]): number[] {
  return machines.map(({ pid }) => pid);
}

function medianOf(rounds: readonly PairFigures[]): PairFigures {
  return {
    mbits: median(rounds.map(({ mbits }) => mbits)),
    microsPerSegment: median(rounds.map(({ microsPerSegment }) => microsPerSegment)),
  };
}

/** System calls that read, so far: sockets, and a few of the event loop itself. */
async function readCalls(pid: number): Promise<number> {
  return Number(/syscr: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

async function framesOf(client: FabricClient): Promise<number> {
  const [link] = await client.stats(['guests']);
  return (link?.ab.received ?? 0) + (link?.ba.received ?? 0);
}

/** `pids`: of all that take part. `to`: the address of the receiver, and more words for iperf3. */
export async function measure(near: Pick<Machine, 'console'>, pids: readonly number[], to = server): Promise<PairFigures> {
  const used = async () => (await Promise.all(pids.map(cpuMicros))).reduce((sum, each) => sum + each, 0);
  const before = await used();
  const text = await near.console.run(`iperf3 -c ${to} -t ${seconds} -f m`, seconds * 1000 + startLimitMs);
  const speed = /([\d.]+) Mbits\/sec\s+receiver/.exec(text)?.[1];
  if (speed === undefined) throw new Error(`iperf3 reported no speed: ${text.slice(-300)}`);
  const mbits = Number(speed);
  return { mbits, microsPerSegment: ((await used()) - before) / ((mbits * 1e6 * seconds) / 8 / segmentBytes) };
}

/** A machine of QEMU alone, with one virtio card. */
export class Machine {
  readonly console: Console;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, console: Console) {
    this.#process = child;
    this.console = console;
  }

  static async start(plan: { name: string; address: string; netdev: string; guest: Guest }): Promise<Machine> {
    const { name, address, netdev, guest } = plan;
    const port = await freePort();
    const child = spawn(
      'qemu-system-x86_64',
      [
        ...['-machine', 'pc,accel=tcg', '-m', `${ramMiB}`, '-nodefaults', '-nographic', '-no-reboot'],
        ...['-kernel', guest.kernel, '-initrd', guest.initrd, '-append', guestCommandLine(name, [address])],
        ...['-serial', `telnet:127.0.0.1:${port},server=on,wait=off`],
        // Two with one address would not find each other over a bridge.
        ...[
          '-netdev',
          netdev,
          '-device',
          `virtio-net-pci,netdev=n,romfile=,mac=52:54:00:00:00:${Buffer.from(name).toString('hex', 0, 1)}`,
        ],
      ],
      // A session of its own, as a server's machine has: Linux shares the processors between sessions first (autogroup), and on a busy host two
      // machines of one session wait less for each other than two of two.
      { stdio: ['ignore', 'ignore', 'inherit'], detached: true },
    );
    await once(child, 'spawn');
    return new Machine(child, await connected(port));
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  async ready(): Promise<void> {
    await this.console.expect(/GUEST READY/, startLimitMs);
  }

  async stop(): Promise<void> {
    this.console.close();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}

/** QEMU listens shortly after its start. */
async function connected(port: number): Promise<Console> {
  const limit = performance.now() + startLimitMs;
  for (;;) {
    try {
      return await Console.open(port);
    } catch (error) {
      if (performance.now() > limit) throw error;
      await new Promise((settle) => setTimeout(settle, 50));
    }
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
