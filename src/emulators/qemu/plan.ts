/** Everything that is looked for, made and decided before a machine starts. Nothing runs yet when it is done. */

import { copyFile, stat } from 'node:fs/promises';
import { freemem } from 'node:os';
import { basename, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { Mutex } from '../../lib/mutex.ts';
import type { NodeView } from '../driver.ts';
import type { Host } from '../host/host.ts';
import type { ImageFolder } from '../host/images.ts';
import type { Acceleration } from './acceleration.ts';
import { type AdapterPort, adapterFacts } from './adapters.ts';
import type { Binaries } from './binaries.ts';
import type { Plan } from './command.ts';
import { type Disk, prepareDisks, savedStateName } from './disks.ts';
import { qemuImages } from './kind.ts';
import { chosenAccelerator, fillPlaceholders, splitOptions } from './options.ts';
import { checkOptions, optionPolicy } from './options-check.ts';
import { nativePlatforms } from './platforms.ts';
import { asQemu, type QemuProperties } from './properties.ts';
import { QemuImg } from './qemu-img.ts';
import type { RawDisks } from './raw-disks.ts';
import { type Sandboxes, sandboxValue } from './sandbox.ts';
import { findAllowed, missing } from './selection.ts';
import { findTpm, tpmSocket } from './tpm.ts';
import { atLeast, type Version } from './version.ts';

export interface QemuFacilities {
  /** Forking a large process holds up the event loop: one after the other, and requests in between. */
  readonly spawning: Mutex;
  readonly host: Host;
  readonly binaries: Binaries;
  readonly acceleration: Acceleration;
  readonly sandboxes: Sandboxes;
  readonly rawDisks: RawDisks;
  /** Use datagrams for adapters, as with QEMU older than 7.2, whatever the version. For tests. */
  readonly datagrams: boolean;
  /** Where Debian's package `ovmf` has its firmware. */
  readonly firmwareFolder: string;
}

export interface Preparation {
  readonly plan: Plan;
  readonly disks: readonly Disk[];
  /** Paths of programs that run beside the machine. */
  readonly cpulimit: string | undefined;
  readonly swtpm: string | undefined;
}

/** Names of the sockets and files in the runtime folder. */
export function placesOf(node: Pick<NodeView, 'directory' | 'runtimeDirectory'>) {
  const { directory, runtimeDirectory } = node;
  return {
    qmp: join(runtimeDirectory, 'qmp'),
    serial: join(runtimeDirectory, 'ser0'),
    screen: join(runtimeDirectory, 'screen'),
    pidFile: join(runtimeDirectory, 'pid'),
    adapter: (index: number) => join(runtimeDirectory, `n${index}`),
    consoleLog: join(directory, 'console.log'),
    log: join(directory, 'qemu.log'),
  };
}

/** `ports` are where the fabric will connect to, one per adapter. @throws faults of the table, with what to do */
export async function prepare(
  node: NodeView,
  { program, version }: { program: string; version: Version },
  ports: readonly AdapterPort[],
  facilities: QemuFacilities,
): Promise<Preparation> {
  const properties = asQemu(node.properties);
  const { host, binaries } = facilities;
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

  const images = host.images.of(qemuImages);
  const image = (reference: string) => (reference === '' ? undefined : images.resolve(reference, node.projectDirectory));
  const files = await sequence([
    () => image(properties.cdrom_image),
    () => image(properties.bios_image),
    () => image(properties.kernel_image),
    () => image(properties.initrd),
  ]);
  // QEMU reads several modules from one value, separated by commas, for kernels that take them.
  if (files[3]?.includes(','))
    throw fault('image_refused', { image: properties.initrd, reason: 'its path holds a comma: rename it' });
  const uefi = properties.uefi ? await uefiFiles(node, images, facilities.firmwareFolder) : undefined;
  const disks = await disksOf(node, properties, images, facilities);
  const facts = adapterFacts(
    ports.length,
    { type: properties.adapter_type, mac: properties.mac_address },
    properties.custom_adapters,
  );
  const places = placesOf(node);
  const plan: Plan = {
    nodeId: node.nodeId,
    name: node.name,
    properties,
    version,
    accelerator: await accelerator(properties, options, facilities),
    drives: disks,
    adapters: facts.flatMap((fact, index) => (ports[index] ? [{ ...fact, port: ports[index] }] : [])),
    cdrom: files[0],
    bios: files[1],
    kernel: files[2],
    initrd: files[3],
    uefi,
    tpmSocket: swtpm === undefined ? undefined : tpmSocket(node),
    console: node.console,
    sockets: places,
    pidFile: places.pidFile,
    consoleLog: places.consoleLog,
    sandbox: await sandbox(program, facilities),
    savedState: disks.some((disk) => disk.hasSavedState) ? savedStateName : undefined,
    options,
  };
  return { plan, disks, cpulimit, swtpm };
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
  if (properties.legacy_networking && atLeast(version, 2, 9)) {
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

async function disksOf(
  node: NodeView,
  properties: QemuProperties,
  images: ImageFolder,
  { binaries, rawDisks }: QemuFacilities,
): Promise<Disk[]> {
  const { hda_disk_image, hdb_disk_image, hdc_disk_image, hdd_disk_image, create_config_disk } = properties;
  if (!create_config_disk && `${hda_disk_image}${hdb_disk_image}${hdc_disk_image}${hdd_disk_image}` === '') return [];
  const img = await imgFor(properties.qemu_path, binaries);
  const disks = await prepareDisks({ ...diskNode(node), properties }, { images, img, binaries, rawDisks });
  const isRestored = properties.on_close === 'save_vm_state';
  if (isRestored) return disks;
  // A state that is older than what happened since must never come back.
  for (const disk of disks) if (disk.hasSavedState) await img.deleteSnapshot(disk.file, savedStateName);
  return disks.map((disk) => ({ ...disk, hasSavedState: false }));
}

export function diskNode(node: Pick<NodeView, 'directory' | 'projectDirectory' | 'name' | 'warn'>) {
  const { directory, projectDirectory, name } = node;
  return { directory, projectDirectory, name, warn: (message: string) => node.warn(message) };
}

/** @throws qemu_binary_missing */
export async function imgFor(emulator: string, binaries: Binaries): Promise<QemuImg> {
  const program = await binaries.imgFor(emulator);
  if (program !== undefined) return new QemuImg(program);
  throw fault('qemu_binary_missing', { path: 'qemu-img', package: 'qemu-utils', known: 'none is installed' });
}

async function sandbox(program: string, { host, sandboxes }: QemuFacilities): Promise<string | undefined> {
  if (!host.settings.Qemu.sandbox) return undefined;
  return (await sandboxes.isUsable(program)) ? sandboxValue : undefined;
}

/** @throws qemu_failed when acceleration is required and there is none */
async function accelerator(
  properties: QemuProperties,
  options: readonly string[],
  facilities: QemuFacilities,
): Promise<'kvm' | 'tcg' | undefined> {
  if (chosenAccelerator(options) !== undefined) return undefined;
  const { enable_hardware_acceleration, require_hardware_acceleration, acceleration } = facilities.host.settings.Qemu;
  const refuse = (reason: string): 'tcg' => {
    if (!require_hardware_acceleration) return 'tcg';
    const cure = 'or set require_hardware_acceleration = False in [Qemu]';
    throw fault('qemu_failed', { reason: `Hardware acceleration is required, but ${reason}: choose another emulator, ${cure}` });
  };
  if (!enable_hardware_acceleration || acceleration === 'off') return refuse('it is switched off in the configuration');
  if (!nativePlatforms().includes(properties.platform)) return refuse(`${properties.platform} is not this machine’s architecture`);
  if (acceleration === 'on') return 'kvm';
  const verdict = await facilities.acceleration.verdict();
  return verdict.usable ? 'kvm' : refuse(verdict.reason);
}

/** Firmware and the node's own copy of its variables. @throws qemu_failed with what to install */
async function uefiFiles(
  node: NodeView,
  images: ImageFolder,
  firmwareFolder: string,
): Promise<{ code: string; variables: string }> {
  // Nodes made with the older, smaller firmware keep it: their variables do not fit the newer one.
  const isOld = await isFile(join(node.directory, 'OVMF_VARS.fd'));
  const [codeName, variablesName] = isOld ? ['OVMF_CODE.fd', 'OVMF_VARS.fd'] : ['OVMF_CODE_4M.fd', 'OVMF_VARS_4M.fd'];
  const find = async (name: string) => {
    const installed = join(firmwareFolder, name);
    if (await isFile(installed)) return installed;
    const uploaded = await images.resolve(name, node.projectDirectory).catch(() => undefined);
    if (uploaded !== undefined) return uploaded;
    throw fault('qemu_failed', {
      reason: `UEFI needs the firmware ${name}: install ovmf, upload it as an image, or set uefi to false`,
    });
  };
  const code = await find(codeName);
  const variables = join(node.directory, variablesName);
  if (!(await isFile(variables))) await copyFile(await find(variablesName), variables);
  return { code, variables };
}

/** Where the emulator is, checked again: it may have been removed since the node was made. @throws qemu_binary_missing */
export async function requireEmulator(properties: QemuProperties, { host, binaries }: QemuFacilities): Promise<string> {
  const found = await findAllowed(properties.qemu_path, { binaries, settings: host.settings });
  if (found !== undefined) return found;
  // The same program elsewhere will do: the node may come from another machine.
  const elsewhere = await binaries.findEmulator(basename(properties.qemu_path), true);
  if (elsewhere !== undefined) return elsewhere;
  throw await missing(properties.qemu_path, binaries);
}

async function sequence<T>(steps: readonly (() => T | Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const step of steps) results.push(await step());
  return results;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
