/**
 * The saved memory of a machine: a folder with the guest's RAM as a file, the state of its devices, and a manifest with checksums of both
 * and with what the machine was. The manifest is written last, so a folder without one is incomplete. It is signed with a key of this
 * server: QEMU trusts what it restores, and a folder of a project can come from any source.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../../lib/atomic-file.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { checksumOf } from '../../host/file-checksum.ts';
import type { MachineFacts } from './facts.ts';
import type { VerifiedFiles } from './verified-files.ts';

interface Manifest {
  /** Version of the manifest format. */
  readonly version: 1;
  readonly facts: MachineFacts;
  readonly ram: FileFacts;
  readonly state: FileFacts;
}

interface FileFacts {
  readonly bytes: number;
  /** Result of `checksumOf`. */
  readonly checksum: string;
}

/** Places in the folder. */
export function memoryFiles(folder: string) {
  return { ram: join(folder, 'ram'), state: join(folder, 'state'), manifest: join(folder, 'manifest.json') };
}

const largestManifest = 1 << 20;

/** @throws what the disk says */
export async function writeManifest(folder: string, key: Uint8Array, facts: MachineFacts): Promise<void> {
  const { ram, state, manifest } = memoryFiles(folder);
  const content: Manifest = { version: 1, facts, ram: await factsOf(ram), state: await factsOf(state) };
  const text = JSON.stringify(content);
  await writeFileAtomic(manifest, JSON.stringify({ signature: sign(text, key), content: text }), 0o600);
}

/** Undefined when there is no complete memory. @throws memory_refused for one of another server, or a damaged one */
export async function readManifest(folder: string, key: Uint8Array, name: string): Promise<Manifest | undefined> {
  const refuse = (reason: string) => fault('memory_refused', { name, reason });
  const text = await readRegularFile(memoryFiles(folder).manifest, largestManifest).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw refuse(error.message);
  });
  if (text === undefined) return undefined;
  const { signature, content } = parsed(String(text));
  if (!isSame(sign(content, key), signature)) throw refuse('it was saved by another server, or its manifest is damaged');
  return JSON.parse(content) as Manifest;
}

/** Reads both files, the RAM in a thread and only where it was not verified before. @throws memory_refused */
export async function verifyFiles(
  folder: string,
  manifest: Manifest,
  { name, verified }: { readonly name: string; readonly verified: VerifiedFiles },
): Promise<void> {
  const { ram, state } = memoryFiles(folder);
  if (!(await isUnchanged(state, manifest.state))) throw damaged(state, name);
  if (await verified.has(ram).catch(() => false)) return;
  if (!(await isUnchanged(ram, manifest.ram))) throw damaged(ram, name);
  await verified.add(ram);
}

/**
 * Verifies a saved memory fast enough for a start. The state of the devices, which QEMU trusts, is read again. Of the RAM, which the guest
 * could fill as it likes, only the size is checked. @throws memory_refused
 */
export async function verifyState(folder: string, manifest: Manifest, name: string): Promise<void> {
  const { ram, state } = memoryFiles(folder);
  const bytes = await sizeOf(ram).catch(() => undefined);
  if (bytes !== manifest.ram.bytes) throw damaged(ram, name);
  if (!(await isUnchanged(state, manifest.state))) throw damaged(state, name);
}

async function isUnchanged(path: string, { bytes, checksum }: FileFacts): Promise<boolean> {
  const found = await factsOf(path).catch(() => undefined);
  return found?.bytes === bytes && found.checksum === checksum;
}

function damaged(path: string, name: string): Error {
  return fault('memory_refused', { name, reason: `${path} is damaged` });
}

/** Removes the manifest, so that the memory cannot be restored again: the guest is about to write to its disks. */
export async function consume(folder: string): Promise<void> {
  await rm(memoryFiles(folder).manifest, { force: true });
  await syncFolder(folder);
}

async function factsOf(path: string): Promise<FileFacts> {
  return { bytes: await sizeOf(path), checksum: await checksumOf(path) };
}

/** @throws for anything but a regular file: what a link leads to could be changed after it was checked */
async function sizeOf(path: string): Promise<number> {
  const facts = await lstat(path);
  if (!facts.isFile()) throw new Error(`${path} is not a regular file`);
  return facts.size;
}

function sign(text: string, key: Uint8Array): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function parsed(text: string): { signature: string; content: string } {
  try {
    const { signature, content } = JSON.parse(text) as { signature?: unknown; content?: unknown };
    return { signature: String(signature), content: String(content) };
  } catch {
    return { signature: '', content: '' };
  }
}
