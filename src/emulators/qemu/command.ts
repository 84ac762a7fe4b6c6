/**
 * Makes QEMU's arguments from a machine's properties. Pure: everything that has to be looked for, made or decided is decided before, and
 * given in `Plan`.
 */

import type { ConsoleType } from '../../schema/node.ts';
import { type Adapter, adapterArguments } from './adapters.ts';
import { type Drive, driveArguments, pciDrives } from './drives.ts';
import { hasFeature } from './features.ts';
import type { ContinuedMachine } from './memory/restore.ts';
import { escapeCommas, hasOption } from './options.ts';
import type { QemuProperties } from './properties.ts';
import type { Version } from './version.ts';

export interface Plan {
  /** UUID that the guest sees. */
  readonly uuid: string;
  readonly name: string;
  readonly properties: QemuProperties;
  readonly version: Version;
  /** Accelerator to use; undefined when the options choose it. */
  readonly accelerator: 'kvm' | 'tcg' | undefined;
  readonly drives: readonly Drive[];
  readonly adapters: readonly Adapter[];
  /** Absolute paths; undefined when there is none. */
  readonly cdrom: string | undefined;
  readonly bios: string | undefined;
  readonly kernel: string | undefined;
  readonly initrd: string | undefined;
  /** Firmware and its variables, for UEFI. */
  readonly uefi: { readonly code: string; readonly variables: string } | undefined;
  /** Socket of the TPM emulator. */
  readonly tpmSocket: string | undefined;
  readonly console: { readonly type: ConsoleType; readonly port: number | null };
  readonly sockets: { readonly qmp: string; readonly serial: string; readonly screen: string };
  readonly pidFile: string;
  /** Receives everything the first serial port writes, also while no client is connected. */
  readonly consoleLog: string;
  /** Value of `-sandbox`; undefined when this emulator has none, or it is switched off. */
  readonly sandbox: string | undefined;
  /** Name of the saved state to continue from. */
  readonly savedState: string | undefined;
  /** The machine that it continues. */
  readonly memory?: ContinuedMachine | undefined;
  /** The user's options, split, checked and filled in. */
  readonly options: readonly string[];
}

/** Arguments in order, without the program. */
export function commandArguments(plan: Plan): string[] {
  const { properties, options } = plan;
  return [
    // "guest=" keeps a name such as "process=x" from being read as another setting.
    ...['-name', `guest=${escapeCommas(plan.name)}`],
    ...['-m', `${properties.ram}M`],
    ...['-smp', processors(properties)],
    ...machine(plan),
    ...['-boot', `order=${properties.boot_priority}`],
    ...firmware(plan),
    ...cdrom(plan.cdrom),
    ...plan.drives.flatMap((drive) => driveArguments(drive, plan.version)),
    ...option('-initrd', plan.initrd),
    ...option('-kernel', plan.kernel),
    ...option('-append', properties.kernel_command_line || undefined),
    ...(hasOption(options, 'uuid') ? [] : ['-uuid', plan.uuid]),
    ...control(plan),
    ...display(plan),
    ...adapterArguments(plan.adapters, pciDrives(plan.drives), plan.version, properties.legacy_networking),
    ...option('-loadvm', plan.savedState),
    ...tpm(plan.tpmSocket),
    ...option('-sandbox', plan.sandbox),
    ...options,
    ...(plan.console.type === 'vnc' ? ['-machine', 'usb=on', '-device', 'usb-tablet'] : []),
  ];
}

/** More processors than there are now can be plugged into the running machine. */
function processors({ cpus, maxcpus = cpus }: Plan['properties']): string {
  return maxcpus > cpus ? `cpus=${cpus},maxcpus=${maxcpus},sockets=1` : `cpus=${cpus},sockets=1`;
}

const option = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);

/** Attaches the image like `-cdrom`, but states its format: QEMU must never guess it. */
function cdrom(path: string | undefined): string[] {
  return path === undefined ? [] : ['-drive', `file=${escapeCommas(path)},format=raw,index=2,media=cdrom`];
}

/** Accelerator, and a machine where QEMU has no default one. Several -machine options are one to QEMU; the last word wins. */
function machine({ accelerator, properties, version, options }: Plan): string[] {
  const args: string[] = [];
  if (/^(aarch64|arm)$/.test(properties.platform) && !hasOption(options, 'machine', 'M')) args.push('-machine', 'virt');
  if (accelerator === undefined) return args;
  args.push('-machine', `accel=${accelerator}`);
  // System management mode costs exits and is of no use here; without it more processors can run nested guests.
  if (accelerator === 'kvm' && properties.platform === 'x86_64' && hasFeature(version, 'smmOption'))
    args.push('-machine', 'smm=off');
  return args;
}

function firmware({ bios, uefi }: Plan): string[] {
  if (uefi === undefined) return option('-bios', bios);
  return [
    ...['-drive', `if=pflash,format=raw,readonly=on,file=${escapeCommas(uefi.code)}`],
    ...['-drive', `if=pflash,format=raw,file=${escapeCommas(uefi.variables)}`],
  ];
}

/** First serial port and machine protocol, each a socket on which QEMU listens; the human monitor is reached through the latter. */
function control({ sockets, consoleLog, pidFile, version, memory }: Plan): string[] {
  const log = hasFeature(version, 'characterLog') ? `,logfile=${escapeCommas(consoleLog)},logappend=${memory ? 'on' : 'off'}` : '';
  return [
    ...['-chardev', `socket,id=ser0,path=${escapeCommas(sockets.serial)},server=on,wait=off${log}`],
    ...['-serial', 'chardev:ser0'],
    ...['-chardev', `socket,id=qmp0,path=${escapeCommas(sockets.qmp)},server=on,wait=off`],
    ...['-mon', 'chardev=qmp0,mode=control'],
    ...['-monitor', 'none'],
    ...['-pidfile', pidFile],
  ];
}

/**
 * Options of the guest's screen: no screen, unless the console or the options say otherwise. QEMU's own default may open a window. Screens
 * are on a Unix socket, as QEMU's TCP ports would let in every user of the host.
 */
function display({ console: { type, port }, options, version, sockets: { screen } }: Plan): string[] {
  if (type === 'vnc' && port !== null) return ['-vnc', `unix:${escapeCommas(screen)}`];
  const hidden = hasOption(options, 'display', 'nographic', 'curses', 'vnc', 'sdl', 'gtk')
    ? []
    : hasFeature(version, 'displayNone')
      ? ['-display', 'none']
      : ['-nographic'];
  if ((type !== 'spice' && type !== 'spice+agent') || port === null) return hidden;
  const spice = ['-spice', `unix=on,addr=${escapeCommas(screen)},disable-ticketing=on`, '-vga', 'qxl', ...hidden];
  return type === 'spice' ? spice : [...spice, ...spiceChannels];
}

/** Clipboard and shared folder of the guest tools. */
const spiceChannels = [
  ...['-device', 'virtio-serial'],
  ...['-chardev', 'spicevmc,id=vdagent,debug=0,name=vdagent'],
  ...['-device', 'virtserialport,chardev=vdagent,name=com.redhat.spice.0'],
  ...['-chardev', 'spiceport,name=org.spice-space.webdav.0,id=charchannel0'],
  ...['-device', 'virtserialport,chardev=charchannel0,id=channel0,name=org.spice-space.webdav.0'],
];

function tpm(socket: string | undefined): string[] {
  if (socket === undefined) return [];
  return [
    ...['-chardev', `socket,id=chrtpm,path=${escapeCommas(socket)}`],
    ...['-tpmdev', 'emulator,id=tpm0,chardev=chrtpm'],
    ...['-device', 'tpm-tis,tpmdev=tpm0'],
  ];
}
