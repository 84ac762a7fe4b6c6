/** Selects the emulator of a node from the path and the architecture that a client gave. */
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Properties } from '../driver.ts';
import type { Binaries } from './binaries.ts';
import { hostPlatform, isEmulatorName, isPlatform, type Platform, packageOf, platformOfBinary } from './platforms.ts';

export interface Selection {
  readonly qemu_path: string;
  readonly platform: Platform;
}

interface Where {
  readonly binaries: Binaries;
  readonly settings: Pick<Settings, 'Server'>;
}

/**
 * An emulator that a node names. A server that is not local runs only what is in PATH; none runs what lies among projects and images, where
 * imports and uploads go.
 */
export async function findAllowed(path: string, { binaries, settings: { Server } }: Where): Promise<string | undefined> {
  const found = await binaries.findEmulator(path, !Server.local);
  if (found === undefined) return undefined;
  for (const folder of [Server.projects_path, Server.images_path]) if (await isReallyBelow(folder, found)) return undefined;
  return found;
}

/**
 * The emulator of a new node: the given path; where that is not found the architecture's, without one that of the same file name in
 * PATH (projects travel between machines); with neither given the one of the host's architecture. The architecture is always what the
 * file's name says.
 * @throws qemu_binary_missing, qemu_failed
 */
export async function selectEmulator(input: Properties, where: Where): Promise<Selection> {
  const path = wanted(input.qemu_path);
  const platform = wantedPlatform(input.platform);
  if (path === undefined) return selectPlatform(platform ?? hostPlatform(), where.binaries);
  const given = await findAllowed(path, where);
  if (given !== undefined) return selectionOf(given);
  if (!isEmulatorName(basename(path))) throw await missing(path, where.binaries);
  if (platform !== undefined) return selectPlatform(platform, where.binaries);
  const elsewhere = await where.binaries.inPath(basename(path));
  if (elsewhere === undefined) throw await missing(path, where.binaries);
  return selectionOf(elsewhere);
}

/** The emulator after a change: a path that differs wins over an architecture that differs; undefined when neither does. */
export async function reselectEmulator(current: Selection, input: Properties, where: Where): Promise<Selection | undefined> {
  const path = wanted(input.qemu_path);
  const platform = wantedPlatform(input.platform);
  if (path !== undefined && path !== current.qemu_path) {
    const found = await findAllowed(path, where);
    if (found === undefined) throw await missing(path, where.binaries);
    return selectionOf(found);
  }
  if (path === undefined && platform !== undefined && platform !== current.platform)
    return selectPlatform(platform, where.binaries);
  return undefined;
}

async function selectPlatform(platform: Platform, binaries: Binaries): Promise<Selection> {
  const name = `qemu-system-${platform}`;
  const path = await binaries.inPath(name);
  if (path === undefined) throw await missing(name, binaries);
  return { qemu_path: path, platform };
}

function selectionOf(path: string): Selection {
  const platform = platformOfBinary(basename(path));
  if (platform === undefined)
    throw fault('qemu_failed', { reason: `The architecture of the emulator "${path}" is not one that this server knows` });
  return { qemu_path: path, platform };
}

/** Error for a QEMU that is missing, with the package to install and the programs that are installed. */
export async function missing(path: string, binaries: Binaries): Promise<Error> {
  const known = (await binaries.list()).map((binary) => binary.path).join(', ');
  const platform = platformOfBinary(basename(path)) ?? hostPlatform();
  return fault('qemu_binary_missing', { path, package: packageOf(platform), known: known || 'none is installed' });
}

const wanted = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

function wantedPlatform(value: unknown): Platform | undefined {
  return typeof value === 'string' && isPlatform(value) ? value : undefined;
}
