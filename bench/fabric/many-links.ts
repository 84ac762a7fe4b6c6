/** The cost of a thousand links: idle, and with a little traffic each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros } from './cpu.ts';
import { Ends, framesOf } from './ends.ts';

const count = 1000;
const perSecond = 100;
const ms = 4000;

export interface ManyLinks {
  /** Percent of one CPU. */
  readonly idleCpu: number;
  readonly busyCpu: number;
  readonly sent: number;
  readonly lost: number;
  /** Frames per second that the generator achieved; fewer than intended on a slow machine. */
  readonly sentPerSecond: number;
}

/** `join` makes a process join all these ends and returns its pid. */
export async function manyLinks(folder: string, join: (links: readonly Ends[]) => Promise<number>): Promise<ManyLinks> {
  const links = Array.from({ length: count }, (_, index) => new Ends(folder, `many-${index}`));
  try {
    const pid = await join(links);
    await Promise.all(links.map((ends) => ends.connected()));
    await sleep(500);
    const idle = await cpuShare(pid, () => sleep(ms));
    let heardBytes = 0;
    for (const ends of links) {
      ends.b.onReceive = (length) => {
        heardBytes += length;
      };
    }
    const frame = framesOf(100, 1);
    const traffic = { sent: 0, seconds: 0 };
    const busy = await cpuShare(pid, async () => {
      const began = performance.now();
      while (performance.now() - began < ms) {
        const due = ((performance.now() - began) * count * perSecond) / 1000;
        for (; traffic.sent < due; traffic.sent += 1) links[traffic.sent % count]?.a.socket?.write(frame);
        await new Promise(setImmediate);
      }
      traffic.seconds = (performance.now() - began) / 1000;
    });
    await sleep(500);
    const { sent, seconds } = traffic;
    const lost = sent - heardBytes / frame.length;
    return { idleCpu: idle, busyCpu: busy, sent, lost, sentPerSecond: sent / seconds };
  } finally {
    for (const ends of links) ends.close();
  }
}

/** CPU of a process during `work`, in percent of one. */
async function cpuShare(pid: number, work: () => Promise<unknown>): Promise<number> {
  const [before, began] = [await cpuMicros(pid), performance.now()];
  await work();
  return ((await cpuMicros(pid)) - before) / 10 / (performance.now() - began);
}
