/** Traffic through a relay, and its measurements. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros } from './cpu.ts';
import { type Ends, framesOf } from './ends.ts';

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

/** One frame at a time, there and back; µs. */
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

/** Linux lets a sleep overrun by 50 µs by default; not in this process. */
function sleepExactly(): Promise<void> {
  return writeFile('/proc/self/timerslack_ns', '1').catch(() => undefined);
}

export interface OneWay {
  sent: number;
  lost: number;
  /** From sending to reception, less the configured delay, in ms. */
  errorsMs: number[];
  cpuMicrosPerFrame: number;
}

/** Sends at an even pace from a to b; every frame carries its number and its time of sending. */
export async function paced(ends: Ends, pid: number, load: { perSecond: number; ms: number; delayMs: number }): Promise<OneWay> {
  const step = 4 + 100;
  const frame = framesOf(100, 1);
  const total = Math.round((load.perSecond * load.ms) / 1000);
  const errorsMs: number[] = [];
  let rest: Buffer = Buffer.alloc(0);
  ends.b.onReceive = (_length, chunk) => {
    const now = performance.now();
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (; at + step <= all.length; at += step) errorsMs.push(now - all.readDoubleBE(at + 8) - load.delayMs);
    rest = all.subarray(at);
  };
  await sleepExactly();
  const never = new Int32Array(new SharedArrayBuffer(4));
  const cpu = await cpuMicros(pid);
  const began = performance.now();
  let sent = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const turn = () => {
    const now = performance.now();
    const due = Math.min(total, ((now - began) * load.perSecond) / 1000);
    for (; sent < due; sent += 1) {
      frame.writeDoubleBE(performance.now(), 8);
      ends.a.socket?.write(Buffer.from(frame));
    }
    if (sent === total) return resolve();
    // Sleeps instead of spinning: a generator that occupies a whole processor would measure the scheduler.
    const aheadMs = began + (sent * 1000) / load.perSecond - performance.now();
    if (aheadMs > 0) Atomics.wait(never, 0, 0, aheadMs);
    return setImmediate(turn);
  };
  turn();
  await promise;
  await sleep(load.delayMs + 200);
  return { sent, lost: sent - errorsMs.length, errorsMs, cpuMicrosPerFrame: ((await cpuMicros(pid)) - cpu) / sent };
}
