/**
 * The driver with the real QEMU, always under TCG. The guest is iPXE of QEMU's own network ROMs: with `graphics=off` its console
 * is the first serial port, and Ctrl-B brings a prompt.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { endMarked, listMarked } from '../../process/orphans.ts';
import { emulatorContract } from '../contract.ts';
import { Bench, contractHost } from '../contract-bench.ts';
import type { Emulator, NodeView, Properties } from '../driver.ts';
import type { Host } from '../host.ts';
import { type QemuDriverOptions, qemuDriver } from './driver.ts';
import { qemuKind } from './kind.ts';
import { runTool } from './tool.ts';

const guest: Properties = { ram: 32, boot_priority: 'n', options: '-machine accel=tcg,graphics=off' };
const firstPort = 31_800;

emulatorContract({
  kind: qemuKind,
  makeDriver: qemuDriver,
  properties: guest,
  firstPort,
  console: { type: '\x02', shows: /./s },
  broken: { properties: { adapter_type: 'no-such-card' } },
});

let folder: string;
let bench: Bench;
const makeBench = (options: QemuDriverOptions = {}) =>
  new Bench({ kind: qemuKind, makeDriver: (host: Host) => qemuDriver(host, options), properties: guest, firstPort }, folder);

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
});
beforeEach(() => {
  bench = makeBench();
});
afterEach(async () => {
  const left = await listMarked(bench.host.settings.runtimeDirectory);
  await endMarked(left, 0);
  await bench.host.images.close();
  assert.deepEqual(left, [], 'the test left processes');
});
after(() => rm(folder, { recursive: true }));

const refused = (code: Parameters<typeof isFault>[1], words: RegExp) => (error: unknown) =>
  isFault(error, code) && words.test(error.message);

/** A started node; the bench's folders belong to it alone. */
async function start(more: Properties = {}, view: Partial<NodeView> = {}): Promise<{ emulator: Emulator; view: NodeView }> {
  const made = { ...(await bench.view(await bench.create(more))), ...view };
  return { emulator: await bench.driver.start(made), view: made };
}

/** The serial console: types until something is shown. */
class Terminal {
  readonly socket: Socket;
  shown = '';
  constructor(emulator: Emulator) {
    const source = emulator.console();
    assert.ok(source?.type === 'unix');
    this.socket = connect(source.path);
    this.socket.on('data', (bytes) => {
      this.shown += bytes.toString('latin1');
    });
  }
  /** Types `text` every 200 ms until `pattern` is shown after what was there before. */
  async ask(text: string, pattern: RegExp, limitMs = 20_000): Promise<string> {
    const from = this.shown.length;
    const typing = setInterval(() => this.socket.write(text), 200);
    try {
      await new Promise<void>((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error(`only shown: ${this.shown.slice(from)}`)), limitMs);
        this.socket.on('data', () => {
          if (!pattern.test(this.shown.slice(from))) return;
          clearTimeout(limit);
          resolve();
        });
      });
    } finally {
      clearInterval(typing);
      this.socket.removeAllListeners('data');
      this.socket.on('data', (bytes) => {
        this.shown += bytes.toString('latin1');
      });
    }
    return this.shown.slice(from);
  }
}

test('a name is enough: the emulator of this machine, and the established defaults', async () => {
  const node = { nodeId: 'AABBCCDD-0000-4000-8000-000000000000', projectDirectory: bench.projectDirectory };
  const properties = await bench.driver.create({ name: 'one' }, node);
  const shown = bench.driver.present(properties);
  assert.deepEqual(
    [
      shown.platform,
      shown.ram,
      shown.cpus,
      shown.adapters,
      shown.adapter_type,
      shown.mac_address,
      shown.process_priority,
      shown.hda_disk_image_md5sum,
    ],
    ['x86_64', 256, 1, 1, 'e1000', '0c:bb:cc:dd:00:00', 'low', null],
  );
  assert.match(String(shown.qemu_path), /^\/.*\/qemu-system-x86_64$/);
  assert.ok(!('linked_clone' in shown) && !('custom_adapters' in shown) && !('name' in shown));
});

test('nulls are defaults when made, and change nothing later', async () => {
  const nothing = { ram: null, cpus: null, adapters: null, adapter_type: null, options: null, platform: null, tpm: null };
  const made = await bench.create({ ...nothing, options: null, process_priority: 'null', platform: 'null' });
  assert.deepEqual(bench.driver.present(made), bench.driver.present(await bench.driver.create({ boot_priority: 'n' }, bench)));
  const changed = await bench.driver.update(made, { ram: 64, mac_address: '00:11:22:33:44:AA' }, bench);
  assert.equal(changed.mac_address, '00:11:22:33:44:aa');
  const kept = await bench.driver.update(changed, nothing, bench);
  assert.deepEqual(kept, changed);
  assert.equal((await bench.driver.update(changed, { mac_address: null }, bench)).mac_address, made.mac_address);
});

test('emulators: by architecture, by name, by path; others are refused with what to do', async () => {
  const cases: [Properties, string][] = [
    [{ platform: 'i386' }, 'i386'],
    [{ qemu_path: 'qemu-system-x86_64' }, 'x86_64'],
    [{ qemu_path: '/usr/bin/qemu-system-i386', platform: 'x86_64' }, 'i386'],
    [{ qemu_path: '/opt/gone/qemu-system-x86_64', platform: 'i386' }, 'i386'],
  ];
  for (const [input, platform] of cases) assert.equal((await bench.driver.create(input, bench)).platform, platform);
  for (const qemu_path of ['/bin/true', 'sh', '/opt/gone/qemu-system-x86_64', 'qemu-system-nosuch', '../bin/qemu-system-x86_64']) {
    await assert.rejects(bench.driver.create({ qemu_path }, bench), refused('qemu_binary_missing', /install it/), qemu_path);
  }
  await assert.rejects(bench.driver.create({ platform: 'sparc' }, bench), refused('qemu_binary_missing', /qemu-system-sparc/));
  await assert.rejects(
    bench.driver.create({ qemu_path: '/bin/sh', platform: 'x86_64' }, bench),
    refused('qemu_binary_missing', /./),
  );
  const made = await bench.driver.create({}, bench);
  assert.equal((await bench.driver.update(made, { platform: 'i386' }, bench)).platform, 'i386');
  await assert.rejects(bench.driver.update(made, { platform: 'sh4' }, bench), refused('qemu_binary_missing', /./));
});

test('a missing image is refused, and nothing changed', async () => {
  await assert.rejects(
    bench.create({ hda_disk_image: 'no.qcow2' }),
    (error) => isFault(error, 'image_missing') && error.extra.image === 'no.qcow2',
  );
  await assert.rejects(bench.create({ kernel_image: '../../etc/passwd' }), refused('image_missing', /passwd/));
});

test('prompt, suspend, resume, reset, carrier', async () => {
  const { emulator } = await start({ adapters: 2 }, { carrier: (adapter) => adapter === 0 });
  const terminal = new Terminal(emulator);
  await terminal.ask('\x02', /iPXE>/);
  // The adapter without a carrier is seen as unplugged from the start; the other follows.
  assert.match(await terminal.ask('ifstat\r', /net1.*Link:down/s), /net0.*Link:up.*net1/s);
  await emulator.setCarrier(0, false);
  await emulator.setCarrier(1, true);
  await terminal.ask('ifstat\r', /net0.*Link:down.*net1.*Link:up/s);
  await emulator.suspend();
  assert.equal(emulator.state, 'suspended');
  await emulator.resume();
  assert.equal(emulator.state, 'started');
  assert.equal(await emulator.reset(), true);
  await terminal.ask('', /SeaBIOS|iPXE/);
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

test('QEMU that ends at once: its last words are the reason', async () => {
  for (const [more, words] of [
    [{ adapter_type: 'no-such-card' }, /ended with code 1.*no-such-card/s],
    [{ ram: -1 }, /ended with code 1/],
    [{ options: '-machine accel=tcg -no-such-option' }, /no-such-option/],
  ] as const) {
    await assert.rejects(start(more), refused('qemu_failed', words));
    await bench.assertNothingRuns();
  }
});

test('what contradicts itself, is unsafe or lacks a tool is refused before anything runs', async () => {
  await writeFile(join(folder, 'file'), Buffer.alloc(65_536));
  const file = join(folder, 'file');
  for (const [more, code, words] of [
    [{ options: '-netdev user,id=x' }, 'qemu_option_unsafe', /-netdev/],
    [{ options: '--drive file=/etc/shadow' }, 'qemu_option_unsafe', /--drive/],
    [{ options: '"unclosed' }, 'qemu_failed', /not closed/],
    [{ options: '-daemonize' }, 'qemu_failed', /-daemonize/],
    [{ legacy_networking: true }, 'qemu_failed', /legacy_networking/],
    [{ cdrom_image: file, hdc_disk_image: file }, 'qemu_failed', /hdc/],
    [{ bios_image: file, uefi: true }, 'qemu_failed', /UEFI/],
    [{ cpu_throttling: 50 }, 'qemu_failed', /cpulimit/],
    [{ tpm: true }, 'qemu_failed', /swtpm/],
    [{ uefi: true }, 'qemu_failed', /ovmf/],
  ] as const) {
    await assert.rejects(start(more), refused(code, words), JSON.stringify(more));
    await bench.assertNothingRuns();
  }
});

test('the power button; after the limit it is switched off all the same', async () => {
  bench = makeBench({ limits: { shutdownMs: 300 } });
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
  assert.match(first.emulator.commandLine, /hda_disk\.qcow2,format=qcow2,if=virtio/);
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

test('QEMU before 7.2: a pair of datagram ports for each adapter', async () => {
  bench = makeBench({ datagrams: true });
  const { emulator } = await start({ adapters: 2 });
  const spec = emulator.port(1, 0);
  assert.ok(spec?.type === 'udp');
  assert.equal(bench.host.udpPorts.taken().length, 4);
  await emulator.stop();
  await bench.assertNothingRuns();
});

test('31 adapters on every kind of disk fit, by bridges', async () => {
  const base = join(folder, 'small.qcow2');
  assert.equal((await runTool('qemu-img', ['create', '-q', '-f', 'qcow2', base, '1M'], { timeoutMs: 10_000 })).code, 0);
  const disks = Object.entries({ hda: 'sata', hdb: 'nvme', hdc: 'scsi', hdd: 'ide' }).flatMap(([slot, bus]) => [
    [`${slot}_disk_image`, base],
    [`${slot}_disk_interface`, bus],
  ]);
  const { emulator } = await start({ ...Object.fromEntries(disks), adapters: 31, boot_priority: 'c' });
  assert.match(emulator.commandLine, /pci-bridge1,addr=0x00,netdev=gns3-24/);
  await emulator.stop();
});
