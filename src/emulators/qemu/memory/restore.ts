/** A machine that continues where its memory was saved: found in the node's folder, checked, and restored once. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { savedMemoryName } from '../../../schema/folders.ts';
import type { NodeView } from '../../driver.ts';
import type { Monitor } from '../monitor.ts';
import { comparableArguments, findDifference, hostCpu, type MachineFacts } from './facts.ts';
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
}

/** From which a machine continues. */
export interface SavedMemory extends ContinuedMachine {
  readonly folder: string;
}

/** What was saved for the next start of a node; undefined when there is nothing. @throws memory_refused */
export async function findSavedMemory(
  { directory, name }: Pick<NodeView, 'directory' | 'name'>,
  key: MemoryKey,
): Promise<SavedMemory | undefined> {
  const folder = join(directory, savedMemoryName);
  const manifest = await readManifest(folder, await key.get(), name);
  if (manifest === undefined) return undefined;
  await verifyState(folder, manifest, name);
  return { folder, facts: manifest.facts };
}

export interface MemoryCheck {
  readonly key: MemoryKey;
  /** Of the node. */
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

/** @throws memory_refused when the machine that would start is another one */
export async function requireSame(
  { facts }: SavedMemory,
  node: NodeView,
  now: { readonly qemu: string; readonly accelerator: 'kvm' | 'tcg' | undefined; readonly args: readonly string[] },
): Promise<void> {
  const { qemu, accelerator, args } = now;
  const present = { qemu, cpu: await hostCpu(facts.accelerator), arguments: comparableArguments(args, node) };
  const difference = findDifference(facts, { ...present, ...(accelerator && { accelerator }) });
  if (difference !== undefined) throw fault('memory_refused', { name: node.name, reason: difference });
}

/** The machine waits for its state (`-incoming defer -S`); afterwards it is paused. @throws qemu_failed */
export async function restoreMemory(monitor: Monitor, { folder }: SavedMemory, runtimeDirectory: string): Promise<void> {
  const socket = join(runtimeDirectory, 'in');
  await ignoreShared(monitor, true);
  // Its neighbours have not seen it move: otherwise each card broadcasts its address five times.
  await monitor.execute('migrate-set-parameters', { 'announce-rounds': 0 });
  await monitor.execute('migrate-incoming', { uri: `unix:${socket}` });
  await sendFile(memoryFiles(folder).state, socket);
  await migrated(monitor);
  await consume(folder);
  // Its pages stay mapped, and the space on the disk is free when the machine ends.
  await rm(folder, { recursive: true, force: true });
}
