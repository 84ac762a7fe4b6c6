/** A link across two fabrics on this machine: over datagrams, and over a stream. */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FabricClient } from '../../src/fabric/client.ts';
import type { LinkSpec } from '../../src/fabric/protocol.ts';
import { connectedFabric } from '../../test/support/with-fabric.ts';
import { Ends } from './ends.ts';
import { median } from './figures.ts';
import { flood, roundTrips, type Throughput } from './loads.ts';

const rounds = 3;
const ms = 1000;
const frameSizes = [100, 1500, 9000];

/** Figures of a mode by frame size: frames received per second and the CPU of both fabrics; round trip in µs. */
export interface Crossing {
  readonly bySize: readonly ({ readonly frameBytes: number } & Throughput)[];
  readonly roundTripMicros: number;
}

/** Alternating; the median of the rounds counts. `near` is the first of the fabrics. */
export async function crossings(near: FabricClient, folder: string): Promise<Record<'datagrams' | 'stream', Crossing>> {
  const far = await connectedFabric({ socketPath: `${folder}/far`, logPath: `${folder}/far-log` });
  const all = { datagrams: new Ends(folder, 'datagrams'), stream: new Ends(folder, 'stream') };
  try {
    for (const [name, ends] of Object.entries(all)) await joinAcross([near, far], { name, ends, stream: name === 'stream' });
    const pids = [near.pid, far.pid];
    const runs = { datagrams: [] as Throughput[][], stream: [] as Throughput[][] };
    const trips = { datagrams: [] as number[], stream: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const name of ['datagrams', 'stream'] as const) {
        for (const [size, frameBytes] of frameSizes.entries()) {
          runs[name][size] ??= [];
          runs[name][size].push(await flood(all[name], pids, { frameBytes, ms }));
        }
        trips[name].push(median(await roundTrips(all[name], { frameBytes: 100, count: 2000 })));
      }
    }
    const figuresOf = (name: 'datagrams' | 'stream'): Crossing => ({
      bySize: frameSizes.map((frameBytes, size) => {
        const figure = (key: keyof Throughput) => median((runs[name][size] ?? []).map((run) => run[key]));
        return { frameBytes, framesPerSecond: figure('framesPerSecond'), cpuMicrosPerFrame: figure('cpuMicrosPerFrame') };
      }),
      roundTripMicros: median(trips[name]),
    });
    return { datagrams: figuresOf('datagrams'), stream: figuresOf('stream') };
  } finally {
    for (const ends of Object.values(all)) ends.close();
    await far.quit();
  }
}

async function joinAcross(
  fabrics: readonly [FabricClient, FabricClient],
  { name, ends, stream }: { name: string; ends: Ends; stream: boolean },
): Promise<void> {
  const [one, other] = [await freePort(), await freePort()];
  const secret = 'measured'.repeat(8);
  const link = (path: string, [lport, rport]: [number, number], role: 'accept' | 'connect'): LinkSpec => {
    const datagrams = { type: 'udp', lport, rhost: '127.0.0.1', rport, strict: true } as const;
    const b = stream ? { ...datagrams, stream: { role, secret } } : datagrams;
    return { id: name, a: { type: 'stream', path }, b, filters: {}, suspend: false };
  };
  await fabrics[0].apply([link(ends.a.path, [one, other], 'connect')]);
  await fabrics[1].apply([link(ends.b.path, [other, one], 'accept')]);
  await ends.connected();
  const isReady = async () => (await fabrics[0].stats([name]))[0]?.carrier === (stream ? 'stream' : undefined);
  for (let tried = 0; !(await isReady()); tried += 1) {
    if (tried > 500) throw new Error('no stream was established');
    await sleep(10);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((settle) => server.listen(0, settle));
  const { port } = server.address() as { port: number };
  await new Promise((settle) => server.close(settle));
  return port;
}
