/**
 * Start-up and private configuration between the text files of a node's folder and its NVRAM: into it before a start, out of it when the
 * image has written it.
 */
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { LzwError } from './lzw.ts';
import { readNodeFile, writeNodeFile } from './node-files.ts';
import { type NvramConfigs, NvramError, readNvram, writeNvram } from './nvram.ts';

export const configFiles = ['startup-config.cfg', 'private-config.cfg'] as const;
const [startupFile, privateFile] = configFiles;
/** Files that the image names after its id: prefix and five digits. */
const prefixes = ['nvram_', 'vlan.dat-'] as const;
const maxConfigBytes = 4 * 1024 * 1024;
/** KiB; IOS images have some hundred. */
export const mostNvram = 16 * 1024;
const maxNvramBytes = mostNvram * 1024;

const numbered = (prefix: string, id: number) => `${prefix}${String(id).padStart(5, '0')}`;
/** Names of the files in which the image of an id keeps its configuration and its VLANs. */
export const numberedFiles = (id: number) => prefixes.map((prefix) => numbered(prefix, id));
export const nvramFile = (directory: string, id: number) => join(directory, numbered('nvram_', id));

interface NvramFacts {
  /** The number of the image. */
  readonly application_id: number;
  /** KiB. */
  readonly nvram: number;
}

/** Makes the NVRAM what the configuration files say. @throws iou_failed when they do not fit */
export async function importConfigs(directory: string, { application_id, nvram }: NvramFacts): Promise<void> {
  await takeOverNumbers(directory, application_id);
  const path = nvramFile(directory, application_id);
  const [startup, secret] = await Promise.all(configFiles.map((name) => readNodeFile(join(directory, name), maxConfigBytes)));
  if (!startup?.length) return;
  const found = await readNodeFile(path, maxNvramBytes);
  // No IOS has written an empty one yet.
  const old = found?.length ? found : undefined;
  try {
    const before = old && readConfigs(old);
    if (before?.startup?.equals(startup) && (secret === undefined || before.private?.equals(secret))) return;
    const configs = { startup, private: secret ?? before?.private };
    const size = nvram * 1024;
    await writeNodeFile(path, writeNvram(configs, { size, old: before && old }));
    // VLANs are part of the configuration that was replaced.
    if (before?.startup !== undefined) await rm(join(directory, numbered('vlan.dat-', application_id)), { force: true });
  } catch (cause) {
    if (!(cause instanceof NvramError)) throw cause;
    throw fault('iou_failed', { reason: `The configuration does not fit the NVRAM: ${cause.message}. Raise nvram` }, { cause });
  }
}

/** Undefined for an NVRAM that cannot be read: it is made anew. */
function readConfigs(bytes: Buffer): NvramConfigs | undefined {
  try {
    return readNvram(bytes);
  } catch (error) {
    if (error instanceof NvramError || error instanceof LzwError) return undefined;
    throw error;
  }
}

/**
 * Writes the configurations of the NVRAM to the text files. An empty one never replaces a file; with `keepsNewer` none replaces a file that
 * is newer than the NVRAM. @returns the names of those that changed
 */
export async function exportConfigs(
  directory: string,
  id: number,
  { keepsNewer = false }: { readonly keepsNewer?: boolean } = {},
): Promise<string[]> {
  const savedMs = keepsNewer ? await changedAt(nvramFile(directory, id)) : Number.POSITIVE_INFINITY;
  const bytes = await readNodeFile(nvramFile(directory, id), maxNvramBytes);
  if (bytes === undefined) return [];
  const configs = readNvram(bytes);
  const changed: string[] = [];
  for (const [name, content] of [
    [startupFile, configs.startup],
    [privateFile, configs.private],
  ] as const) {
    if (!content?.length) continue;
    const path = join(directory, name);
    if ((await changedAt(path)) > savedMs) continue;
    if ((await readNodeFile(path, maxConfigBytes))?.equals(content)) continue;
    await writeNodeFile(path, content);
    changed.push(name);
  }
  return changed;
}

/** Ms; 0: it is not there. */
async function changedAt(path: string): Promise<number> {
  return (await lstat(path).catch(() => undefined))?.mtimeMs ?? 0;
}

/** A copy of a node, and one from another project, has files with the number of the other node. */
async function takeOverNumbers(directory: string, id: number): Promise<void> {
  const names = await readdir(directory);
  for (const prefix of prefixes) {
    const own = numbered(prefix, id);
    if (names.includes(own)) continue;
    const other = names.find((name) => name.startsWith(prefix) && /^\d{5}$/.test(name.slice(prefix.length)));
    if (other !== undefined) await rename(join(directory, other), join(directory, own));
  }
}
