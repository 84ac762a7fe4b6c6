/** A running machine, with the real QEMU: its states, its ends, and what is changed while it runs. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { type Bench, contractHost } from '../../../test/support/contract-bench.ts';
import { ipxe, qemuBench, refused, startNode, Terminal } from '../../../test/support/ipxe-guest.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { endMarked, listMarked } from '../../process/orphans.ts';
import { runTool } from '../../process/tool.ts';
import type { NodeView, Properties } from '../driver.ts';
import { Binaries } from './binaries.ts';
import { qemuDriver } from './driver.ts';
import { QemuEmulator } from './emulator.ts';

const firstPort = 31_850;

let folder: string;
let bench: Bench;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
});
beforeEach(() => {
  bench = qemuBench(folder, firstPort);
});
afterEach(async () => {
  const left = await listMarked(bench.host.settings.runtimeDirectory);
  await endMarked(left, 0);
  await bench.host.images.close();
  assert.deepEqual(left, [], 'the test left processes');
});
after(() => rm(folder, { recursive: true }));

const start = (more: Properties = {}, view: Partial<NodeView> = {}) => startNode(bench, more, view);

test('prompt, suspend, resume, reset, carrier', async () => {
  const { emulator } = await start({ adapters: 2 }, { carrier: (adapter) => adapter === 0 });
  const terminal = new Terminal(emulator);
  await terminal.ask('\x02', /iPXE>/);
  // iPXE reads the state of a link while its interface is open. `ifstat` prints it for each interface, net0 first.
  const links = (first: string, second: string) =>
    new RegExp(`net0:[^[]*\\[Link:${first}\\b(?:(?!net0:)[^])*net1:[^[]*\\[Link:${second}\\b`);
  for (const name of ['net0', 'net1']) await terminal.command(`ifopen ${name}`, /iPXE>/);
  await terminal.command('ifstat', links('up', 'down'));
  await emulator.setCarrier(0, false);
  await emulator.setCarrier(1, true);
  await terminal.command('ifstat', links('down', 'up'));
  // The port has no other end yet: what the guest sends is lost, and QEMU survives it.
  await terminal.ask('dhcp net1\r', /Configuring \(net1[^)]*\)\.+/);
  await terminal.ask('\x03', /iPXE>/);
  await emulator.suspend();
  assert.equal(emulator.state, 'suspended');
  await emulator.resume();
  assert.equal(emulator.state, 'started');
  assert.equal(await emulator.reset(), true);
  await terminal.ask('\x02', /iPXE>/);
  terminal.socket.destroy();
  await emulator.stop();
  assert.deepEqual(await emulator.ended, { how: 'stopped', reason: '' });
});

test('a suspended machine is adopted as suspended; its failure is noticed', async () => {
  const { emulator, view } = await start();
  await emulator.suspend();
  emulator.release();
  const host = contractHost(bench.folder, firstPort);
  const adopted = await qemuDriver(host).adopt(view, emulator.record);
  assert.equal(adopted?.state, 'suspended');
  process.kill(Number(emulator.record.pid), 'SIGKILL');
  assert.equal((await adopted?.ended)?.how, 'failed');
  await host.images.close();
});

test('the power button; after the limit it is switched off all the same', async () => {
  bench = qemuBench(folder, firstPort, { limits: { shutdownMs: 300 } });
  const { emulator } = await start({ on_close: 'shutdown_signal' });
  // iPXE does not know the button.
  const started = performance.now();
  await emulator.stop();
  assert.ok(performance.now() - started >= 290);
  assert.equal((await emulator.ended).how, 'stopped');
});

test('a linked clone leaves its image alone; a state is saved and restored, once', async () => {
  const base = join(folder, 'base.qcow2');
  assert.equal((await runTool('qemu-img', ['create', '-q', '-f', 'qcow2', base, '16M'], { timeoutMs: 10_000 })).code, 0);
  const before = await readFile(base);
  const disk = { hda_disk_image: base, hda_disk_interface: 'virtio', on_close: 'save_vm_state', adapters: 0 };
  const first = await start(disk);
  assert.match(first.emulator.commandLine, /hda_disk\.qcow2,format=qcow2,backing\.driver=qcow2,.*,if=virtio/);
  await first.emulator.stop();
  assert.deepEqual(bench.warnings, []);
  const second = await start(disk);
  assert.match(second.emulator.commandLine, /-loadvm GNS3_SAVED_STATE/);
  await second.emulator.stop({ now: true });
  const third = await start(disk);
  assert.doesNotMatch(third.emulator.commandLine, /-loadvm/);
  await third.emulator.stop();
  const fourth = await start({ ...disk, on_close: 'power_off' });
  assert.doesNotMatch(fourth.emulator.commandLine, /-loadvm/);
  await fourth.emulator.stop();
  assert.deepEqual(await readFile(base), before);
  assert.match(String(bench.driver.present(await bench.create(disk)).hda_disk_image_md5sum), /^[0-9a-f]{32}$/);
});

test('a CD-ROM is changed while it runs', async () => {
  await writeFile(join(folder, 'one, two.iso'), Buffer.alloc(65_536));
  const { emulator, view } = await start({ cdrom_image: join(folder, 'one, two.iso') });
  await emulator.changed({ ...view.properties, cdrom_image: '' });
  await emulator.changed({ ...view.properties, cdrom_image: join(folder, 'one, two.iso') });
  assert.deepEqual(bench.warnings, []);
  await emulator.changed({ ...view.properties, cdrom_image: join(folder, 'gone.iso') });
  assert.equal(bench.warnings.length, 1);
  await emulator.stop();
});

/** A folder in PATH with a program of ours in place of one that need not be installed. */
async function withProgram(name: string, script: string): Promise<Binaries> {
  const programs = await mkdtemp(join(folder, 'programs-'));
  // The user that emulators run as reaches it.
  for (const path of [folder, programs]) await chmod(path, 0o711);
  await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(programs, name), 0o755);
  return new Binaries(() => `${programs}:${process.env.PATH}`);
}

test('a processor limit: its keeper starts, changes, is taken over and ends with the machine', async () => {
  const binaries = await withProgram('cpulimit', 'echo "$@"; exec sleep 600');
  bench = qemuBench(folder, firstPort, { binaries });
  const { emulator, view } = await start({ cpu_throttling: 50 });
  const log = join(view.directory, 'cpulimit.log');
  const keeper = () => (emulator.record.throttle as { pid: number } | undefined)?.pid;
  const first = keeper();
  assert.ok(first);
  await emulator.changed({ ...view.properties, cpu_throttling: 25 });
  assert.notEqual(keeper(), first);
  emulator.release();
  const host = contractHost(bench.folder, firstPort);
  const adopted = await qemuDriver(host, { binaries }).adopt(view, emulator.record);
  assert.ok(adopted);
  assert.equal((adopted.record.throttle as { pid: number }).pid, keeper());
  const order = new RegExp(`^--lazy --pid=${emulator.record.pid} --limit=25`);
  await waitFor(async () => order.test(await readFile(log, 'utf8')), { what: 'the words of the keeper' });
  await adopted.changed({ ...view.properties, cpu_throttling: 0 });
  assert.equal(adopted.record.throttle, undefined);
  await adopted.changed({ ...view.properties, cpu_throttling: 10 });
  await adopted.stop();
  await host.images.close();
});

test('a TPM emulator that does not start says why, and nothing runs', async () => {
  const version = (number: string) => `[ "$1" = --version ] && { echo "TPM emulator version ${number}, Copyright"; exit; }`;
  bench = qemuBench(folder, firstPort, { binaries: await withProgram('swtpm', `${version('0.5.3')}`) });
  await assert.rejects(start({ tpm: true }), refused('qemu_failed', /0\.5\.3 is installed/));
  bench = qemuBench(folder, firstPort, {
    binaries: await withProgram('swtpm', `${version('0.9.0')}; echo "no room for state" >&2; exit 1`),
  });
  await assert.rejects(start({ tpm: true }), refused('qemu_failed', /no room for state/));
  await bench.assertNothingRuns();
});

test('what is written to the config disk is in config.zip when the machine has ended', async () => {
  const { emulator, view } = await start({ create_config_disk: true });
  assert.match(emulator.commandLine, /config\.img,format=raw,if=ide,index=3/);
  const saved = join(view.directory, 'saved.cfg');
  await writeFile(saved, 'hostname R1');
  // A guest would do the same; its kernel is not needed for that.
  const copied = await runTool('mcopy', ['-i', `${join(view.directory, 'config.img')}@@1M`, saved, '::'], { timeoutMs: 5000 });
  assert.equal(copied.reason, '');
  await emulator.stop();
  assert.match((await readFile(join(view.directory, 'config.zip'))).toString('latin1'), /saved\.cfg/);
});

test('an internal error of QEMU ends the machine as failed, with the reason', async () => {
  const { emulator } = await start();
  assert.ok(emulator instanceof QemuEmulator);
  // Brought about only by a broken accelerator: what QEMU would say is said here.
  emulator.status('internal-error');
  const { how, reason } = await emulator.ended;
  assert.equal(how, 'failed');
  assert.match(reason, /internal error/);
});

test('a guest whose machine QEMU stops, and one whose machine QEMU ends', async () => {
  const { emulator, view } = await start({ options: `${ipxe.options} -no-reboot -no-shutdown` });
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  emulator.onState((state) => {
    seen.push(state);
    resolve();
  });
  const terminal = new Terminal(emulator);
  await terminal.ask('\x02', /iPXE>/);
  await terminal.typeUntil('reboot\r', promise);
  assert.deepEqual([seen, emulator.state], [['suspended'], 'suspended']);
  terminal.socket.destroy();
  await emulator.stop();

  const second = await bench.driver.start({ ...view, properties: await bench.create({ options: `${ipxe.options} -no-reboot` }) });
  const other = new Terminal(second);
  await other.ask('\x02', /iPXE>/);
  await other.typeUntil('reboot\r', second.ended);
  assert.equal((await second.ended).how, 'exited');
});
