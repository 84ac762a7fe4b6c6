/** Appliances: descriptions, made by others, of how a template is made. They are files in a folder and are handed out as they are. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { templateFacts } from '../../emulators/kinds.ts';
import type { Log } from '../../lib/log.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { defaultSymbols } from './symbol-set.ts';

/** Of one appliance; those of GNS3 have a tenth of it. */
const largestBytes = 512 * 1024;

export type Appliance = Readonly<Record<string, unknown>>;

export class Appliances {
  readonly #folder: string;
  readonly #log: Log;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Those that can be read and are not marked as broken, in order of file names. @throws `theme_not_found` */
  async list(theme: string): Promise<Appliance[]> {
    const symbols = Object.hasOwn(defaultSymbols, theme) ? defaultSymbols[theme] : undefined;
    if (!symbols) throw fault('theme_not_found', { theme, known: Object.keys(defaultSymbols).join(', ') });
    const names = await readdir(this.#folder).catch(() => []);
    const files = names.filter((name) => /^[^.].*\.(gns3a|gns3appliance)$/.test(name)).sort();
    const appliances: Appliance[] = [];
    for (const name of files) {
      const content = await this.#read(name);
      if (content && content.status !== 'broken') appliances.push(shown(content, symbols));
    }
    return appliances;
  }

  /** There is nothing that this server would fetch. @throws `appliances_not_fetched` */
  update(): never {
    throw fault('appliances_not_fetched', { folder: this.#folder });
  }

  async #read(name: string): Promise<Appliance | undefined> {
    const file = join(this.#folder, name);
    try {
      const content: unknown = JSON.parse(String(await readRegularFile(file, largestBytes)));
      if (typeof content !== 'object' || content === null || Array.isArray(content)) throw new Error('it is no JSON object');
      return content as Appliance;
    } catch (error) {
      this.#log.warn({ err: error, file }, `the appliance ${file} was left out: ${(error as Error).message}`);
      return undefined;
    }
  }
}

function shown(content: Appliance, symbols: Readonly<Record<string, string>>): Appliance {
  const { appliance_id: _id, symbol, ...rest } = content;
  const isOwn = typeof symbol === 'string' && symbol !== '' && !symbol.startsWith(':/symbols/');
  return { ...rest, builtin: false, symbol: isOwn ? symbol : symbols[categoryOf(content)] };
}

/** Type of the kind that runs guests, and the category of its symbol. */
const guestSymbols = [...templateFacts].flatMap(([type, { ownSymbol }]) =>
  ownSymbol?.theme && ownSymbol.ofGuests ? [[type, ownSymbol.theme.category] as const] : [],
);

/** The category follows from the emulator. */
function categoryOf(content: Appliance): string {
  const { category } = content;
  const name = category === 'guest' ? (guestSymbols.find(([type]) => content[type])?.[1] ?? 'computer') : category;
  return typeof name === 'string' && Object.hasOwn(defaultSymbols.Classic ?? {}, name) ? name : 'computer';
}
