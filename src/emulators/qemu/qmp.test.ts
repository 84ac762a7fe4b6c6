/**
 * Greetings and answers of the machine protocol in QEMU 7.2 to 10, which differ by version. They are written from QEMU's documents (QMP
 * specification; "Removed features": `singlestep` of query-status, 9.0), not recorded: only 7.2 is installed where these tests are made.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LineSplitter } from '../../lib/line-splitter.ts';
import { isRunningState, Monitor } from './monitor.ts';

interface Documented {
  readonly greeting: object;
  readonly status: object;
}

const greeting = (major: number, minor: number, micro: number, text: string) => ({
  QMP: { version: { qemu: { micro, minor, major }, package: text }, capabilities: ['oob'] },
});
const versions: readonly Documented[] = [
  { greeting: greeting(7, 2, 22, 'Debian 1:7.2+dfsg-7+deb12u18'), status: { status: 'running', singlestep: false, running: true } },
  { greeting: greeting(8, 2, 2, 'Debian 1:8.2.2+ds-0ubuntu1'), status: { running: true, singlestep: false, status: 'running' } },
  { greeting: greeting(9, 2, 1, ''), status: { status: 'running', running: true } },
  { greeting: greeting(10, 0, 93, 'v10.1.0-rc3'), status: { status: 'running', running: true } },
];

test('the monitor agrees with each version on capabilities, and reads its state between events', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-qmp-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [index, { greeting: first, status }] of versions.entries()) {
    const path = join(folder, String(index));
    const asked: string[] = [];
    const server = createServer((socket) => {
      const say = (message: object) => socket.write(`${JSON.stringify(message)}\r\n`);
      say(first);
      const lines = new LineSplitter((line) => {
        const { execute, id } = JSON.parse(line) as { execute: string; id: number };
        asked.push(execute);
        say({ timestamp: { seconds: 1, microseconds: 2 }, event: 'RTC_CHANGE', data: { offset: 0, 'qom-path': '/machine/rtc' } });
        say({ return: execute === 'query-status' ? status : {}, id });
      });
      socket.on('data', (bytes) => lines.add(bytes));
    });
    await new Promise<void>((resolve) => {
      server.listen(path, resolve);
    });
    const listener = { status: () => undefined, shutdown: () => undefined };
    const monitor = await Monitor.connect(path, listener, { limitMs: 30_000, ended: new Promise(() => undefined) });
    try {
      assert.equal(isRunningState(await monitor.status()), true);
      assert.deepEqual(asked, ['qmp_capabilities', 'query-status']);
    } finally {
      monitor.close();
      server.close();
    }
  }
});

test('the monitor of a machine that has ended leaves the one client of the next machine at the same path to its own monitor', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-qmp-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'qmp');
  const listener = { status: () => undefined, shutdown: () => undefined };
  const machine = async () => {
    const server = createServer((socket) => {
      if (sockets.push(socket) > 1) return;
      socket.write(`${JSON.stringify(versions[0]?.greeting)}\n`);
      const lines = new LineSplitter((line) => socket.write(`${JSON.stringify({ return: {}, id: JSON.parse(line).id })}\n`));
      socket.on('data', (bytes) => lines.add(bytes)).on('error', () => undefined);
    });
    const sockets: Socket[] = [];
    await new Promise<void>((resolve) => {
      server.listen(path, resolve);
    });
    const end = async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    };
    return { server, end };
  };
  const first = await machine();
  const ended = Promise.withResolvers<void>();
  await Monitor.connect(path, listener, { limitMs: 30_000, ended: ended.promise });
  await first.end();
  ended.resolve();
  await ended.promise;
  const next = await machine();
  t.after(() => next.end());
  // The first monitor has made its attempts, one every few milliseconds, by then.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const monitor = await Monitor.connect(path, listener, { limitMs: 30_000, ended: new Promise(() => undefined) });
  monitor.close();
});
