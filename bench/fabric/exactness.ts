/** Whether filters act as configured: counted over many frames, within the bounds of chance. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FabricClient } from '../../src/fabric/client.ts';
import type { DirectionStats } from '../../src/fabric/protocol.ts';
import type { Filters } from '../../src/schema/filter.ts';
import { Ends, framesOf } from './ends.ts';

const frameBytes = 100;
const frames = 100_000;

export interface Exactness {
  readonly what: string;
  readonly unit: string;
  readonly expected: number;
  readonly got: number;
  /** Tolerance: four standard deviations of a count, or 2 %. */
  readonly bound: number;
}

export async function exactness(client: FabricClient, folder: string): Promise<Exactness[]> {
  const rows: Exactness[] = [];
  for (const percent of [0.1, 1, 20]) {
    for (const [type, count] of counted) {
      const stats = await sendAll(client, folder, { [type]: [percent] });
      const chance = percent / 100;
      const bound = 4 * Math.sqrt(frames * chance * (1 - chance));
      rows.push({ what: `${type} ${percent} %`, unit: 'frames', expected: frames * chance, got: count(stats), bound });
    }
  }
  for (const kbit of [1000, 20_000, 200_000]) rows.push(await bandwidth(client, folder, kbit));
  return rows;
}

interface Outcome extends DirectionStats {
  /** Frames that arrived changed. */
  readonly damaged: number;
}

const counted: [string, (outcome: Outcome) => number][] = [
  ['packet_loss', ({ dropped }) => dropped.packet_loss ?? 0],
  ['duplicate', ({ sent, received }) => sent - received],
  ['corrupt', ({ damaged }) => damaged],
];

async function sendAll(client: FabricClient, folder: string, filters: Filters): Promise<Outcome> {
  return withLink({ client, folder, filters }, async (ends, stats) => {
    let damaged = 0;
    const whole = framesOf(frameBytes, 1);
    let rest = Buffer.alloc(0);
    ends.b.onReceive = (_length, chunk) => {
      const all = Buffer.concat([rest, chunk]);
      let at = 0;
      for (; at + whole.length <= all.length; at += whole.length) {
        if (!all.subarray(at, at + whole.length).equals(whole)) damaged += 1;
      }
      rest = all.subarray(at);
    };
    const batch = framesOf(frameBytes, 1000);
    for (let sent = 0; sent < frames; sent += 1000) await written(ends, batch);
    while ((await stats()).received < frames || (await stats()).queued > 0) await sleep(20);
    await sleep(100);
    return { ...(await stats()), damaged };
  });
}

/** Offers twice the bandwidth, long enough to fill the queue. */
async function bandwidth(client: FabricClient, folder: string, kbit: number): Promise<Exactness> {
  const bytesPerMs = kbit / 8;
  return withLink({ client, folder, filters: { bandwidth: [kbit] } }, async (ends) => {
    let received = 0;
    const step = frameBytes + 4;
    ends.b.onReceive = (length) => {
      received += length;
    };
    const measured = { from: 0, began: 0 };
    const began = performance.now();
    let sent = 0;
    for (let now = began; now - began < 3000; now = performance.now()) {
      const due = ((now - began) * 2 * bytesPerMs) / frameBytes;
      const count = Math.min(500, Math.floor(due - sent));
      if (count > 0) await written(ends, framesOf(frameBytes, count));
      sent += Math.max(0, count);
      if (measured.began === 0 && now - began > 1000) Object.assign(measured, { from: received, began: performance.now() });
      await sleep(1);
    }
    const elapsedMs = performance.now() - measured.began;
    const got = (((received - measured.from) / step) * frameBytes * 8) / elapsedMs;
    return { what: `bandwidth ${kbit.toLocaleString('en')} kbit/s`, unit: 'kbit/s', expected: kbit, got, bound: kbit * 0.02 };
  });
}

async function withLink<T>(
  link: { client: FabricClient; folder: string; filters: Filters },
  work: (ends: Ends, stats: () => Promise<DirectionStats>) => Promise<T>,
): Promise<T> {
  const { client, folder, filters } = link;
  const ends = new Ends(folder, 'exact');
  const [a, b] = [ends.a.path, ends.b.path].map((path) => ({ type: 'stream' as const, path }));
  try {
    if (!a || !b) throw new Error('a link has two ends');
    await client.apply([{ id: 'exact', a, b, filters, suspend: false }]);
    await ends.connected();
    return await work(ends, async () => {
      const [now] = await client.stats(['exact']);
      if (!now) throw new Error('the link is gone');
      return now.ab;
    });
  } finally {
    await client.remove(['exact']);
    ends.close();
  }
}

async function written({ a }: Ends, bytes: Buffer): Promise<void> {
  await new Promise<void>((settle) => a.socket?.write(bytes, () => settle()));
}
