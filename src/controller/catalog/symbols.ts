/**
 * Symbols: those that are built in and the files that users put into the symbols folder. Files are read on request,
 * so that one that is changed is seen at once.
 */
import { readdir, unlink } from 'node:fs/promises';
import { basename, extname, join, normalize, relative } from 'node:path';
import { Readable } from 'node:stream';
import { fault } from '../../api/faults.ts';
import { Stream } from '../../api/route.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { openRegular } from '../../lib/regular-file.ts';
import { writeStream } from '../../lib/stream-file.ts';
import { storageFailed } from '../log/project-log.ts';
import { pictureHeadBytes, pictureSize } from '../model/picture-size.ts';
import { defaultSymbol, type Size } from '../model/symbol.ts';
import { atMost } from './at-most.ts';
import { type BuiltInSymbol, builtInSymbols, findClassic } from './symbol-set.ts';

export interface SymbolEntry {
  readonly symbol_id: string;
  readonly filename: string;
  readonly theme: string;
  readonly builtin: boolean;
}

const customTheme = 'Custom symbols';
/** Anything else is bytes: a browser must not take it for a page. */
const contentTypes: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.gif': 'image/gif',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
};
/** A picture is no page: scripts in it do not run when it is opened by itself. */
const asPicture = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
};

export class Symbols {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Lists the symbols in order of themes, then of ids. */
  async list(): Promise<SymbolEntry[]> {
    const builtIn = Array.from(builtInSymbols, ([symbol_id, { filename, theme }]) => ({
      symbol_id,
      filename,
      theme,
      builtin: true,
    }));
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const custom = entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(this.#folder, join(entry.parentPath, entry.name)))
      .filter((id) => !id.split('/').some((part) => part.startsWith('.')))
      .map((symbol_id) => ({ symbol_id, filename: basename(symbol_id), theme: customTheme, builtin: false }));
    return [...builtIn, ...custom].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }

  /** The picture; an unknown id has that of the classic symbol of its file's name, or of the computer. */
  async read(symbolId: string): Promise<Stream> {
    const found = await this.#find(symbolId);
    if (typeof found !== 'string') return new Stream('image/svg+xml', Buffer.from(found.draw()));
    const type = contentTypes[extname(found).toLowerCase()] ?? 'application/octet-stream';
    const { file } = await openRegular(found).catch((cause: Error) => {
      throw unreadable(symbolId, cause);
    });
    return new Stream(type, file.createReadStream(), asPicture);
  }

  /** @throws `symbol_unreadable` */
  async size(symbolId: string): Promise<Size> {
    const found = await this.#find(symbolId);
    if (typeof found !== 'string') return found.size;
    const head = await readHead(found).catch((cause: Error) => {
      throw unreadable(symbolId, cause);
    });
    const size = pictureSize(head);
    if (!size) throw unreadable(symbolId, new Error('its size could not be found in it'));
    return size;
  }

  /** The size of a node: that of the default symbol where a symbol has none. */
  async sizeOfNode(symbolId: string): Promise<Size> {
    const size = await this.size(symbolId).catch(() => undefined);
    return size && size.width > 0 && size.height > 0 ? size : fallback().size;
  }

  /**
   * Writes a user's symbol. Only the file's name within the id counts. @throws `path_forbidden`, `body_too_large`, `storage_failed`
   */
  async write(symbolId: string, source: Readable): Promise<void> {
    source.on('error', () => undefined);
    const name = basename(symbolId);
    const refuse = (reason: string) => fault('path_forbidden', { path: symbolId.replaceAll('\0', '?'), reason });
    if (name === '' || name.startsWith('.') || name.includes('\0')) throw refuse('it is no name of a symbol');
    if (Buffer.byteLength(name) > longestName) throw refuse('its name is too long');
    const path = join(this.#folder, name);
    if (!(await isReallyBelow(this.#folder, path))) throw refuse('it lies outside the symbols folder');
    await writeStream(path, Readable.from(atMost(largestBytes, source), { objectMode: false })).catch((error: unknown) => {
      throw storageFailed(error, name);
    });
  }

  /** Deletes a user's symbol. @throws `symbol_fixed` for one that is built in or missing, `storage_failed` */
  async remove(symbolId: string): Promise<void> {
    const path = await this.#findFile(symbolId);
    if (path === undefined) throw fault('symbol_fixed', { symbol_id: symbolId });
    await unlink(path).catch((error: unknown) => {
      throw storageFailed(error, symbolId);
    });
  }

  /** A built-in symbol, or the path of a file. */
  async #find(symbolId: string): Promise<BuiltInSymbol | string> {
    const builtIn = builtInSymbols.get(symbolId);
    if (builtIn) return builtIn;
    return (await this.#findFile(symbolId)) ?? findClassic(basename(symbolId)) ?? fallback();
  }

  async #findFile(symbolId: string): Promise<string | undefined> {
    if (symbolId.startsWith(':') || symbolId.startsWith('/') || symbolId.includes('\0')) return undefined;
    const path = normalize(join(this.#folder, symbolId));
    if (!(await isReallyBelow(this.#folder, path))) return undefined;
    const opened = await openRegular(path).catch(() => undefined);
    await opened?.file.close();
    return opened && path;
  }
}

/** Size limit of a symbol in bytes, that of a drawing: pages load each symbol in full. */
const largestBytes = 16 * 2 ** 20;

/** Length limit of a file name in bytes; the temporary file that is written first has a slightly longer name. */
const longestName = 230;

function fallback(): BuiltInSymbol {
  return findClassic(basename(defaultSymbol)) as BuiltInSymbol;
}

function keyOf({ theme, symbol_id }: SymbolEntry): string {
  return `${theme}\n${symbol_id}`;
}

function unreadable(symbolId: string, cause: Error): Error {
  return fault('symbol_unreadable', { symbol_id: symbolId, reason: cause.message }, { cause });
}

async function readHead(path: string): Promise<Buffer> {
  const { file } = await openRegular(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(pictureHeadBytes), 0, pictureHeadBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
