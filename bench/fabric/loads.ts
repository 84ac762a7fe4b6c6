/** Traffic through a relay, and its measurements. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { cpuMicros } from './cpu.ts';
import { type Ends, framesOf } from './ends.ts';
import { monotonicMs } from './monotonic.ts';
import type { Pace } from './pace-thread.ts';

export interface Throughput {
  framesPerSecond: number;
  /** CPU of the relay, in µs per frame. */
  cpuMicrosPerFrame: number;
}

/** Sends from a to b as fast as the relay accepts. `pids`: all processes of the relay. */
export async function flood(ends: Ends, pids: readonly number[], load: { frameBytes: number; ms: number }): Promise<Throughput> {
  const { frameBytes, ms } = load;
  const chunk = framesOf(frameBytes, Math.floor(65536 / (frameBytes + 4)));
  let bytes = 0;
  ends.b.onReceive = (length) => {
    bytes += length;
  };
  const socket = ends.a.socket;
  if (!socket) throw new Error('no peer is connected');
  let sending = true;
  const pump = () => {
    while (sending && socket.write(chunk));
  };
  socket.on('drain', pump);
  pump();
  await sleep(ms / 5);
  const cpuOfAll = async () => (await Promise.all(pids.map(cpuMicros))).reduce((sum, micros) => sum + micros, 0);
  const began = { bytes, cpu: await cpuOfAll(), at: performance.now() };
  await sleep(ms);
  const frames = (bytes - began.bytes) / (frameBytes + 4);
  const seconds = (performance.now() - began.at) / 1000;
  const cpu = (await cpuOfAll()) - began.cpu;
  sending = false;
  if (socket.writableLength > 0) await once(socket, 'drain');
  socket.off('drain', pump);
  let before = -1;
  for (before = -1; before !== bytes; await sleep(20)) before = bytes;
  return { framesPerSecond: frames / seconds, cpuMicrosPerFrame: cpu / frames };
}

/** Sends one frame at a time, there and back; µs. */
export async function roundTrips(ends: Ends, load: { frameBytes: number; count: number }): Promise<number[]> {
  const frame = framesOf(load.frameBytes, 1);
  const times: number[] = [];
  let sentAt = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const send = () => {
    sentAt = performance.now();
    ends.a.socket?.write(frame);
  };
  ends.b.onReceive = () => void ends.b.socket?.write(frame);
  ends.a.onReceive = () => {
    times.push((performance.now() - sentAt) * 1000);
    if (times.length < load.count) setImmediate(send);
    else resolve();
  };
  send();
  await promise;
  ends.a.onReceive = () => undefined;
  return times;
}

/** Linux lets a sleep overrun by 50 µs by default; not in this thread and those that it starts. */
function sleepExactly(): Promise<void> {
  return writeFile('/proc/self/timerslack_ns', '1').catch(() => undefined);
}

export interface OneWay {
  sent: number;
  lost: number;
  /** Errors of the time from sending to reception, less the configured delay, in ms. */
  errorsMs: number[];
  cpuMicrosPerFrame: number;
}

/** A thread sends at an even pace from a to b; every frame carries its time of sending. This thread receives, and does nothing else. */
export async function paced(ends: Ends, pid: number, load: { perSecond: number; ms: number; delayMs: number }): Promise<OneWay> {
  const step = 4 + 100;
  const total = Math.round((load.perSecond * load.ms) / 1000);
  const errorsMs: number[] = [];
  let rest: Buffer = Buffer.alloc(0);
  ends.b.onReceive = (_length, chunk) => {
    const now = monotonicMs();
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (; at + step <= all.length; at += step) errorsMs.push(now - all.readDoubleBE(at + 8) - load.delayMs);
    rest = all.subarray(at);
  };
  await sleepExactly();
  const cpu = await cpuMicros(pid);
  const pace: Pace = { fd: ends.a.fd, perSecond: load.perSecond, total };
  await once(new Worker(new URL('./pace-thread.ts', import.meta.url), { workerData: pace }), 'exit');
  await sleep(load.delayMs + 200);
  return { sent: total, lost: total - errorsMs.length, errorsMs, cpuMicrosPerFrame: ((await cpuMicros(pid)) - cpu) / total };
}
