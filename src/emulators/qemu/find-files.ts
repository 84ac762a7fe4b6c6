/** The second step of a start: the files of a machine, found or made. */
import { constants } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { clearPlace } from '../../process/open-log.ts';
import type { NodeView } from '../driver.ts';
import type { ImageFolder } from '../host/images.ts';
import type { Plan } from './command.ts';
import { type Disk, prepareDisks, savedStateName } from './disks.ts';
import type { QemuFacilities } from './facilities.ts';
import { qemuImages } from './kind.ts';
import { placesOf } from './places.ts';
import type { QemuProperties } from './properties.ts';
import { QemuImg } from './qemu-img.ts';

export interface MachineFiles extends Pick<Plan, 'cdrom' | 'bios' | 'kernel' | 'initrd' | 'uefi'> {
  readonly disks: readonly Disk[];
}

/** @throws faults of the table, with what to do */
export async function findFiles(
  node: NodeView,
  { properties }: { readonly properties: QemuProperties },
  facilities: QemuFacilities,
): Promise<MachineFiles> {
  await clearPlace(placesOf(node).consoleLog);
  const images = facilities.host.images.of(qemuImages);
  const image = async (reference: string) => (reference === '' ? undefined : images.resolve(reference, node.projectDirectory));
  const cdrom = await image(properties.cdrom_image);
  const bios = await image(properties.bios_image);
  const kernel = await image(properties.kernel_image);
  const initrd = await image(properties.initrd);
  // QEMU reads several modules from one value, separated by commas, for kernels that take them.
  if (initrd?.includes(','))
    throw fault('image_refused', { image: properties.initrd, reason: 'its path holds a comma: rename it' });
  const uefi = properties.uefi ? await uefiFiles(node, images, facilities.firmwareFolder) : undefined;
  const disks = await disksOf(node, properties, images, facilities);
  return { cdrom, bios, kernel, initrd, uefi, disks };
}

async function disksOf(
  node: NodeView,
  properties: QemuProperties,
  images: ImageFolder,
  { binaries, rawDisks, tools }: QemuFacilities,
): Promise<Disk[]> {
  const { hda_disk_image, hdb_disk_image, hdc_disk_image, hdd_disk_image, create_config_disk } = properties;
  if (!create_config_disk && `${hda_disk_image}${hdb_disk_image}${hdc_disk_image}${hdd_disk_image}` === '') return [];
  const img = await imgFor(properties.qemu_path, { binaries, tools });
  const disks = await prepareDisks({ ...diskNode(node), properties }, { images, img, binaries, rawDisks, tools });
  const isRestored = properties.on_close === 'save_vm_state';
  if (isRestored) return disks;
  // A state that is older than what happened since must never come back.
  for (const disk of disks) if (disk.hasSavedState) await img.deleteSnapshot(disk, savedStateName);
  return disks.map((disk) => ({ ...disk, hasSavedState: false }));
}

export function diskNode(node: Pick<NodeView, 'directory' | 'projectDirectory' | 'name' | 'warn'>) {
  const { directory, projectDirectory, name } = node;
  return { directory, projectDirectory, name, warn: (message: string) => node.warn(message) };
}

/** @throws qemu_binary_missing */
export async function imgFor(emulator: string, { binaries, tools }: Pick<QemuFacilities, 'binaries' | 'tools'>): Promise<QemuImg> {
  const program = await binaries.imgFor(emulator);
  if (program !== undefined) return new QemuImg(program, tools);
  throw fault('qemu_binary_missing', { path: 'qemu-img', package: 'qemu-utils', known: 'none is installed' });
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
  if (!(await isFile(variables))) {
    // An emulator may have put a link in its place, through which root would write.
    await clearPlace(variables);
    await copyFile(await find(variablesName), variables, constants.COPYFILE_EXCL);
  }
  return { code, variables };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
