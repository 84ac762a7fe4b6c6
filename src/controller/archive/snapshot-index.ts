/**
 * Lists the snapshots of a project: those in `snapshots/snapshots.conf`, and those found in that folder without an entry. A
 * snapshot is a folder (ours) or an archive (of GNS3, or of an import).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { problemsOf } from '../../api/validate.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { Snapshot } from '../../schema/snapshot.ts';
import { Type } from '../../schema/type.ts';

const indexName = 'snapshots.conf';
export const snapshotSuffix = '.gns3snapshot';
/** `<name>_<DDMMYY>_<HHMMSS>.gns3project`: snapshots of 2.0 and before; the time is taken for UTC. */
const legacyName = /^(.+)_(\d\d)(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)\.gns3project$/;
/** Size limit of the list in bytes: some thousand snapshots. */
const largestIndex = 1024 ** 2;
const Index = Type.Array(Type.Object(Snapshot.properties));

export function snapshotsFolder(projectFolder: string): string {
  return join(projectFolder, 'snapshots');
}

/** Reads the snapshots, in order of time and name. Entries whose file is gone are left out. @throws snapshots_damaged, storage_failed */
export async function readSnapshots(projectFolder: string, projectId: string): Promise<Snapshot[]> {
  const folder = snapshotsFolder(projectFolder);
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length === 0) return [];
  const noted = names.includes(indexName) ? await readIndex(join(folder, indexName)) : [];
  const present = noted.filter((entry) => names.includes(entry.filename)).map((entry) => ({ ...entry, project_id: projectId }));
  const known = new Set(present.map((entry) => entry.filename));
  const unknown = names.filter((name) => !known.has(name) && !name.startsWith('.'));
  const found = (await Promise.all(unknown.map((name) => unlisted(folder, name, projectId)))).filter(
    (entry) => entry !== undefined,
  );
  const all = [...present, ...found].sort((one, other) => one.created_at - other.created_at || (one.name < other.name ? -1 : 1));
  // Ids that were made up here must stay.
  if (found.length > 0) await writeSnapshots(projectFolder, all);
  return all;
}

/** @throws storage_failed */
export async function writeSnapshots(projectFolder: string, entries: readonly Snapshot[]): Promise<void> {
  const folder = snapshotsFolder(projectFolder);
  try {
    await mkdir(folder, { recursive: true });
    await writeFileAtomic(join(folder, indexName), `${JSON.stringify(entries, null, 4)}\n`);
  } catch (error) {
    throw fault('storage_failed', { reason: (error as Error).message }, { cause: error });
  }
}

/** Description of a snapshot without one. */
export function describe(name: string, createdAt: number): string {
  const [day, time] = new Date(createdAt * 1000).toISOString().split(/[T.]/);
  return `Snapshot '${name}' taken on ${day} at ${time}`;
}

async function readIndex(path: string): Promise<Snapshot[]> {
  const damaged = (reason: string, cause?: unknown) => fault('snapshots_damaged', { reason }, { cause });
  let entries: unknown;
  try {
    entries = JSON.parse(String(await readRegularFile(path, largestIndex)));
  } catch (error) {
    throw damaged((error as Error).message, error);
  }
  const problem = await problemsOf(Index, entries);
  if (problem !== undefined) throw damaged(problem);
  return entries as Snapshot[];
}

/** Returns undefined when the folder's entry is no snapshot. */
async function unlisted(folder: string, filename: string, project_id: string): Promise<Snapshot | undefined> {
  const legacy = legacyName.exec(filename);
  const entry = (name: string, created_at: number) => ({
    created_at,
    description: describe(name, created_at),
    filename,
    name,
    project_id,
    snapshot_id: randomUUID(),
  });
  if (legacy) {
    const [, name = '', day, month, year, ...time] = legacy;
    const createdAt = Date.parse(`20${year}-${month}-${day}T${time.join(':')}Z`);
    return Number.isNaN(createdAt) ? undefined : entry(name, createdAt / 1000);
  }
  if (!filename.endsWith(snapshotSuffix)) return undefined;
  const facts = await stat(join(folder, filename)).catch(() => undefined);
  return facts && entry(filename.slice(0, -snapshotSuffix.length), Math.trunc(facts.mtimeMs / 1000));
}
