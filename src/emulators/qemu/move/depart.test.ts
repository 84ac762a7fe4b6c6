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
  /** Number of times that QEMU reads which pages were written after the guest resumed. */
  laterSyncs = 0;
  connects = false;
  readonly commands: string[] = [];
  /** Answers to come in which the state is that of a transfer whose thread has not ended. */
  finishing = 0;
  stopping: Promise<void> = Promise.resolve();
  readonly asked = Promise.withResolvers<void>();

  async execute(command: string, args?: { capabilities?: [{ state: boolean }]; 'downtime-limit'?: number }): Promise<unknown> {
    this.commands.push(command);
    if (command === 'stop') {
      this.asked.resolve();
      await this.stopping;
      this.state = 'paused';
    }
    if (command === 'migrate' && !this.connects) throw fault('qemu_failed', { reason: 'Failed to connect' });
    if (command === 'migrate') this.migration = 'setup';
    if (command === 'migrate_cancel' && this.migration !== 'completed') this.migration = 'cancelled';
    if (command === 'migrate-set-capabilities' && args?.capabilities) this.pausesBeforeSwitchover = args.capabilities[0].state;
    if (command === 'query-jobs') return [];
    if (args?.['downtime-limit'] === 0) this.commands.push('no downtime');
    if (command === 'query-migrate') return this.#progress();
    if (command === 'cont') {
      if (this.finishing > 0) throw fault('qemu_failed', { reason: 'Migration is not finalized yet' });
      this.state = 'running';
    }
    return {};
  }

  /** Each answer is followed by the next phase. */
  #progress(): object {
    const status = this.migration;
    const laterSyncs = status === 'pre-switchover' ? this.laterSyncs : 0;
    if (status === 'setup') this.migration = 'active';
    if (status === 'active' && this.state === 'running') Object.assign(this, { migration: 'pre-switchover', state: 'paused' });
    return { status, ram: { 'dirty-sync-count': (status === 'setup' ? 0 : 1) + laterSyncs } };
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

test('an emulated processor is paused while QEMU begins to note what is written, and runs while its memory is sent', async (t) => {
  const { qemu, departure } = await departing(t);
  qemu.connects = true;
  await departure.pause();
  const steps = qemu.commands.filter((command) => !/^query|-set-/.test(command));
  assert.deepEqual([steps, qemu.migration], [['no downtime', 'stop', 'migrate', 'cont'], 'pre-switchover']);
  await departure.abort();
});

test('a machine stays when QEMU has read which pages were written while it ran', async (t) => {
  const { qemu, departure } = await departing(t);
  Object.assign(qemu, { connects: true, laterSyncs: 1 });
  await assert.rejects(departure.pause(), /some of them may be missing/);
  await departure.abort();
  assert.equal(qemu.state, 'running');
});

test('a machine whose memory was sent, and that stays, runs when the thread of its transfer has ended', async (t) => {
  const { qemu, departure } = await departing(t);
  Object.assign(qemu, { state: 'postmigrate', migration: 'completed', finishing: 3 });
  await departure.abort();
  assert.deepEqual([qemu.state, qemu.finishing], ['running', 0]);
});
