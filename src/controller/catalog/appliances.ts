/** Appliances: descriptions of how a template is made, our own and users'. They are files in folders and are handed out as they are. */
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fault, isFault } from '../../api/faults.ts';
import { templateFacts } from '../../emulators/kinds.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { wrongWithBaseName } from '../../lib/base-name.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { fixedId } from '../../lib/fixed-id.ts';
import { isDeeper } from '../../lib/json-depth.ts';
import type { Log } from '../../lib/log.ts';
import { Mutex } from '../../lib/mutex.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { type ApplianceVersion, settingsOfAppliance } from '../../schema/appliance.ts';
import { isUuid } from '../../schema/common.ts';
import { storageFailed } from '../log/project-log.ts';
import { atMost } from './at-most.ts';
import { defaultSymbols } from './symbol-set.ts';

/** Size limit of one appliance file in bytes, ten times that of GNS3's largest. */
const largestBytes = 512 * 1024;
const deepest = 32;
/** Limits how many files of a folder are read, as a folder may hold anything; uploads create no more either. */
const mostFiles = 2000;
/** Size limit of all uploaded files together, in bytes: clients request all appliances at once. GNS3's 221 files have 2 MiB. */
const mostBytes = 32 * 2 ** 20;
/** Theme of the symbols of GNS3 3. */
export const standardTheme = 'Affinity-square-blue';
const fileName = /^[^.].*\.(gns3a|gns3appliance)$/;

/** Content of an appliance's file, unchecked but for its name. */
export type ApplianceContent = Readonly<Record<string, unknown>> & { readonly name: string };

/** An appliance as GNS3 3 shows it. */
type IdentifiedAppliance = ApplianceContent & { readonly appliance_id: string };

interface ApplianceFolders {
  /** Folder of the appliances that come with the program; undefined: they are not listed. */
  readonly builtIn: string | undefined;
  /** Folder of users' appliances. A file here replaces the built-in one of the same name. */
  readonly own: string;
}

interface ApplianceFile {
  readonly path: string;
  readonly builtin: boolean;
}

export class Appliances {
  readonly #folders: ApplianceFolders;
  readonly #log: Log;
  readonly #writing = new Mutex();
  #downloadHosts: Promise<readonly string[]> | undefined;

  constructor(folders: ApplianceFolders, log: Log) {
    this.#folders = folders;
    this.#log = log;
  }

  /** Lists the appliances that can be read and are not marked as broken, in order of file names. @throws `theme_not_found` */
  async list(theme: string): Promise<ApplianceContent[]> {
    const symbols = Object.hasOwn(defaultSymbols, theme) ? defaultSymbols[theme] : undefined;
    if (!symbols) throw fault('theme_not_found', { theme, known: Object.keys(defaultSymbols).join(', ') });
    const appliances: ApplianceContent[] = [];
    for (const { path, builtin } of await this.#files()) {
      const content = await this.#read(path);
      if (content && content.status !== 'broken') appliances.push(shown(content, symbols, builtin));
    }
    return appliances;
  }

  /** Lists the appliances with their ids; of a theme that does not exist, those of the standard one. */
  async listIdentified(theme: string): Promise<IdentifiedAppliance[]> {
    const symbols =
      (Object.hasOwn(defaultSymbols, theme) ? defaultSymbols[theme] : undefined) ?? defaultSymbols[standardTheme] ?? {};
    const found: IdentifiedAppliance[] = [];
    for (const { path, builtin } of await this.#files()) {
      const content = await this.#read(path);
      if (content && content.status !== 'broken')
        found.push({ appliance_id: idOf(content, path), ...shown(content, symbols, builtin) });
    }
    return found;
  }

  /** @throws `appliance_not_found` */
  async get(applianceId: string): Promise<IdentifiedAppliance> {
    const found = (await this.listIdentified(standardTheme)).find((one) => one.appliance_id === applianceId);
    if (!found) throw fault('appliance_not_found', { appliance_id: applianceId });
    return found;
  }

  /**
   * Adds a version to an appliance: a file in the users' folder, which takes the place of a built-in one.
   * @throws `appliance_not_found`, `appliance_conflict`, `appliance_invalid`, `appliances_full`, `storage_failed`
   */
  async addVersion(applianceId: string, version: ApplianceVersion): Promise<IdentifiedAppliance> {
    await this.#writing.run(async () => {
      const { content, path, builtin } = await this.#find(applianceId);
      const { name, images, versions } = content;
      if (!Array.isArray(images)) throw fault('appliance_invalid', { file: name, reason: 'it has no images' });
      const known = (Array.isArray(versions) ? versions : []) as readonly (ApplianceVersion | null)[];
      if (known.some((one) => one?.name === version.name))
        throw fault('appliance_conflict', { name, reason: `it has a version ${version.name} already` });
      const bytes = Buffer.from(JSON.stringify({ ...content, appliance_id: applianceId, versions: [...known, version] }, null, 2));
      if (bytes.length > largestBytes) throw fault('appliance_invalid', { file: name, reason: 'its file would be too large' });
      await this.#store(builtin ? join(this.#folders.own, basename(path)) : path, bytes);
    });
    return this.get(applianceId);
  }

  /** @throws `appliance_not_found` */
  async #find(applianceId: string): Promise<ApplianceFile & { readonly content: ApplianceContent }> {
    for (const file of await this.#files()) {
      const content = await this.#read(file.path);
      if (content && idOf(content, file.path) === applianceId) return { ...file, content };
    }
    throw fault('appliance_not_found', { appliance_id: applianceId });
  }

  /** `https://HOST` of the files that the built-in appliances offer for download. */
  downloadHosts(): Promise<readonly string[]> {
    this.#downloadHosts ??= this.#readDownloadHosts();
    return this.#downloadHosts;
  }

  async #readDownloadHosts(): Promise<readonly string[]> {
    const { builtIn } = this.#folders;
    const hosts = new Set<string>();
    for (const path of builtIn === undefined ? [] : await this.#filesIn(builtIn)) {
      const images = (await this.#read(path))?.images;
      for (const image of Array.isArray(images) ? images : []) {
        const url = URL.parse(String((image as ApplianceContent | null)?.direct_download_url ?? ''));
        if (url && /^https?:$/.test(url.protocol)) hosts.add(`https://${url.hostname}`);
      }
    }
    return [...hosts].sort();
  }

  /** Refuses an update: this server downloads no appliances. @throws `appliances_not_fetched` */
  update(): never {
    throw fault('appliances_not_fetched', { folder: this.#folders.own });
  }

  /**
   * Adds a file to the users' folder; one of the same name is replaced.
   * @throws `appliance_invalid`, `appliances_full`, `body_too_large`, `storage_failed`
   */
  async add(filename: string, source: Readable): Promise<void> {
    source.on('error', () => undefined);
    const wrong = wrongWithBaseName(`${filename}.tmp`) ?? (fileName.test(filename) ? undefined : 'its name does not end in .gns3a');
    if (wrong !== undefined) throw fault('appliance_invalid', { file: filename.slice(0, 100), reason: wrong });
    const bytes = await buffer(Readable.from(atMost(largestBytes, source), { objectMode: false }));
    try {
      applianceOf(bytes);
    } catch (cause) {
      throw fault('appliance_invalid', { file: filename, reason: (cause as Error).message }, { cause });
    }
    await this.#writing.run(() => this.#store(join(this.#folders.own, filename), bytes));
  }

  /** @throws `appliances_full`, `storage_failed` */
  async #store(target: string, bytes: Buffer): Promise<void> {
    try {
      await mkdir(this.#folders.own, { recursive: true });
      await this.#requireSpace(target, bytes.length);
      await writeFileAtomic(target, bytes);
    } catch (error) {
      throw isFault(error) ? error : storageFailed(error, basename(target));
    }
  }

  /** @throws `appliances_full` */
  async #requireSpace(target: string, added: number): Promise<void> {
    const { own } = this.#folders;
    const present = new Map<string, number>();
    await forEachBounded(await listFiles(own), concurrency, async (path) => {
      present.set(path, (await lstat(path).catch(() => undefined))?.size ?? 0);
    });
    const sum = (sizes: Map<string, number>) => [...sizes.values()].reduce((total, size) => total + size, 0);
    const before = { files: present.size, bytes: sum(present) };
    present.set(target, added);
    const [files, bytes] = [present.size, sum(present)];
    if ((files <= mostFiles || files <= before.files) && (bytes <= mostBytes || bytes <= before.bytes)) return;
    throw fault('appliances_full', { count: files, bytes, most: `${mostFiles} of ${mostBytes} bytes`, folder: own });
  }

  async #files(): Promise<ApplianceFile[]> {
    const { builtIn, own } = this.#folders;
    const found = new Map<string, ApplianceFile>();
    for (const folder of builtIn === undefined ? [own] : [builtIn, own]) {
      for (const path of await this.#filesIn(folder)) found.set(basename(path), { path, builtin: folder === builtIn });
    }
    return [...found.values()].sort((one, other) => (basename(one.path) < basename(other.path) ? -1 : 1));
  }

  async #filesIn(folder: string): Promise<string[]> {
    const files = await listFiles(folder);
    if (files.length > mostFiles)
      this.#log.warn(
        { folder },
        `${files.length - mostFiles} appliances of ${folder} were left out: it has more than ${mostFiles}`,
      );
    return files.slice(0, mostFiles);
  }

  async #read(file: string): Promise<ApplianceContent | undefined> {
    try {
      return applianceOf(await readRegularFile(file, largestBytes));
    } catch (error) {
      this.#log.warn({ err: error, file }, `the appliance ${file} was left out: ${(error as Error).message}`);
      return undefined;
    }
  }
}

/** Names of appliances below a folder. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter(({ name }) => fileName.test(name)).map(({ parentPath, name }) => join(parentPath, name));
}

/** @throws Error why a file is none */
function applianceOf(bytes: Buffer): ApplianceContent {
  if (isDeeper(bytes, deepest)) throw new Error(`it is nested deeper than ${deepest} levels`);
  const content: unknown = JSON.parse(String(bytes));
  if (typeof content !== 'object' || content === null || Array.isArray(content)) throw new Error('it is no JSON object');
  const { name } = content as ApplianceContent;
  // Clients sort by it.
  if (typeof name !== 'string' || name === '') throw new Error('it has no name');
  return content as ApplianceContent;
}

function shown(content: ApplianceContent, symbols: Readonly<Record<string, string>>, builtin: boolean): ApplianceContent {
  const { appliance_id: _id, symbol, ...rest } = content;
  const isOwn = typeof symbol === 'string' && symbol !== '' && !symbol.startsWith(':/symbols/');
  return { ...rest, builtin, symbol: isOwn ? symbol : symbols[categoryOf(content)] };
}

/** Returns the id in the file, or one made of its name. */
function idOf({ appliance_id: id }: ApplianceContent, path: string): string {
  return typeof id === 'string' && isUuid(id) ? id.toLowerCase() : fixedId(`appliance ${basename(path)}`);
}

/** Type of the kind that runs guests, and the category of its symbol. */
const guestSymbols = [...templateFacts].flatMap(([type, { ownSymbol }]) =>
  ownSymbol?.theme && ownSymbol.ofGuests ? [[type, ownSymbol.theme.category] as const] : [],
);

/** The category follows from the emulator. */
function categoryOf(content: ApplianceContent): string {
  const { category } = content;
  const emulators = new Set(settingsOfAppliance(content).map(({ template_type }) => template_type));
  const isFor = (type: string) => content[type] || emulators.has(type);
  const name = category === 'guest' ? (guestSymbols.find(([type]) => isFor(type))?.[1] ?? 'computer') : category;
  return typeof name === 'string' && Object.hasOwn(defaultSymbols.Classic ?? {}, name) ? name : 'computer';
}
