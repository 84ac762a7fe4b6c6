/** Offer of a running machine, and the checks that the machine that continues it matches. */
import { basename } from 'node:path';
import { fault } from '../../../api/faults.ts';
import type { MoveOffer } from '../../../schema/move.ts';
import type { NodeView, Properties } from '../../driver.ts';
import { checksumOf } from '../../host/file-checksum.ts';
import type { Host } from '../../host/host.ts';
import { comparableArguments, findDifference, hostCpu, type MachineFacts } from '../memory/facts.ts';
import { findObstacle, inspect } from '../memory/inspect.ts';
import type { Monitor } from '../monitor.ts';
import { escapeCommas } from '../options.ts';
import { pieces } from '../options-rules.ts';
import { asQemu, slots } from '../properties.ts';
import type { QemuRecord } from '../record.ts';

export interface RunningMachine {
  readonly node: NodeView;
  readonly host: Host;
  readonly record: QemuRecord;
  readonly monitor: Monitor;
}

/** @returns the reason, for people, where it cannot be moved. @throws qemu_failed */
export async function offerOf({ node, host, record, monitor }: RunningMachine): Promise<MoveOffer | string> {
  const ofTpm = record.tpm && 'the state of its TPM cannot be moved';
  const obstacle = ofTpm ?? findObstacle(record) ?? findDiskObstacle(node);
  if (obstacle !== undefined) return obstacle;
  const inspected = await inspect(monitor, record, node);
  if (typeof inspected === 'string') return inspected;
  const { facts, driveBytes } = inspected;
  const { qemu: release, ...rest } = facts;
  if (facts.suspended) return 'it is paused: resume it, or stop it';
  const args = record.args ?? [];
  const drives = [...driveBytes].flatMap(([name, bytes]) => (/^drive[0-3]$/.test(name) ? [{ name, bytes }] : []));
  const machine = { ...rest, release, arguments: portableArguments(args, node) };
  return { machine, drives, images: await imagesOf(args, node, host) };
}

/** Facts of the source machine, which runs until the move ends. */
export function factsOf({ machine: { release, ...rest } }: MoveOffer): MachineFacts {
  return { ...rest, qemu: release };
}

/** Disks that are no linked clones are images, which other nodes may use. */
function findDiskObstacle({ properties }: NodeView): string | undefined {
  const qemu = asQemu(properties);
  if (qemu.create_config_disk) return 'it has a disk for its configuration';
  return findSharedDisk(properties);
}

/** Why its disks are those of other nodes, too, for people. */
export function findSharedDisk(properties: Properties): string | undefined {
  const qemu = asQemu(properties);
  const hasDisks = slots.some((slot) => qemu[`${slot}_disk_image`] !== '');
  return hasDisks && !qemu.linked_clone ? 'its disks are images themselves, and no linked clones' : undefined;
}

/** @throws move_refused when the machine that would start here is another one */
export async function requireOffered(
  offer: MoveOffer,
  now: Pick<MachineFacts, 'qemu' | 'arguments'> & { readonly accelerator: 'kvm' | 'tcg' | undefined },
  { node, host }: Pick<RunningMachine, 'node' | 'host'>,
): Promise<void> {
  const { accelerator, arguments: args, qemu } = now;
  const machine = factsOf(offer);
  const refuse = (reason: string) => fault('move_refused', { name: node.name, reason });
  const cpu = await hostCpu(machine.accelerator);
  const present = { qemu, cpu, arguments: portableArguments(args, node), ...(accelerator && { accelerator }) };
  const difference = findDifference(machine, present);
  if (difference !== undefined) throw refuse(difference.replace('it was saved', 'it runs'));
  const here = new Map((await imagesOf(args, node, host)).map(({ path, checksum }) => [path, checksum]));
  const other = offer.images.find(({ path, checksum }) => here.get(path) !== checksum);
  if (other) throw refuse(`the file ${other.path} is another one on the other compute: its checksum differs`);
}

/** Images are named by their base names: each compute has folders of its own. */
function portableArguments(args: readonly string[], node: NodeView): string[] {
  const paths = imagePaths(args, node);
  const bare = (word: string) =>
    paths.reduce((text, path) => {
      const name = () => basename(path);
      return text.replaceAll(escapeCommas(path), name).replaceAll(path, name);
    }, word);
  return comparableArguments(args.map(bare), node);
}

async function imagesOf(args: readonly string[], node: NodeView, host: Host): Promise<{ path: string; checksum: string }[]> {
  const folders = host.settings.Server.images_path;
  const sum = async (path: string) => {
    // Sums of images are kept beside them; of what is not ours, nothing is written.
    if (path.startsWith(`${folders}/`)) return (await host.images.checksums.get(path)) ?? '';
    return checksumOf(path).catch(() => '');
  };
  return Promise.all(imagePaths(args, node).map(async (path) => ({ path: basename(path), checksum: await sum(path) })));
}

const fileOptions = new Set(['-kernel', '-initrd', '-bios']);

/** Files that the machine reads, and that are not its own; longer paths first. */
function imagePaths(args: readonly string[], { directory }: Pick<NodeView, 'directory'>): string[] {
  const found = args.flatMap((word, at) => {
    const option = args[at - 1] ?? '';
    if (fileOptions.has(option)) return [word];
    if (option !== '-drive') return [];
    return pieces(word).flatMap(({ key, value = '' }) => (/(?:^|\.)file(?:name)?$/.test(key) ? [value] : []));
  });
  const foreign = found.filter((path) => path.startsWith('/') && !path.startsWith(`${directory}/`));
  return [...new Set(foreign)].sort((one, other) => other.length - one.length);
}
