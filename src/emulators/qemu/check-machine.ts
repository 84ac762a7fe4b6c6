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
import { currentOptions } from './retired-options.ts';
import { findAllowed, missing } from './selection.ts';
import { findTpm } from './tpm.ts';
import type { Version } from './version.ts';

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
