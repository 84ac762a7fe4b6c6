import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { type Adapter, type AdapterPort, adapterArguments, adapterFacts, cardNames } from './adapters.ts';
import { commandArguments, type Plan } from './command.ts';
import { driveArguments, pciDrives } from './drives.ts';
import { hostPlatform, isEmulatorName, nativePlatforms, platformOfBinary } from './platforms.ts';
import { defaults, type QemuProperties } from './properties.ts';
import { atLeast, parseVersion, versionWord } from './version.ts';

const stream = (index: number): AdapterPort => ({ type: 'stream', path: `/run/n${index}` });
const adapter = (index: number, more: Partial<Adapter> = {}): Adapter => ({
  type: 'e1000',
  mac: `0c:bb:cc:dd:00:0${index}`,
  port: stream(index),
  ...more,
});

function plan(properties: Partial<QemuProperties> = {}, more: Partial<Plan> = {}): Plan {
  return {
    uuid: 'aabbccdd-0000-4000-8000-000000000000',
    name: 'my,vm',
    properties: {
      ...defaults,
      qemu_path: '/usr/bin/qemu-system-x86_64',
      platform: 'x86_64',
      mac_address: '0c:bb:cc:dd:00:00',
      ...properties,
    },
    version: [7, 2, 22],
    accelerator: 'tcg',
    drives: [],
    adapters: [adapter(0)],
    cdrom: undefined,
    bios: undefined,
    kernel: undefined,
    initrd: undefined,
    uefi: undefined,
    tpmSocket: undefined,
    console: { type: 'telnet', port: 5000 },
    sockets: { qmp: '/run/qmp', serial: '/run/ser0', screen: '/run/scr,een' },
    pidFile: '/run/pid',
    consoleLog: '/node/console.log',
    savedState: undefined,
    sandbox: undefined,
    options: [],
    ...more,
  };
}
const line = (...args: Parameters<typeof plan>) => commandArguments(plan(...args)).join(' ');

const control =
  '-chardev socket,id=ser0,path=/run/ser0,server=on,wait=off,logfile=/node/console.log,logappend=off -serial chardev:ser0 ' +
  '-chardev socket,id=qmp0,path=/run/qmp,server=on,wait=off -mon chardev=qmp0,mode=control -monitor none -pidfile /run/pid';
const card =
  '-net none -device e1000,mac=0c:bb:cc:dd:00:00,netdev=gns3-0 -netdev stream,id=gns3-0,server=on,addr.type=unix,addr.path=/run/n0';

test('a machine with nothing but its defaults', () => {
  assert.equal(
    line(),
    `-name guest=my,,vm -m 256M -smp cpus=1,sockets=1 -machine accel=tcg -boot order=c -uuid aabbccdd-0000-4000-8000-000000000000 ${control} -display none ${card}`,
  );
});

test('a machine that may get more processors while it runs, and one whose limit is below its number', () => {
  assert.match(line({ cpus: 2, maxcpus: 8 }), / -smp cpus=2,maxcpus=8,sockets=1 /);
  assert.match(line({ cpus: 2, maxcpus: 1 }), / -smp cpus=2,sockets=1 /);
});

test('a machine with everything', () => {
  const drives = [
    { index: 0, file: '/d,0.qcow2', format: 'qcow2', interface: 'virtio', backing: [{ file: '/b,0', format: 'raw' as const }] },
  ];
  const everything = line(
    { ram: 512, cpus: 2, boot_priority: 'nc', kernel_command_line: 'a b', process_priority: 'high' },
    {
      accelerator: 'kvm',
      drives,
      cdrom: '/cd.iso',
      uefi: { code: '/code.fd', variables: '/vars,1.fd' },
      kernel: '/k',
      initrd: '/i',
      tpmSocket: '/run/tpm',
      savedState: 'S',
      options: ['-device', 'virtio-rng-pci'],
    },
  );
  assert.equal(
    everything,
    '-name guest=my,,vm -m 512M -smp cpus=2,sockets=1 -machine accel=kvm -machine smm=off -boot order=nc ' +
      '-drive if=pflash,format=raw,readonly=on,file=/code.fd -drive if=pflash,format=raw,file=/vars,,1.fd -drive file=/cd.iso,format=raw,index=2,media=cdrom ' +
      '-drive file=/d,,0.qcow2,format=qcow2,backing.driver=raw,backing.file.driver=file,backing.file.filename=/b,,0,if=virtio,index=0,media=disk,id=drive0 -initrd /i -kernel /k -append a b ' +
      `-uuid aabbccdd-0000-4000-8000-000000000000 ${control} -display none ${card} -loadvm S ` +
      '-chardev socket,id=chrtpm,path=/run/tpm -tpmdev emulator,id=tpm0,chardev=chrtpm -device tpm-tis,tpmdev=tpm0 -device virtio-rng-pci',
  );
});

test('consoles: what is listened on, and that no window opens', () => {
  const console = (type: Plan['console']['type']) => ({ console: { type, port: 5905 } });
  assert.match(line({}, console('vnc')), / -vnc unix:\/run\/scr,,een .* -machine usb=on -device usb-tablet$/);
  assert.match(line({}, console('spice')), / -spice unix=on,addr=\/run\/scr,,een,disable-ticketing=on -vga qxl -display none /);
  assert.match(line({}, console('spice+agent')), /spicevmc,id=vdagent.*com\.redhat\.spice\.0/);
  assert.match(line({}, console('none')), / -display none /);
  assert.match(line({}, { console: { type: 'vnc', port: null } }), / -display none /);
  assert.doesNotMatch(line({}, { options: ['-nographic'] }), /-display/);
  assert.match(line({}, { version: [2, 12] }), / -nographic /);
  for (const type of ['telnet', 'vnc', 'spice', 'none'] as const) assert.match(line({}, console(type)), /-serial chardev:ser0/);
});

test('the options have the last word', () => {
  assert.doesNotMatch(line({}, { options: ['-uuid', 'x'] }), /-uuid aabb/);
  assert.doesNotMatch(line({}, { accelerator: undefined }), /accel/);
  assert.match(line({ platform: 'aarch64' }), /-machine virt -machine accel=tcg/);
  assert.doesNotMatch(line({ platform: 'aarch64' }, { options: ['-M', 'raspi3b'] }), /virt/);
  assert.match(line({ adapters: 0 }, { adapters: [] }), / -net none$/);
});

test('drives by interface', () => {
  const drive = (bus: string, version = [7, 2]) =>
    driveArguments({ index: 1, file: '/f', format: 'raw', interface: bus, backing: [] }, version).join(' ');
  const unattached = '-drive file=/f,format=raw,if=none,id=drive1,index=1,media=disk';
  assert.equal(drive('sata'), `-device ahci,id=ahci1 ${unattached} -device ide-hd,drive=drive1,bus=ahci1.0,id=drive1`);
  assert.match(drive('sata', [4, 1]), /ide-drive/);
  assert.equal(drive('nvme'), `${unattached} -device nvme,drive=drive1,serial=1`);
  assert.equal(drive('scsi'), `-device virtio-scsi-pci,id=scsi1 ${unattached} -device scsi-hd,drive=drive1`);
  assert.equal(drive('ide'), '-drive file=/f,format=raw,if=ide,index=1,media=disk,id=drive1');
  assert.match(drive(''), /,if=none,/);
  // A comma in the interface's name cannot become another setting of the drive.
  assert.match(drive('ide,file=/etc/shadow'), /if=ide,,file=\/etc\/shadow,/);
});

test('adapters: addresses, custom ones, models', () => {
  const custom = [{ adapter_number: 1, adapter_type: 'rtl8139', mac_address: '00:AA:BB:CC:DD:EE' }];
  assert.deepEqual(adapterFacts(3, { type: 'virtio', mac: '0c:bb:cc:dd:00:ff' }, custom), [
    { type: 'virtio', mac: '0c:bb:cc:dd:00:ff' },
    { type: 'rtl8139', mac: '00:aa:bb:cc:dd:ee' },
    { type: 'virtio', mac: '0c:bb:cc:dd:01:01' },
  ]);
  const fast = adapterArguments([adapter(0, { type: 'virtio' })], 0, [2, 12], false).join(' ');
  assert.match(fast, /-device virtio-net-pci,mac=0c:bb:cc:dd:00:00,speed=10000,duplex=full,netdev=gns3-0/);
  assert.doesNotMatch(adapterArguments([adapter(0, { type: 'virtio-net-pci' })], 0, [2, 11], false).join(' '), /speed/);
});

test('datagrams: QEMU has the port that the fabric sends to; the legacy syntax', () => {
  const port: AdapterPort = { type: 'udp', lport: 20000, rhost: '127.0.0.1', rport: 20001, bind: '127.0.0.1' };
  assert.equal(
    adapterArguments([adapter(0, { port })], 0, [6, 0], false).at(-1),
    'socket,id=gns3-0,udp=127.0.0.1:20000,localaddr=127.0.0.1:20001',
  );
  assert.equal(
    adapterArguments([adapter(0, { port })], 0, [2, 8], true).join(' '),
    '-net none -net nic,vlan=0,macaddr=0c:bb:cc:dd:00:00,model=e1000 -net socket,vlan=0,name=gns3-0,udp=127.0.0.1:20000,localaddr=127.0.0.1:20001',
  );
});

test('PCI bridges: 31 adapters beside three drives; the 25th is the first behind a bridge', () => {
  const many = Array.from({ length: 31 }, (_, index) => adapter(index));
  const drives = ['sata', 'nvme', 'scsi', 'ide', 'none'].map((bus, index) => ({
    index,
    file: '/f',
    format: 'raw',
    interface: bus,
    backing: [],
  }));
  assert.equal(pciDrives(drives), 3);
  const args = adapterArguments(many, 3, [7, 2], false);
  const first = args.findIndex((arg) => arg.includes('bus=pci-bridge1'));
  assert.match(args[first] ?? '', /addr=0x00,netdev=gns3-24$/);
  assert.equal(args[first - 1], '-device');
  assert.equal(args[first - 2], 'pci-bridge,id=pci-bridge1,bus=dmi_pci_bridge1,chassis_nr=0x1,addr=0x1,shpc=off');
  assert.equal(args.filter((arg) => arg.startsWith('pci-bridge,')).length, 1);
  assert.throws(
    () => adapterArguments(many, 0, [2, 3], false),
    (error) => isFault(error, 'qemu_failed'),
  );
});

test('platforms by the names of emulators', () => {
  const cases: [string, string | undefined][] = [
    ['qemu-system-x86_64', 'x86_64'],
    ['qemu-system-x86_64-microvm', 'x86_64'],
    ['qemu-system-sparc64', 'sparc64'],
    ['qemu', 'i386'],
    ['qemu-kvm', hostPlatform()],
    ['qemu-system-riscv64', undefined],
    ['qemu-img', undefined],
  ];
  for (const [name, platform] of cases) assert.equal(platformOfBinary(name), platform, name);
  for (const name of ['qemu-system-arm', 'qemu-kvm', 'qemu-kvm-7.2', 'qemu']) assert.ok(isEmulatorName(name), name);
  for (const name of ['qemu-img', 'true', 'qemu-system-', 'qemux', 'xqemu-system-arm']) assert.ok(!isEmulatorName(name), name);
  assert.equal(hostPlatform('arm64'), 'aarch64');
  assert.deepEqual(nativePlatforms('x86_64'), ['x86_64', 'i386']);
});

test('versions', () => {
  assert.equal(versionWord('QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg)'), '7.2.22');
  assert.equal(versionWord('no word'), undefined);
  assert.ok(
    atLeast(parseVersion('7.2'), 7, 2) && atLeast(parseVersion('8.0-rc1'), 7, 2, 1) && atLeast(parseVersion('7.2.1'), 7, 2),
  );
  assert.ok(!atLeast(parseVersion('7.1.9'), 7, 2) && !atLeast(parseVersion('7'), 7, 2) && !atLeast(parseVersion('x'), 1));
});

test('the card of each network backend is found in what QEMU 7.2 prints', () => {
  const printed =
    'e1000.0: index=0,type=nic,model=e1000,macaddr=52:54:00:12:34:56\r\n \\ gns3-0: index=0,type=stream,\r\n' +
    'virtio-net-pci.0: index=0,type=nic,model=virtio-net-pci,macaddr=52:54:00:12:34:57\r\n \\ gns3-1: index=0,type=stream,unix:/n1\r\n' +
    'hub 0\r\n';
  assert.deepEqual(
    cardNames(printed),
    new Map([
      ['gns3-0', 'e1000.0'],
      ['gns3-1', 'virtio-net-pci.0'],
    ]),
  );
});
