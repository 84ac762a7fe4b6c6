/** The first step of a start: what can be refused without touching a file. */
import { freemem } from 'node:os';
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { NodeView } from '../driver.ts';
import { findRunAs, type RunAs } from '../host/run-as.ts';
import type { Binaries } from './binaries.ts';
import type { QemuFacilities } from './facilities.ts';
import { hasFeature } from './features.ts';
import { fillPlaceholders, splitOptions } from './options.ts';
import { checkOptions, optionPolicy } from './options-check.ts';
import { asQemu, type QemuProperties } from './properties.ts';
import { findAllowed, missing } from './selection.ts';
import { findTpm } from './tpm.ts';
import { atLeast, type Version } from './version.ts';

export interface CheckedMachine {
  readonly properties: QemuProperties;
  /** Path of the emulator. */
  readonly program: string;
  readonly version: Version;
  /** Undefined: as the server. */
  readonly runAs: RunAs | undefined;
  /** The user's options, split, checked, filled in, and as this version of QEMU has them. */
  readonly options: readonly string[];
  /** Paths of programs that run beside the machine. */
  readonly cpulimit: string | undefined;
  readonly swtpm: string | undefined;
}

/** @throws faults of the table, with what to do */
export async function checkMachine(node: NodeView, { host, binaries }: QemuFacilities): Promise<CheckedMachine> {
  const properties = asQemu(node.properties);
  const program = await requireEmulator(properties, { host, binaries });
  const version = await binaries.version(program);
  const runAs = await findRunAs(host.settings, node.nodeId);
  refuseContradictions(properties, version);
  const options = fillPlaceholders(splitOptions(properties.options), {
    name: node.name,
    nodeId: node.nodeId,
    projectId: node.projectId,
    projectDirectory: node.projectDirectory,
    consolePort: node.console.port,
  });
  checkOptions(options, optionPolicy(host.settings));
  const cpulimit = await findCpulimit(node, properties, binaries);
  const swtpm = properties.tpm ? await findTpm(binaries) : undefined;
  warnAboutMemory(node, properties);
  return { properties, program, version, runAs, options: currentOptions(options, version), cpulimit, swtpm };
}

/** Where the emulator is, checked again: it may have been removed since the node was made. @throws qemu_binary_missing */
async function requireEmulator(
  properties: QemuProperties,
  { host, binaries }: Pick<QemuFacilities, 'host' | 'binaries'>,
): Promise<string> {
  const found = await findAllowed(properties.qemu_path, { binaries, settings: host.settings });
  if (found !== undefined) return found;
  // Another folder may hold the same program, which is used instead: the node may come from another machine.
  const elsewhere = await binaries.findEmulator(basename(properties.qemu_path), true);
  if (elsewhere !== undefined) return elsewhere;
  throw await missing(properties.qemu_path, binaries);
}

function refuseContradictions(properties: QemuProperties, version: Version): void {
  const refuse = (reason: string) => fault('qemu_failed', { reason });
  if (properties.cdrom_image !== '' && properties.hdc_disk_image !== '') {
    throw refuse('A CD-ROM and a third disk (hdc) take the same place: remove one of them');
  }
  if (properties.uefi && properties.bios_image !== '') throw refuse('A BIOS image and UEFI exclude each other: remove one of them');
  const types = [properties.adapter_type, ...properties.custom_adapters.map((own) => own.adapter_type ?? '')];
  const wrong = types.find((type) => type !== undefined && !/^[\w.-]*$/.test(type));
  if (wrong !== undefined) throw refuse(`"${wrong}" is no type of network adapter: choose one such as e1000 or virtio-net-pci`);
  if (properties.legacy_networking && hasFeature(version, 'noLegacyNetworking')) {
    throw refuse('Legacy networking needs QEMU before 2.9: set legacy_networking to false');
  }
}

/** Looked for before the machine starts, so that a missing tool leaves nothing running. */
async function findCpulimit(node: NodeView, properties: QemuProperties, binaries: Binaries): Promise<string | undefined> {
  const program = await binaries.inPath('cpulimit');
  if (program !== undefined || properties.cpu_throttling === 0) return program;
  throw fault('qemu_failed', {
    reason: `The processor limit of ${node.name} needs cpulimit: install it, or set cpu_throttling to 0`,
  });
}

function warnAboutMemory(node: NodeView, properties: QemuProperties): void {
  const freeMiB = Math.floor(freemem() / 2 ** 20);
  if (properties.ram > freeMiB)
    node.warn(`${node.name} is given ${properties.ram} MiB of memory, but only ${freeMiB} MiB are free`);
}

interface RetiredOption {
  /** Major and minor number of the first QEMU without it. */
  readonly since: readonly [major: number, minor: number];
  /** Takes a value, and only this one is replaced. Absent: it takes none. */
  readonly value?: string;
  /** Empty where QEMU does so anyway. */
  readonly words: readonly string[];
}

const row = (since: readonly [number, number], words: string, value?: string): RetiredOption => ({
  since,
  words: words.split(' ').filter((word) => word !== ''),
  ...(value !== undefined && { value }),
});

/**
 * Options that QEMU no longer has, and what they are called now: old labs and appliances still write them. One without a row here is left as
 * it is, and QEMU's refusal says so. Source of all rows: "Removed features" in QEMU's own documents, which names the version.
 */
export const retiredOptions: Readonly<Record<string, readonly RetiredOption[]>> = {
  'no-kvm-pit': [row([2, 12], '')],
  tdf: [row([2, 12], '')],
  'no-kvm-irqchip': [row([3, 0], '-machine kernel_irqchip=off')],
  'no-kvm-pit-reinjection': [row([3, 0], '-global kvm-pit.lost_tick_policy=discard')],
  balloon: [row([3, 1], '', 'none'), row([3, 1], '-device virtio-balloon', 'virtio')],
  localtime: [row([3, 1], '-rtc base=localtime')],
  nodefconfig: [row([3, 1], '-no-user-config')],
  'rtc-td-hack': [row([3, 1], '-rtc driftfix=slew')],
  'no-kvm': [row([5, 2], '-machine accel=tcg')],
  realtime: [row([6, 0], '', 'mlock=off')],
  'show-cursor': [row([6, 0], '')],
  'no-quit': [row([7, 0], '')],
  'no-acpi': [row([9, 0], '-machine acpi=off')],
  'no-hpet': [row([9, 0], '-machine hpet=off')],
};

/** A user's options, for this version of QEMU. */
export function currentOptions(words: readonly string[], version: Version): string[] {
  const current: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const found = findRetired(word, words[at + 1]);
    if (found === undefined || !atLeast(version, ...found.since)) {
      current.push(word);
      continue;
    }
    current.push(...found.words);
    if (found.value !== undefined) at += 1;
  }
  return current;
}

function findRetired(word: string, next: string | undefined): RetiredOption | undefined {
  const name = /^--?(?=[a-z])(.+)$/.exec(word)?.[1] ?? '';
  const rows = Object.hasOwn(retiredOptions, name) ? retiredOptions[name] : undefined;
  return rows?.find(({ value }) => value === undefined || value === next);
}
