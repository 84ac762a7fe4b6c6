/**
 * A node's disks before it starts: overlays ("linked clones") are made, found again and checked; images that other nodes share
 * are only read.
 */
import { realpath, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import type { ImageFolder } from '../host/images.ts';
import type { Binaries } from './binaries.ts';
import { ConfigDisk } from './config-disk.ts';
import type { Drive } from './drives.ts';
import { type ChainPlaces, foldersFor, isInPlace, readChain, readLink } from './image-chain.ts';
import { type QemuProperties, type Slot, slots } from './properties.ts';
import type { QemuImg } from './qemu-img.ts';
import type { RawDisks } from './raw-disks.ts';

/** Name of the state that `on_close: save_vm_state` saves; GNS3's, so that states saved before are found. */
export const savedStateName = 'GNS3_SAVED_STATE';

export interface DiskNode {
  readonly directory: string;
  readonly projectDirectory: string;
  readonly name: string;
  readonly properties: QemuProperties;
  warn(message: string): void;
}

export interface Disk extends Drive {
  readonly slot: Slot;
  /** Holds a state saved by us. */
  readonly hasSavedState: boolean;
}

interface DiskTools {
  readonly images: ImageFolder;
  readonly img: QemuImg;
  readonly binaries: Pick<Binaries, 'inPath'>;
  readonly rawDisks: RawDisks;
  readonly tools: ConfinedTools;
}

/** Finds or makes every disk of the node. @throws image_missing, image_not_allowed, image_refused, qemu_failed */
export async function prepareDisks(node: DiskNode, tools: DiskTools): Promise<Disk[]> {
  const disks: Disk[] = [];
  for (const slot of slots) {
    const disk = await prepareDisk(node, slot, tools);
    if (disk !== undefined) disks.push(disk);
  }
  return disks;
}

/** Prepares the disk of a slot; undefined when the slot is empty. */
export async function prepareDisk(node: DiskNode, slot: Slot, tools: DiskTools): Promise<Disk | undefined> {
  const { properties } = node;
  if (slot === 'hdd' && properties.create_config_disk) {
    const config = await configDisk(node, tools);
    if (config !== undefined) return config;
  }
  const reference = properties[`${slot}_disk_image`];
  if (reference === '') return undefined;
  const base = await tools.images.resolve(reference, node.projectDirectory);
  const folders = await foldersFor(tools.images.folders(node.projectDirectory), node.projectDirectory, base);
  const places = { folders, rawDisks: tools.rawDisks };
  const file = properties.linked_clone ? await prepareOverlay(node, slot, base, { ...tools, places }) : base;
  const { image, backing } = await readChain(file, places);
  if (!properties.linked_clone && image.format === 'raw') await tools.rawDisks.add(file);
  const { snapshots } = await tools.img.info(file, image.format);
  const bus = properties[`${slot}_disk_interface`];
  const hasSavedState = snapshots.includes(savedStateName);
  return { slot, index: slots.indexOf(slot), ...image, backing, interface: bus, hasSavedState };
}

async function prepareOverlay(
  node: DiskNode,
  slot: Slot,
  base: string,
  { img, places }: DiskTools & { places: ChainPlaces },
): Promise<string> {
  const overlay = join(node.directory, `${slot}_disk.qcow2`);
  const { format } = (await readChain(base, places)).image;
  const create = async () => img.createOverlay(overlay, base, await img.info(base, format));
  if (!(await exists(overlay))) {
    await create();
    return overlay;
  }
  const refuse = (reason: string) => fault('image_refused', { image: overlay, reason });
  if (!(await isReallyBelow(node.directory, overlay)))
    throw refuse('it is a symbolic link that points outside the folder of the node');
  const { format: mine, reference } = await readLink(overlay, places.rawDisks);
  if (mine !== 'qcow2') throw refuse('a disk of a linked clone is qcow2');
  if (reference === undefined || reference.keySecret !== undefined) return overlay;
  if (await sameFile(reference.path, base)) {
    // Old versions of GNS3 did not write it down.
    if (reference.format === undefined) await img.moveBase(overlay, base, format);
    return overlay;
  }
  if (await isInPlace(reference.path, places.folders)) {
    // Another image was chosen. What was written on top of the old one makes no sense on the new one, but it is not ours to delete.
    const aside = await freeName(`${overlay}.old`);
    await rename(overlay, aside);
    node.warn(`${node.name}: disk ${slot} has another image now; what was written to the old one is kept in ${aside}`);
    await create();
    return overlay;
  }
  const [own, found] = [await img.info(overlay, 'qcow2'), await img.info(base, format)];
  const isLikely = format === (reference.format ?? format) && found.virtualSize <= own.virtualSize;
  if (!isLikely) {
    throw fault('qemu_failed', {
      reason: `Disk ${slot} of ${node.name} was made from "${reference.path}", which is gone or none of the images here, and "${base}" is another image (${format}, ${found.virtualSize} bytes): put the old image back, or delete "${overlay}"`,
    });
  }
  await img.moveBase(overlay, base, format);
  return overlay;
}

/** A small disk for start-up configurations, from the template of the image folder if it has one. */
async function configDisk(node: DiskNode, { images, binaries, tools }: DiskTools): Promise<Disk | undefined> {
  const { hda_disk_interface, hdd_disk_interface, hdd_disk_image } = node.properties;
  const find = (reference: string) => images.resolve(reference, node.projectDirectory).catch(() => undefined);
  const disk = new ConfigDisk(node, binaries, tools);
  const zip = hdd_disk_image.endsWith('.zip') ? await find(hdd_disk_image) : undefined;
  if (!(await disk.prepare(await find('config.img'), zip))) return undefined;
  const bus = hdd_disk_interface === 'none' ? hda_disk_interface : hdd_disk_interface;
  return {
    slot: 'hdd',
    index: 3,
    file: disk.file,
    format: 'raw',
    backing: [],
    interface: bus === 'none' ? 'ide' : bus,
    hasSavedState: false,
  };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function sameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => path)));
  return a === b;
}

async function freeName(path: string): Promise<string> {
  let name = path;
  for (let count = 2; await exists(name); count++) name = `${path}${count}`;
  return name;
}
