/** A move that is given up at steps that last a millisecond: QEMU's answers are written here, after those of 7.2. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fault } from '../../../api/faults.ts';
import type { MoveOffer } from '../../../schema/move.ts';
import type { Monitor } from '../monitor.ts';
import { QemuDeparture } from './depart.ts';

class FakeQemu {
  state = 'running';
  migration = 'none';
  pausesBeforeSwitchover = false;
  /** Answers to come in which the state is that of a transfer whose thread has not ended. */
  finishing = 0;
  stopping: Promise<void> = Promise.resolve();
  readonly asked = Promise.withResolvers<void>();

  async execute(command: string, args?: { capabilities?: [{ state: boolean }] }): Promise<unknown> {
    if (command === 'stop') {
      this.asked.resolve();
      await this.stopping;
      this.state = 'paused';
    }
    if (command === 'migrate') throw fault('qemu_failed', { reason: 'Failed to connect' });
    if (command === 'migrate-set-capabilities' && args?.capabilities) this.pausesBeforeSwitchover = args.capabilities[0].state;
    if (command === 'query-jobs') return [];
    if (command === 'query-migrate') return { status: this.migration };
    if (command === 'cont') {
      if (this.finishing > 0) throw fault('qemu_failed', { reason: 'Migration is not finalized yet' });
      this.state = 'running';
    }
    return {};
  }

  async status(): Promise<string> {
    if (this.finishing === 0) return this.state;
    this.finishing -= 1;
    return 'finish-migrate';
  }
}

async function departing(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'pb-depart-'));
  t.after(() => rm(folder, { recursive: true }));
  const qemu = new FakeQemu();
  const offer = { machine: { accelerator: 'tcg' }, drives: [], images: [] } as unknown as MoveOffer;
  const monitor = qemu as unknown as Monitor;
  const parts = { offer, monitor, runtimeDirectory: folder, consoleLog: join(folder, 'console.log'), runAs: undefined };
  return { qemu, departure: await QemuDeparture.prepare(parts) };
}

test('a machine whose move is given up while it is being paused runs', async (t) => {
  const { qemu, departure } = await departing(t);
  const stopped = Promise.withResolvers<void>();
  qemu.stopping = stopped.promise;
  const pausing = assert.rejects(departure.pause(), /Failed to connect/);
  await qemu.asked.promise;
  const aborted = departure.abort();
  setTimeout(stopped.resolve, 20);
  await Promise.all([aborted, pausing]);
  assert.deepEqual([qemu.state, qemu.pausesBeforeSwitchover], ['running', false]);
});

test('a machine whose memory was sent, and that stays, runs when the thread of its transfer has ended', async (t) => {
  const { qemu, departure } = await departing(t);
  Object.assign(qemu, { state: 'postmigrate', migration: 'completed', finishing: 3 });
  await departure.abort();
  assert.deepEqual([qemu.state, qemu.finishing], ['running', 0]);
});
