/** Answers of a QEMU that a guest has taken over: its machine protocol says what it likes, and harms nothing but that machine. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { LineSplitter } from '../../lib/line-splitter.ts';
import { DiskCopies } from './copy/copy-disks.ts';
import { blockedReasons } from './memory/migration.ts';
import { Monitor } from './monitor.ts';
import { cancelMirrors } from './move/disk-mirror.ts';

type Answer = (ask: { execute: string; id: number }, socket: Socket) => void;

/** A monitor whose QEMU greets as usual and agrees on capabilities; all else it answers by `answer`. */
async function withQemu(t: TestContext, answer: Answer, listener: Partial<Parameters<typeof Monitor.connect>[1]> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pb-hostile-qmp-'));
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write('{"QMP": {}}\n');
    const lines = new LineSplitter((line) => {
      const ask = JSON.parse(line) as { execute: string; id: number };
      if (ask.execute === 'qmp_capabilities') socket.write(`${JSON.stringify({ return: {}, id: ask.id })}\n`);
      else answer(ask, socket);
    });
    socket.on('data', (bytes) => lines.add(bytes));
  });
  const path = join(folder, 'qmp');
  await new Promise<void>((done) => server.listen(path, done));
  const callbacks = { status: () => undefined, shutdown: () => undefined, ...listener };
  const monitor = await Monitor.connect(path, callbacks, { limitMs: 30_000, ended: new Promise(() => undefined) });
  t.after(async () => {
    monitor.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
    await rm(folder, { recursive: true });
  });
  return { monitor, sockets, folder };
}

const isQemuFailed = (error: unknown) => isFault(error) && error.code === 'qemu_failed' && error.message.length < 2000;
const json = (value: unknown) => `${JSON.stringify(value)}\n`;

const lines: Readonly<Record<string, (id: number) => string>> = {
  'null in place of an object': () => 'null\n',
  'a number in place of an object': () => '17\n',
  'a text in place of an object': () => '"QMP"\n',
  'no JSON': () => '{"return": \n',
  'an error that is null': (id) => json({ id, error: null }),
  'an error without words': (id) => json({ id, error: { desc: { toString: 1 } } }),
  'an error of 900,000 letters': (id) => json({ id, error: { desc: 'x'.repeat(900_000) } }),
  'a line of 2 MiB': (id) => json({ id, return: 'x'.repeat(2 << 20) }),
  'an endless line': () => '['.repeat(2 << 20),
  'an event without data, then null': () => '{"event": "STOP", "data": null}\n{"event": "BLOCK_IO_ERROR", "data": 7}\nnull\n',
  'the answer to no command, then the end': () => `${json({ id: 9999, error: null })}${json({ id: '1', return: 1 })}null\n`,
};

for (const [what, line] of Object.entries(lines)) {
  test(`a command fails with a reason at ${what}`, async (t) => {
    const { monitor } = await withQemu(t, ({ id }, socket) => void socket.write(line(id)));
    await assert.rejects(monitor.execute('cont'), isQemuFailed);
  });
}

const values: readonly unknown[] = [
  ...[null, 7, 'running', [], {}, { status: null }, { status: 5 }, [null], [{ id: 7, status: [] }]],
  { status: 'active', ram: null },
  { 'blocked-reasons': [7] },
  Array.from({ length: 20_000 }, (_, id) => ({ id: `move-${id}`, status: 'running' })),
];

test('answers of another form are failures of QEMU, whatever they are asked for', async (t) => {
  let value: unknown;
  const { monitor, folder } = await withQemu(t, ({ id }, socket) => void socket.write(json({ id, return: value })));
  const node = { directory: folder };
  const failures = new Map<string, number>();
  const attempt = async (name: string, done: Promise<unknown>) =>
    done.catch((error: unknown) => {
      assert.ok(isQemuFailed(error), `${name} of ${JSON.stringify(value).slice(0, 100)}: ${error}`);
      failures.set(name, (failures.get(name) ?? 0) + 1);
    });
  for (value of values) {
    await attempt('status', monitor.status());
    await attempt('copies', new DiskCopies().make(monitor, node));
    await attempt('reasons', blockedReasons(monitor));
    // Mirrors that cannot be listed are not cancelled one by one.
    await attempt('mirrors', cancelMirrors(monitor));
  }
  // Values that fit fail nowhere: an empty object or list, a text as the state.
  assert.deepEqual(Object.fromEntries(failures), { status: 11, copies: 11, reasons: 11 });
});

test('a flood of events costs one question at a time', async (t) => {
  let asked = 0;
  const states: string[] = [];
  const { monitor, sockets } = await withQemu(
    t,
    ({ execute, id }, socket) => {
      if (execute === 'query-status') asked += 1;
      if (execute === 'cont') socket.write(json({ id, return: {} }));
      else if (asked > 1) socket.write(json({ id, return: { status: 'paused' } }));
      else waiting = () => socket.write(json({ id, return: { status: 'running' } }));
    },
    { status: (status) => void states.push(status) },
  );
  let waiting: (() => void) | undefined;
  for (const socket of sockets) socket.write('{"event": "STOP"}\n'.repeat(20_000));
  // An answer behind the flood: all of it has arrived.
  await monitor.execute('cont');
  assert.equal(asked, 1);
  waiting?.();
  await monitor.execute('cont');
  for (let turn = 0; states.length < 1 && turn < 1000; turn++) await monitor.execute('cont');
  assert.deepEqual(states, ['paused'], 'the first answer was overtaken by events');
  assert.equal(asked, 2);
});

test('a state that an event has overtaken is not reported', async (t) => {
  let asked = 0;
  const states: string[] = [];
  const { monitor, sockets } = await withQemu(
    t,
    ({ execute, id }, socket) => {
      if (execute === 'query-status' && asked++ === 0)
        socket.write(`${json({ id, return: { status: 'paused' } })}${json({ event: 'RESUME', data: {} })}`);
      else socket.write(json({ id, return: execute === 'query-status' ? { status: 'running' } : {} }));
    },
    { status: (status) => void states.push(status) },
  );
  for (const socket of sockets) socket.write(json({ event: 'STOP', data: {} }));
  for (let turn = 0; states.length < 1 && turn < 1000; turn++) await monitor.execute('cont');
  assert.deepEqual(states, ['running']);
});
