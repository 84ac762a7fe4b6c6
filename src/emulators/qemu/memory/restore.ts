/** A machine that continues where its memory was saved: found in the node's folder, checked, and restored once. */
import { join } from 'node:path';
import { fault, isFault } from '../../../api/faults.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { memorySourceName, savedMemoryName } from '../../../schema/folders.ts';
import type { NodeView } from '../../driver.ts';
import type { Monitor } from '../monitor.ts';
import { comparableArguments, findDifference, hostCpu, type MachineFacts, macsOf } from './facts.ts';
import type { MemoryKey } from './key.ts';
import { consume, memoryFiles, readManifest, verifyFiles, verifyState } from './manifest.ts';
import { ignoreShared, migrated } from './migration.ts';
import { sendFile } from './stream-socket.ts';
import type { VerifiedFiles } from './verified-files.ts';

/** A machine that another process of QEMU continues. */
export interface ContinuedMachine {
  readonly facts: MachineFacts;
  /** Undefined: its memory comes over a socket. */
  readonly folder?: string;
  /** Addresses of its cards, where they are not those of the node that continues it. */
  readonly macs?: readonly string[];
}

/** Characters of a template's name. */
const largestSource = 1 << 16;

/** Saved memory from which a machine continues. */
export interface SavedMemory extends ContinuedMachine {
  readonly folder: string;
  /** Name of the template that it comes from: then a node that cannot continue from it starts cold. */
  readonly source?: string;
}

/**
 * Finds the memory saved for the next start of a node; undefined when there is none, or an unusable one of a template. @throws
 * memory_refused
 */
export async function findSavedMemory(node: NodeView, key: MemoryKey): Promise<SavedMemory | undefined> {
  const { name, directory } = node;
  const folder = join(directory, savedMemoryName);
  const source = await sourceOf(folder);
  const found = await orCold(node, { folder, source }, async () => {
    const manifest = await readManifest(folder, await key.get(), name);
    if (manifest === undefined) return undefined;
    await verifyState(folder, manifest, name);
    return manifest.facts;
  });
  return found && { folder, facts: found, ...(source !== undefined && { source, macs: macsOf(found) }) };
}

async function sourceOf(folder: string): Promise<string | undefined> {
  const text = await readRegularFile(join(folder, memorySourceName), largestSource).catch(() => undefined);
  return text && String(text);
}

/** Memory of a template that is refused is discarded, with a warning. @throws memory_refused for other memory, and what `fn` throws */
async function orCold<T>(
  node: NodeView,
  { folder, source }: { readonly folder: string; readonly source?: string | undefined },
  fn: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await fn();
  } catch (error) {
    if (source === undefined || !isFault(error, 'memory_refused')) throw error;
    node.warn(`${node.name} starts cold. ${error.message}`);
    await removeTree(folder);
    return undefined;
  }
}

interface MemoryCheck {
  readonly key: MemoryKey;
  /** Name of the node. */
  readonly name: string;
  readonly findSeries: (program: string) => Promise<string>;
  readonly verified: VerifiedFiles;
}

/** Checks a folder as a whole, the machine as far as it is known before it starts. @throws memory_refused */
export async function checkSavedMemory(folder: string, { key, name, findSeries, verified }: MemoryCheck): Promise<void> {
  const manifest = await readManifest(folder, await key.get(), name);
  if (manifest === undefined) throw fault('memory_refused', { name, reason: 'it is incomplete' });
  const { accelerator, program } = manifest.facts;
  const qemu = await findSeries(program);
  const difference = findDifference(manifest.facts, { qemu, cpu: await hostCpu(accelerator) });
  if (difference !== undefined) throw fault('memory_refused', { name, reason: difference });
  await verifyFiles(folder, manifest, { name, verified });
}

/** Whether the machine that would start is the one that was saved: of memory of a template. @throws memory_refused for other memory */
export async function isSameMachine(
  saved: SavedMemory,
  node: NodeView,
  now: { readonly qemu: string; readonly accelerator: 'kvm' | 'tcg' | undefined; readonly args: readonly string[] },
): Promise<boolean> {
  const { facts } = saved;
  const { qemu, accelerator, args } = now;
  const present = { qemu, cpu: await hostCpu(facts.accelerator), arguments: comparableArguments(args, node) };
  const difference = findDifference(facts, { ...present, ...(accelerator && { accelerator }) });
  const same = await orCold(node, saved, async () => {
    if (difference !== undefined) throw fault('memory_refused', { name: node.name, reason: difference });
    return true;
  });
  return same === true;
}

/** Warns of a machine that continues with another node's addresses. Its own are those of its next cold start. */
export function warnOfAddresses({ source, macs = [] }: SavedMemory, node: NodeView, own: readonly string[]): void {
  if (source === undefined || macs.every((mac, index) => mac === own[index])) return;
  const [kept, wanted] = [macs, own].map((all) => all.join(', '));
  node.warn(
    `${node.name} continues from the memory of ${source}, with the addresses of its network cards: ${kept}. Before two such nodes share a network, set the node's own in the guest, or stop and start it: ${wanted}`,
  );
}

/** The machine waits for its state (`-incoming defer -S`); afterwards it is paused. @throws qemu_failed */
export async function restoreMemory(monitor: Monitor, saved: SavedMemory, runtimeDirectory: string): Promise<void> {
  const { folder, source } = saved;
  try {
    await restoreFrom(monitor, folder, runtimeDirectory);
  } catch (error) {
    // The next start is a cold one.
    if (source !== undefined) await removeTree(folder);
    throw error;
  }
}

async function restoreFrom(monitor: Monitor, folder: string, runtimeDirectory: string): Promise<void> {
  const socket = join(runtimeDirectory, 'in');
  await ignoreShared(monitor, true);
  // Announcements are off, because the neighbours have not seen the machine move. By default each card broadcasts its address five times.
  await monitor.execute('migrate-set-parameters', { 'announce-rounds': 0 });
  await monitor.execute('migrate-incoming', { uri: `unix:${socket}` });
  await sendFile(memoryFiles(folder).state, socket);
  await migrated(monitor);
}

/**
 * Discards restored memory before the guest runs, and after the compute has noted the machine: a server that dies before finds the memory
 * or the machine. Its pages stay mapped, and the space on the disk is free when the machine ends.
 */
export async function discardRestored({ folder }: SavedMemory): Promise<void> {
  await consume(folder);
  await removeTree(folder);
}
