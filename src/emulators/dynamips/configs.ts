/** A router's configurations: files of its node's folder, read into the NVRAM at the start and saved from there. */
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { openedPath, openFolder } from '../../lib/open-folder.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { renameInConfigs } from '../facts/config-files.ts';
import { configsFolder } from './confined.ts';
import type { Hypervisor } from './hypervisor.ts';

/** Paths of the configurations in the node's folder. */
export const configFiles = { startup: 'configs/startup-config.cfg', private: 'configs/private-config.cfg' } as const;
/** A larger file is none that was written from a request, or from an NVRAM. */
const maxConfigBytes = 4 * 1024 * 1024;
const names = ['startup', 'private'] as const;
type ConfigName = (typeof names)[number];
export type RouterConfigs = Readonly<Record<ConfigName, string>>;

/** Paths of a configuration: our file, and GNS3's, which has the router's number in its name: several routers may share a folder there. */
const filesOf = (name: ConfigName, id: number) => [configFiles[name], `configs/i${id}_${name}-config.cfg`];

/** Finds the configurations that exist and are not empty; of two files, the one that was written last. */
export async function presentConfigs(directory: string, id: number): Promise<{ startupConfig?: string; privateConfig?: string }> {
  const find = async (name: ConfigName) =>
    (await newest(directory, filesOf(name, id))) ?? newest(directory, await copiedFiles(directory, name));
  const [startup, private_] = await Promise.all(names.map(find));
  return { ...(startup && { startupConfig: startup }), ...(private_ && { privateConfig: private_ }) };
}

/** A copy of a node has GNS3's names with the number of the node that it was made of. */
async function copiedFiles(directory: string, name: ConfigName): Promise<string[]> {
  const found = await readdir(join(directory, configsFolder)).catch(() => []);
  return found.filter((file) => file.replace(/^i\d+_/, '') === `${name}-config.cfg`).map((file) => join(configsFolder, file));
}

async function newest(directory: string, files: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(
    files.map(async (file) => ({ file, facts: await lstat(join(directory, file)).catch(() => undefined) })),
  );
  const kept = found.flatMap(({ file, facts }) => (facts?.isFile() && facts.size > 0 ? [{ file, time: facts.mtimeMs }] : []));
  return kept.sort((one, other) => other.time - one.time)[0]?.file;
}

/** The node has another name: lines that set the host name follow. */
export async function renameRouter(directory: string, name: string): Promise<void> {
  const found = await readdir(join(directory, configsFolder)).catch(() => []);
  const configs = found.filter((file) => /^(i\d+_)?(startup|private)-config\.cfg$/.test(file));
  const files = configs.map((file) => join(configsFolder, file));
  await renameInConfigs(directory, files, name);
}

/**
 * The two configurations in the NVRAM. The answer ends in two words of base64, each in quotes or not; the second is missing when there is no
 * private one. A router that saved nothing yet has none.
 */
export async function extractConfigs(hypervisor: Hypervisor, router: string): Promise<RouterConfigs | undefined> {
  const answer = await hypervisor.ask('vm', 'extract_config', router).catch(() => undefined);
  const [, startup = '', private_ = ''] =
    /^conf '.*' '?([A-Za-z0-9+/=]*)'?(?: '?([A-Za-z0-9+/=]*)'?)?$/.exec(answer?.text ?? '') ?? [];
  return answer && { startup: decode(startup), private: decode(private_) };
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8').replaceAll('\r', '');
}

interface RouterPlace {
  readonly directory: string;
  /** The router's number. */
  readonly id: number;
  /** Configurations that the NVRAM had at the previous read; undefined: not known. */
  readonly before: RouterConfigs | undefined;
}

/**
 * Writes what the NVRAM has and the files do not, GNS3's for its clients. An empty configuration never replaces one. A file that a client has
 * edited since the guest saved its configuration stays.
 * @returns what the NVRAM has
 */
export async function saveConfigs(
  hypervisor: Hypervisor,
  router: string,
  { directory, id, before }: RouterPlace,
): Promise<RouterConfigs | undefined> {
  const found = await extractConfigs(hypervisor, router);
  if (!found) return before;
  for (const name of names) {
    const text = found[name];
    if (text.trim() === '') continue;
    const paths = filesOf(name, id).map((file) => join(directory, file));
    const present = await Promise.all(paths.map(readText));
    const isEdited = text === before?.[name] && present.some((one) => one !== undefined && one !== text);
    if (isEdited) continue;
    for (const [index, path] of paths.entries()) if (present[index] !== text) await replaceConfig(path, text);
  }
  return found;
}

/** The folder above belongs to the user of emulators: a link in this one's place would have root write elsewhere. */
async function replaceConfig(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const folder = await openFolder(dirname(path));
  try {
    await writeFileAtomic(join(openedPath(folder), basename(path)), text);
  } finally {
    await folder.close();
  }
}

async function readText(path: string): Promise<string | undefined> {
  return readRegularFile(path, maxConfigBytes, { noFollow: true }).then(String, () => undefined);
}
