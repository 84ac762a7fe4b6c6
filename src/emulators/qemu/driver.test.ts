/** The driver with the real QEMU: what every kind must keep, what is refused, and what is made of properties. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Bench } from '../../../test/support/contract-bench.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import { ipxe, qemuBench, refused, startNode } from '../../../test/support/ipxe-guest.ts';
import { isFault } from '../../api/faults.ts';
import { endMarked, listMarked } from '../../process/orphans.ts';
import { runTool } from '../../process/tool.ts';
import type { NodeView, Properties } from '../driver.ts';
import { Binaries } from './binaries.ts';
import { qemuDriver } from './driver.ts';
import { qemuKind } from './kind.ts';

const firstPort = 31_800;

emulatorContract({
  kind: qemuKind,
  makeDriver: qemuDriver,
  properties: ipxe,
  firstPort,
  console: { type: '\x02', shows: /./s },
  broken: { properties: { adapter_type: 'no-such-card' } },
});

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

test('a name is enough: the emulator of this machine, and the defaults of GNS3', async () => {
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
    [{ qemu_path: '/opt/gone/qemu-system-i386' }, 'i386'],
  ];
  for (const [input, platform] of cases) assert.equal((await bench.driver.create(input, bench)).platform, platform);
  for (const qemu_path of ['/bin/true', 'sh', '/opt/gone/qemu-system-nosuch', 'qemu-system-nosuch', '../bin/sh']) {
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

test('an empty disk that appliances name is made when it is asked for, once', async () => {
  const name = 'empty8G.qcow2';
  const made = await Promise.all([1, 2, 3].map(() => bench.create({ hda_disk_image: name, hdb_disk_image: 'empty100G.qcow2' })));
  for (const { hda_disk_image } of made) assert.equal(hda_disk_image, name);
  const path = join(bench.host.settings.Server.images_path, 'QEMU', name);
  assert.match((await runTool('qemu-img', ['info', path], { timeoutMs: 10_000 })).stdout, /virtual size: 8 GiB/);
  assert.ok((await stat(path)).size < 1024 * 1024);
  await assert.rejects(bench.create({ hda_disk_image: 'empty7G.qcow2' }), refused('image_missing', /empty7G/));
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
  // A host with nothing but QEMU.
  const programs = join(folder, 'programs');
  await mkdir(programs);
  for (const name of ['qemu-system-x86_64', 'qemu-img']) await symlink(join('/usr/bin', name), join(programs, name));
  bench = qemuBench(folder, firstPort, { binaries: new Binaries(() => programs), firmwareFolder: folder });
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

test('a folder or a link in the place of UEFI variables is moved aside, and nothing is written through it', {
  skip: !existsSync('/usr/share/OVMF/OVMF_VARS_4M.fd') && 'ovmf is not installed',
}, async () => {
  const variables = join(bench.directory, 'OVMF_VARS_4M.fd');
  const elsewhere = join(folder, 'elsewhere');
  for (const replace of [() => mkdir(join(variables, 'folder'), { recursive: true }), () => symlink(elsewhere, variables)]) {
    await mkdir(bench.directory, { recursive: true });
    await replace();
    const { emulator } = await start({ uefi: true });
    await emulator.stop({ now: true });
    assert.ok((await lstat(variables)).isFile());
    await rm(variables);
  }
  assert.ok(!existsSync(elsewhere));
  const aside = (await readdir(bench.directory)).filter((name) => name.startsWith('OVMF_VARS_4M.fd.damaged-'));
  assert.equal(aside.length, 2, 'nothing is lost');
  await bench.assertNothingRuns();
});

test('QEMU before 7.2: a pair of datagram ports for each adapter', async () => {
  bench = qemuBench(folder, firstPort, { datagrams: true });
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
