import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { defaultSettings } from '../../schema/settings.ts';
import { splitOptions } from './options.ts';
import { checkOptions, checkStoredOptions, type OptionPolicy } from './options-check.ts';

const check = (options: string, policy: OptionPolicy) => checkOptions(splitOptions(options), policy);
const refuses = (options: string, policy: OptionPolicy, code: 'qemu_option_unsafe' | 'qemu_failed' = 'qemu_option_unsafe') =>
  assert.throws(
    () => check(options, policy),
    (error) => isFault(error, code),
    `${policy}: ${options}`,
  );

/** Each reaches a file, a program, a socket, a device or a network of the host. */
const hostile = [
  '-incoming exec:id',
  '-incoming "exec:touch /tmp/x"',
  '-net tap,script=/tmp/x',
  '-net nic',
  '-net user,hostfwd=tcp::2222-:22',
  '-plugin /images/x.so',
  '-chardev file,id=c,path=/etc/x',
  '-chardev pipe,id=c,path=/x',
  '-chardev socket,id=c,host=0,port=1,server=on',
  '-chardev null,id=c,logfile=/etc/x',
  '-chardev vc,id=a,backend=file',
  '-serial file:/etc/x',
  '-serial telnet:0.0.0.0:1,server',
  '-serial chardev:qmp0',
  '-parallel file:/x',
  '-monitor tcp::1,server',
  '-monitor stdio',
  '-qmp tcp::1,server',
  '-qmp-pretty unix:/x',
  '-gdb tcp::1',
  '-s',
  '-vnc :1',
  '-spice port=1',
  '-spice addr=0.0.0.0',
  '-D /etc/x',
  '-d cpu',
  '-trace file=/x',
  '-trace enable=x',
  '-object rng-random,id=r,filename=/etc/passwd',
  '-object memory-backend-file,id=m,mem-path=/etc/x,size=1M',
  '-object secret,id=s,file=/etc/shadow',
  '-object tls-creds-x509,id=t,dir=/x',
  '-object filter-dump,id=f,netdev=gns3-0,file=/x',
  `-object '{"qom-type":"secret","id":"s","file":"/etc/shadow"}'`,
  '-fw_cfg name=opt/x,file=/etc/passwd',
  '-fw_cfg opt/x,file=/etc/passwd',
  '-smbios file=/etc/passwd',
  '-smbios type=11,path=/etc/passwd',
  '-smbios type=1,product=x,file=/etc/passwd',
  '-acpitable file=/x',
  '-dtb /x',
  '-device loader,file=/etc/passwd',
  '-device e1000,romfile=/etc/passwd',
  '-device id=x,driver=loader,file=/x',
  '-device e1000,driver=vfio-pci,host=00:01.0',
  '-device e1000,romfile',
  `-device '{"driver":"e1000","romfile":"/etc/passwd"}'`,
  '-device vfio-pci,host=01:00.0',
  '-device usb-host',
  '-device virtio-9p-pci,fsdev=f',
  '-device ivshmem-plain,memdev=m',
  '-device vhost-vsock-pci,guest-cid=3',
  '-device vhost-scsi-pci',
  '-device usb-mtp,rootdir=/',
  '-device usb-tablet,pcap=/etc/x',
  '-device nvdimm,memdev=m',
  '-device hda-duplex',
  '-global e1000.romfile=/etc/passwd',
  '-global driver=e1000,property=romfile,value=/etc/passwd',
  '-global virtio-net-pci.romfile=/etc/passwd',
  '-global usb-tablet.pcap=/x',
  '-global driver=VGA,property=edid,value=on,driver=loader',
  '-set drive.drive0.file=/etc/passwd',
  '-readconfig /x',
  '-writeconfig /x',
  '-add-fd fd=3,set=1',
  '-mon chardev=qmp0',
  '-netdev user,id=u',
  '-nic user',
  '-drive file=/etc/passwd',
  '-hda /etc/passwd',
  '-cdrom /x',
  '-fda /x',
  '-sd /x',
  '-mtdblock /x',
  '-pflash /x',
  '-kernel /x',
  '-initrd /x',
  '-bios /x',
  '/etc/passwd',
  '-nographic /etc/passwd',
  'json:{}',
  '-usbdevice host:1:2',
  '-usbdevice disk:/x',
  '-k ../de',
  '-L /x',
  '-mem-path /x',
  '-semihosting',
  '-semihosting-config enable=on',
  '-preconfig',
  '-qtest unix:/x',
  '-qtest-log /x',
  '-loadvm x',
  '-display sdl',
  '-display egl-headless,rendernode=/dev/dri/card0',
  '-audiodev wav,id=a,path=/x',
  '-audiodev pa,id=a',
  '-audiodev none,id=a,driver=wav',
  '-audio pa,model=hda',
  '-audio none,model=hda,driver=wav',
  '-soundhw hda',
  '-dump-vmstate /x',
  '-tpmdev passthrough,id=t,path=/dev/tpm0',
  '-machine pc,kernel=/etc/passwd',
  '-machine pc,dumpdtb=/x',
  '-machine type=pc,firmware=/x',
  '-M q35,initrd=/x',
  '-machine memory-backend=m,x=y',
  '-boot splash=/etc/passwd',
  '-boot order=c,splash=x',
  '-name x,process=y',
  '-icount shift=1,rr=record,rrfile=/x',
  '-icount 1,rrfile=/x',
  '-cpu host,memory=/objects/x',
  '-debugcon file:/x',
  '-option-rom /x',
  '-xen-attach',
  '-compat x',
  '-virtfs local,path=/',
  '-fsdev local,path=/',
  '-iscsi x',
  '-echr',
  '-device',
  '-no-such-option',
  '-vga /x',
  '-rtc base=/x',
  '-uuid x',
  '-fw_cfg name=etc/x,string=y',
];

/** Options that users and appliance files have. */
const harmless = [
  '',
  '-nographic',
  '-cpu host',
  '-cpu host,+vmx,-hle,kvm=off',
  '-cpu Haswell-noTSX,hv_vendor_id=abc',
  '-vga std',
  '-machine type=q35',
  '-machine q35,accel=kvm:tcg -smbios type=0',
  '-M pc,usb=on',
  `-smbios 'type=1,manufacturer=cisco,product="Cisco C8000v",serial=a,,b' -smbios type=1,product=VM`.replace(
    ' -smbios type=1,product=VM',
    '',
  ),
  '-device virtio-serial -chardev spicevmc,id=v,name=vdagent -device virtserialport,chardev=v,name=com.redhat.spice.0',
  '-serial mon:stdio',
  '-serial null -serial none',
  '-icount shift=auto,sleep=on',
  '-icount 3',
  '-rtc base=localtime,clock=vm',
  '-rtc base=2020-01-01T00:00:00',
  '-watchdog i6300esb -watchdog-action reset',
  '-device i6300esb',
  '-global ide-hd.model=x',
  '-global PIIX4_PM.disable_s3=1',
  '-global driver=cfi.pflash01,property=secure,value=on',
  '-global kvm-pit.lost_tick_policy=discard',
  '-nodefaults -no-reboot -no-shutdown -snapshot',
  '-usb -usbdevice tablet',
  '-device usb-ehci,id=ehci -device usb-tablet,bus=ehci.0',
  '-smp 4,sockets=1,cores=4,threads=1',
  '-m 512M,slots=2,maxmem=1G',
  '-boot order=cd,once=d,menu=on',
  '-boot strict=on',
  '-name %vm-name%',
  '-uuid %vm-id%'.replace('%vm-id%', '00000000-0000-4000-8000-000000000000'),
  '-device e1000,mac=00:11:22:33:44:55,romfile=',
  '--nographic --vga none',
  '-object rng-random,filename=/dev/urandom,id=r -device virtio-rng-pci,rng=r',
  '-object secret,id=disk.qcow2,data=abc',
  '-object iothread,id=i0',
  '-append "console=ttyS0 root=/dev/sda1, x"',
  '-accel tcg,thread=multi',
  '-enable-kvm',
  '-fw_cfg name=opt/org.test/x,string=hello',
  '-numa node,nodeid=0,cpus=0-1,mem=64',
  '-display none',
  '-vnc none',
  '-monitor none',
  '-device pcie-root-port,id=r1,chassis=1,slot=2',
  '-machine accel=tcg,graphics=off',
  '-overcommit cpu-pm=on',
  '-net none',
  '-prom-env auto-boot?=false',
  '-g 1024x768x32',
  '-no-acpi',
  '-no-hpet',
  '-k de',
  '-k en-us',
];

test('on a shared server whatever reaches into the host is refused, in every spelling', () => {
  for (const options of hostile) {
    refuses(options, 'listed');
    if (options.startsWith('-')) refuses(`-nographic -${options}`, 'listed');
  }
});

test('on a shared server harmless options are allowed', () => {
  for (const options of harmless) assert.doesNotThrow(() => check(options, 'listed'), options);
});

test('a local server refuses what GNS3 refuses, and allow_unsafe_options allows it', () => {
  for (const name of ['drive', 'netdev', 'hda', 'hdb', 'hdc', 'hdd', 'nic', 'virtfs', 'fsdev', 'blockdev', 'readconfig']) {
    for (const word of [`-${name}`, `--${name}`, `-${name}=x`]) {
      refuses(`${word} x`, 'local');
      assert.doesNotThrow(() => check(`${word} x`, 'any'));
    }
  }
  assert.doesNotThrow(() => check('-device virtio-rng-pci drive -hdachs -drives', 'local'));
  for (const options of harmless) assert.doesNotThrow(() => check(options, 'local'), options);
});

test('no option takes the process from its supervisor or its sandbox', () => {
  for (const name of ['--daemonize', '-sandbox off', '-sandbox=off', '-runas x', '-chroot /', '-pidfile /x']) {
    for (const policy of ['listed', 'local', 'any'] as const) refuses(name, policy, 'qemu_failed');
  }
});

test('a refusal names the option, the cause and the fix', () => {
  assert.throws(
    () => check('-device e1000,romfile=/etc/passwd', 'listed'),
    /-device e1000,romfile=\/etc\/passwd.*romfile.*Remove it, or set allow_unsafe_options = True/,
  );
  assert.throws(() => check('-hda /etc/passwd', 'listed'), /-hda.*shared server/);
});

test('placeholders are filled in before options are kept', () => {
  const { Qemu, Server } = defaultSettings();
  const keep = (options: string) => checkStoredOptions(options, { Qemu, Server: { ...Server, local: false } });
  keep('-uuid %vm-id% -name %vm-name% -smbios type=1,serial=%vm-name%,product=%project-id%');
  assert.throws(
    () => keep('-device loader,file=%project-path%/x'),
    (error) => isFault(error, 'qemu_option_unsafe'),
  );
});
