/**
 * Moves the files beside an old project file when the project is upgraded. Each step can be repeated: it finds out whether it was done.
 * Source: the history of GNS3's format.
 */
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { readOldFileFacts } from '../model/read-topology.ts';
import type { Topology } from '../model/topology.ts';
import type { OldFileFacts } from '../model/topology-file.ts';
import { baseName } from '../model/upgrades/drawings-1x.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { archiveFolder } from '../zip/write-archive.ts';

interface UpgradedFile {
  /** The project file, as it was. */
  readonly file: string;
  /** Revision that it had; 0 when it had none. */
  readonly upgradedFrom: number;
  readonly topology: Pick<Topology, 'nodes'>;
}

/** Most parts in the sentence about those that were lost. */
const shownParts = 5;

/** Revisions from which on files have what the step makes. */
const firstOf2x = 5;
const ownFoldersOfRouters = 7;

/** File of a project in which the parts are listed that its upgrade from GNS3 1.x did not take. */
const upgradeReport = 'upgrade-report.txt';

/**
 * Returns a sentence about the parts of a file of 1.x that have no counterpart, which `upgradeReport` lists; undefined where there are none.
 * @throws project_damaged when something cannot be moved
 */
export async function upgradeFiles(folder: string, upgraded: UpgradedFile): Promise<string | undefined> {
  const { file, upgradedFrom, topology } = upgraded;
  try {
    let lost: readonly string[] = [];
    if (upgradedFrom < firstOf2x) {
      const facts = await readOldFileFacts(file);
      await moveSnapshots(folder);
      await moveReadme(folder);
      await copyPictures(folder, facts);
      lost = facts.lost;
    }
    if (upgradedFrom < ownFoldersOfRouters) await moveRouterFiles(join(folder, 'project-files', 'dynamips'), topology);
    if (lost.length === 0) return undefined;
    const head = 'Parts of the project file of GNS3 1.x that were not taken over:\n';
    await writeFileAtomic(join(folder, upgradeReport), `${head}${lost.map((one) => `- ${one}\n`).join('')}`);
    const shown = lost.slice(0, shownParts).join('; ');
    const more = lost.length > shownParts ? ` and ${lost.length - shownParts} more` : '';
    return `Not taken over from the project file of GNS3 1.x: ${shown}${more}. ${upgradeReport} in the project's folder lists all`;
  } catch (error) {
    const reason = `files beside it could not be upgraded: ${(error as Error).message}`;
    throw fault('project_damaged', { name: basename(file), reason }, { cause: error });
  }
}

/** Folders of snapshots become archives; the folder goes when its archive is complete. */
async function moveSnapshots(folder: string): Promise<void> {
  const old = join(folder, 'project-files', 'snapshots');
  for (const entry of await readdir(old, { withFileTypes: true }).catch(() => [])) {
    const source = join(old, entry.name);
    const file = entry.isDirectory() ? (await readdir(source)).find((name) => name.endsWith('.gns3')) : undefined;
    if (file === undefined) continue;
    const archive = join(folder, 'snapshots', `${entry.name}.gns3project`);
    await mkdir(join(folder, 'snapshots'), { recursive: true });
    if (file !== projectEntry) await rename(join(source, file), join(source, projectEntry));
    const { output } = await archiveFolder(source, new Map(), { compression: { method: 'zip' } });
    await pipeline(output, createWriteStream(`${archive}.tmp`, { flush: true }));
    await rename(`${archive}.tmp`, archive);
    await removeTree(source);
  }
}

async function moveReadme(folder: string): Promise<void> {
  const [old, readme] = [join(folder, 'instructions.txt'), join(folder, 'README.txt')];
  if ((await isThere(old)) && !(await isThere(readme))) await rename(old, readme);
}

/** Pictures were named by their paths; only what is in the project is taken over. */
async function copyPictures(folder: string, { pictures }: Pick<OldFileFacts, 'pictures'>): Promise<void> {
  const target = join(folder, 'project-files', 'images');
  for (const path of pictures) {
    const name = baseName(path);
    if (name === '' || name === '.' || name === '..' || path.includes('\0') || (await isThere(join(target, name)))) continue;
    const source = join(folder, path.startsWith(folder) ? path.slice(folder.length) : path);
    if (!(await isReallyBelow(folder, source)) || !(await isThere(source))) continue;
    await mkdir(target, { recursive: true });
    await copyFile(source, join(target, name));
  }
}

/** Files of all routers were in one folder, distinguished by a number in their names. */
async function moveRouterFiles(folder: string, { nodes }: Pick<Topology, 'nodes'>): Promise<void> {
  for (const { node_id, properties } of nodes) {
    const id = properties.dynamips_id;
    if (typeof id !== 'number') continue;
    await moveMatching(folder, join(folder, node_id), (name) => name.includes(`_i${id}_`));
    await moveMatching(join(folder, 'configs'), join(folder, node_id, 'configs'), (name) => name.startsWith(`i${id}_`));
  }
}

async function moveMatching(from: string, to: string, matches: (name: string) => boolean): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile() || !matches(entry.name)) continue;
    await mkdir(to, { recursive: true });
    await rename(join(from, entry.name), join(to, entry.name));
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
