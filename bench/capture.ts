/**
 * Measures the cost and the losses of a capture: a link of 1,500-byte frames at full speed, alternating with and without a capture;
 * then a second of 1 Gbit/s with a capture. `node bench/capture.ts [--folder FOLDER] [--json FILE]`; FOLDER is where the capture is
 * written, default the folder for temporary files. Linux only.
 */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CaptureSpec, CaptureStats } from '../src/fabric/protocol.ts';
import { connectedFabric } from '../test/support/with-fabric.ts';
import { Ends, framesOf } from './fabric/ends.ts';
import { median } from './fabric/figures.ts';
import { flood } from './fabric/loads.ts';

const frameBytes = 1500;
const rounds = 3;
const floodMs = 700;
/** 10^9 bit/s in frames of 1,500 bytes. */
const gigabit = { perSecond: 83_333, ms: 2000, framesPerWrite: 20 };

interface Result {
  /** Frames per second. */
  plain: number;
  captured: number;
  floodMissed: string;
  gigabit: { sent: number; captured: number; missed: number; bytesOnDisk: number };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'string' }, folder: { type: 'string', default: tmpdir() } } });
  const folder = await mkdtemp(`${values.folder}/capture-bench-`);
  const client = await connectedFabric({ socketPath: `${folder}/control`, logPath: `${folder}/log` });
  const ends = new Ends(folder, 'link');
  const [a, b] = [ends.a, ends.b].map(({ path }) => ({ type: 'stream' as const, path }));
  if (!a || !b) throw new Error('a link has two ends');
  const apply = (captures: CaptureSpec[]) => client.apply([{ id: 'link', a, b, filters: {}, suspend: false, captures }]);
  const path = `${folder}/x.pcap`;
  const withCapture = async (work: () => Promise<unknown>): Promise<CaptureStats> => {
    await rm(path, { force: true });
    await apply([{ path, linkType: 1 }]);
    await work();
    const [link] = await client.stats();
    await apply([]);
    const [stats] = link?.captures ?? [];
    if (!stats) throw new Error('the capture has no counters');
    return stats;
  };
  try {
    await apply([]);
    await ends.connected();
    const [plain, captured]: [number[], number[]] = [[], []];
    let [frames, missed] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      plain.push((await flood(ends, [client.pid], { frameBytes, ms: floodMs })).framesPerSecond);
      const stats = await withCapture(async () => {
        captured.push((await flood(ends, [client.pid], { frameBytes, ms: floodMs })).framesPerSecond);
      });
      frames += stats.frames;
      missed += stats.missed;
    }
    let sent = 0;
    const stats = await withCapture(async () => {
      sent = await pace(ends);
    });
    const result: Result = {
      plain: Math.round(median(plain)),
      captured: Math.round(median(captured)),
      floodMissed: `${missed} of ${missed + frames}`,
      gigabit: { sent, captured: stats.frames, missed: stats.missed, bytesOnDisk: (await stat(path)).size },
    };
    console.log(`| what | without a capture | with one |
|---|---:|---:|
| flood of ${frameBytes}-byte frames, frames/s | ${result.plain} | ${result.captured} |
| missed of these | | ${result.floodMissed} |
| missed at 1 Gbit/s | | ${result.gigabit.missed} of ${result.gigabit.sent} |`);
    if (values.json) await writeFile(values.json, JSON.stringify(result, null, 2));
  } finally {
    ends.close();
    await client.quit();
    await rm(folder, { recursive: true });
  }
}

/** Sends at an even pace; returns the number of frames sent once the other end has received all of them. */
async function pace(ends: Ends): Promise<number> {
  const { perSecond, ms, framesPerWrite } = gigabit;
  const chunk = framesOf(frameBytes, framesPerWrite);
  const total = Math.round((perSecond * ms) / 1000 / framesPerWrite) * framesPerWrite;
  let bytes = 0;
  ends.b.onReceive = (length) => {
    bytes += length;
  };
  const began = performance.now();
  for (let sent = 0; sent < total; await sleep(1)) {
    const due = Math.min(total, ((performance.now() - began) * perSecond) / 1000);
    for (; sent < due; sent += framesPerWrite) ends.a.socket?.write(chunk);
  }
  while (bytes < total * (frameBytes + 4)) await sleep(5);
  return total;
}

await main();
