import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { Bench } from '../../../test/support/contract-bench.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { isFault } from '../../api/faults.ts';
import { processFacts } from '../../process/proc.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Host } from '../host/host.ts';
import { hostPlatform } from '../qemu/platforms.ts';
import { natDriver } from './driver.ts';
import { natKind } from './kind.ts';

const natOptions = (nat: Partial<Settings['NAT']>) => ({
  kind: natKind,
  makeDriver: (host: Host) => natDriver({ ...host, settings: { ...host.settings, NAT: { ...host.settings.NAT, ...nat } } }),
  properties: {},
  firstPort: 32_100,
});

for (const [engine, path] of [
  ['qemu', 'qemu_path'],
  ['passt', 'passt_path'],
] as const) {
  const options = natOptions({ engine });
  emulatorContract({
    ...options,
    broken: { settings: (settings) => ({ ...settings, NAT: { ...settings.NAT, [path]: '/bin/false' } }) },
    skip: {
      console: 'it has none',
      killed: 'its process is started again, see below',
      'adopt dead': 'the node is there without a process, see below',
    },
  });

  test(`a ${engine} that ends is started again at the same place; one that died with the server away is started by the next`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pb-'));
    const bench = new Bench(options, folder);
    const { emulator, view } = await bench.start();
    const first = pidOf(emulator.record);
    const changed = new Promise<void>((resolve) => emulator.onRecord?.(resolve));
    const place = emulator.port(0, 0);
    process.kill(first, 'SIGKILL');
    await changed;
    const second = pidOf(emulator.record);
    assert.notEqual(second, first);
    assert.deepEqual(emulator.port(0, 0), place);
    assert.match(bench.warnings.join(), /started again/);
    emulator.release();
    process.kill(second, 'SIGKILL');
    await waitFor(() => processFacts(second) === undefined, { what: 'its end' });
    const next = await bench.driver.adopt(view, emulator.record);
    await next?.openPort?.(0, 0);
    assert.deepEqual(next?.port(0, 0), place);
    await next?.closePort?.(0, 0);
    await bench.assertNothingRuns();
    await rm(folder, { recursive: true });
  });
}

test('auto takes the engine that is there; without one the node is there, and only what needs it is refused, naming the packages', async () => {
  const missing = { qemu_path: 'no-such-qemu', passt_path: 'no-such-passt' };
  assert.equal(await programOf({}), `qemu-system-${hostPlatform()}`);
  assert.equal(await programOf({ qemu_path: 'no-such-qemu' }), 'passt');
  assert.equal(await programOf({ qemu_path: '/bin/false' }), 'passt');
  assert.equal(await programOf({ dns_server: '9.9.9.9' }), 'passt');
  await assert.rejects(
    programOf(missing),
    refused('tool_missing', /no-such-qemu or no-such-passt .*package qemu-system-\S+ or passt/),
  );
  await assert.rejects(programOf({ ...missing, engine: 'passt' }), refused('tool_missing', /package passt/));
  await assert.rejects(programOf({ qemu_path: '/bin/false', passt_path: 'none' }), refused('nat_failed', /false cannot be used/));
  await assert.rejects(programOf({ engine: 'qemu', dns_server: '9.9.9.9' }), refused('nat_failed', /dns_server/));
  await assert.rejects(programOf({ engine: 'toString' }), refused('nat_failed', /auto, qemu or passt/));
});

/** The name of the program that serves a port with these settings. @throws what opening the port says */
async function programOf(nat: Partial<Settings['NAT']>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'));
  const bench = new Bench(natOptions(nat), folder);
  try {
    const emulator = await bench.driver.start(await bench.view(await bench.create()));
    try {
      await emulator.openPort?.(0, 0);
      const { ports } = emulator.record as { ports: Record<string, { facts: { program: string } }> };
      return basename(ports['0']?.facts.program ?? '');
    } finally {
      await emulator.stop();
      assert.equal(emulator.port(0, 0), undefined);
    }
  } finally {
    await bench.assertNothingRuns();
    await rm(folder, { recursive: true });
  }
}

test('a passt that refuses to start is reported with its own message, without its complaints about the system log', async () => {
  await assert.rejects(
    programOf({ dns_server: 'nonsense' }),
    (error) => isFault(error, 'nat_failed') && /passt.*nonsense/s.test(error.message) && !/syslog/.test(error.message),
  );
});

const refused = (code: Parameters<typeof isFault>[1], words: RegExp) => (error: unknown) =>
  isFault(error, code) && words.test(error.message);

function pidOf(record: Readonly<Record<string, unknown>>): number {
  return (record as { ports: Record<string, { pid: number }> }).ports['0']?.pid ?? 0;
}
