/** Hostile `options` of QEMU machines from a seed: fragments that reach into the host, hidden as an attacker would hide them. */
import type { Chance } from '../../durability/random.ts';
import type { Bait } from './bait.ts';

/** Options with a value that reads, writes or runs something, or listens. */
const fragments = ({ secret, written, program }: Bait): readonly (readonly [string, string])[] => [
  ['incoming', `exec:${program}`],
  ['incoming', `"exec:cat ${secret} > ${written}"`],
  ['net', `tap,script=${program},downscript=no`],
  ['net', `bridge,helper=${program}`],
  ['net', 'user,hostfwd=tcp::0-:22'],
  ['netdev', `tap,id=t,script=${program}`],
  ['netdev', `user,id=u,guestfwd=tcp:10.0.2.100:1-cmd:${program}`],
  ['netdev', `user,id=u,tftp=/,bootfile=${secret}`],
  ['nic', `tap,script=${program}`],
  ['plugin', program],
  ['chardev', `file,id=c,path=${written}`],
  ['chardev', `pipe,id=c,path=${written}`],
  ['chardev', `null,id=c,logfile=${written}`],
  ['chardev', `socket,id=c,path=${written},server=on,wait=off`],
  ['chardev', 'socket,id=c,host=0.0.0.0,port=0,server=on,wait=off'],
  ['chardev', 'pty,id=c'],
  ['serial', `file:${written}`],
  ['serial', 'telnet:0.0.0.0:0,server=on,wait=off'],
  ['serial', `unix:${written},server=on,wait=off`],
  ['parallel', `file:${written}`],
  ['debugcon', `file:${written}`],
  ['monitor', `unix:${written},server=on,wait=off`],
  ['monitor', 'tcp:0.0.0.0:0,server=on,wait=off'],
  ['qmp', `unix:${written},server=on,wait=off`],
  ['gdb', 'tcp::0'],
  ['vnc', ':77'],
  ['vnc', `unix:${written}`],
  ['spice', 'port=0,disable-ticketing=on,addr=0.0.0.0'],
  ['D', written],
  ['d', 'cpu'],
  ['trace', `file=${written}`],
  ['trace', `events=${secret}`],
  ['object', `rng-random,id=r,filename=${secret}`],
  ['object', `memory-backend-file,id=m,mem-path=${written},size=1M,share=on`],
  ['object', `secret,id=s,file=${secret}`],
  ['object', `'{"qom-type":"secret","id":"s","file":"${secret}"}'`],
  ['object', `filter-dump,id=f,netdev=gns3-0,file=${written}`],
  ['fw_cfg', `name=opt/x,file=${secret}`],
  ['smbios', `file=${secret}`],
  ['smbios', `type=11,path=${secret}`],
  ['acpitable', `file=${secret}`],
  ['device', `loader,file=${secret},addr=0x1000`],
  ['device', `virtio-net-pci,romfile=${secret}`],
  ['device', `'{"driver":"virtio-net-pci","romfile":"${secret}"}'`],
  ['device', `virtio-rng-pci,driver=loader,file=${secret},addr=0`],
  ['device', `usb-mtp,rootdir=/`],
  ['device', 'usb-host'],
  ['device', `usb-tablet,pcap=${written}`],
  ['device', 'vfio-pci,host=00:00.0'],
  ['global', `virtio-net-pci.romfile=${secret}`],
  ['global', `e1000.romfile=${secret}`],
  ['global', `driver=e1000,property=romfile,value=${secret}`],
  ['set', `drive.drive0.file=${secret}`],
  ['readconfig', secret],
  ['writeconfig', written],
  ['drive', `file=${secret},format=raw`],
  ['hda', secret],
  ['fda', secret],
  ['cdrom', secret],
  ['pflash', secret],
  ['kernel', secret],
  ['initrd', secret],
  ['dtb', secret],
  ['bios', secret],
  ['option-rom', secret],
  ['mtdblock', secret],
  ['sd', secret],
  ['virtfs', 'local,path=/,mount_tag=x,security_model=none'],
  ['fsdev', 'local,id=f,path=/,security_model=none'],
  ['blockdev', `driver=file,filename=${secret},node-name=n`],
  ['machine', `dumpdtb=${written}`],
  ['machine', `kernel=${secret}`],
  ['M', `pc,firmware=${secret}`],
  ['boot', `splash=${secret}`],
  ['icount', `shift=1,rr=record,rrfile=${written}`],
  ['audiodev', `wav,id=a,path=${written}`],
  ['mem-path', written],
  ['pidfile', written],
  ['dump-vmstate', written],
  ['L', secret],
  ['k', secret],
  ['semihosting-config', 'enable=on,target=native'],
  ['sandbox', 'off'],
  ['add-fd', 'fd=3,set=1'],
  ['mon', 'chardev=ser0'],
  ['chroot', '/'],
  ['tpmdev', 'passthrough,id=t,path=/dev/tpm0'],
  ['display', 'vnc=:78'],
];

/** Harmless options around an attack; some of them once switched a protection off. */
const harmless = [
  '-display none',
  '-audiodev none,id=a0',
  '-nographic',
  '-vga none',
  '-no-reboot',
  '-rtc base=utc',
  '-smp 1',
  '-device virtio-rng-pci',
  '-name guest=x',
  '-boot menu=off',
  '-global PIIX4_PM.disable_s3=1',
  '-usb',
];

const base = '-nodefaults -machine accel=tcg,graphics=off';

/** A line of options; about one in five is harmless, so that machines run, too. */
export function attackOptions(chance: Chance, bait: Bait): string {
  const parts = Array.from({ length: chance.between(0, 3) }, () => chance.pick(harmless) ?? '');
  if (chance.next() < 0.8) parts.splice(chance.between(0, parts.length), 0, hidden(chance, bait));
  return [base, ...parts].join(' ');
}

function hidden(chance: Chance, bait: Bait): string {
  const [name = '', value = ''] = chance.pick(fragments(bait)) ?? [];
  const plain = `-${name} ${value}`;
  const disguises = [
    () => plain,
    () => `-${plain}`,
    () => `'-${name}' ${value}`,
    () => `"-${name.slice(0, 1)}"${name.slice(1)} ${value}`,
    () => `-${name}\n${value}`,
    () => `-${name}=${value}`,
    // The value of an option that takes one, and an extra argument.
    () => `-name ${plain}`,
    () => `-nographic ${value} ${plain}`,
    () => `-name x,,${plain}`,
    // Keys behind and before keys that are allowed.
    () => `-device virtio-rng-pci,id=q,${value}`,
    () => `-machine pc,accel=tcg,${value}`,
    () => `-chardev null,id=z,${value}`,
    () => `-smbios type=1,product=a,${value}`,
    () => `-${name} id=k,,${value}`,
    () => `-${name} ${value},,x`,
    () => `-${name} ,${value}`,
    () => `-global virtio-rng-pci.${value}`,
    () => value,
    () => `-${name.toUpperCase()} ${value}`,
    () => `%vm-name% ${plain}`,
    () => plain.replace('/', '%project-path%/../../../../../../'),
  ];
  return (chance.pick(disguises) ?? (() => plain))();
}
