/** An open file or folder of the simulated disk, as `node:fs/promises` has it. */
import { constants } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { type Entry, failed, type MemoryFile } from '../engine/disk.ts';
import { simulation } from '../engine/simulation.ts';

const { O_APPEND, O_DSYNC, O_SYNC } = constants;

export type Data = string | Uint8Array | readonly (string | Uint8Array)[];

/** Numbers of open folders begin here: no real process has so many. */
export const firstNumber = 1_000_000;

export const disk = () => simulation().disk;
export const now = () => simulation().kernel.now;

export function bytesOf(data: Data, encoding?: BufferEncoding): Buffer {
  if (typeof data === 'string') return Buffer.from(data, encoding);
  if (data instanceof Uint8Array) return Buffer.from(data);
  return Buffer.concat(data.map((part) => bytesOf(part)));
}

export function factsOf(entry: Entry) {
  const changed = entry.changedAt;
  const time = { mtimeMs: changed, ctimeMs: changed, birthtimeMs: changed, mtime: new Date(changed) };
  return {
    ...{
      size: entry.kind === 'file' ? entry.content.length : 4096,
      blocks: 8,
      nlink: 1,
      dev: 1,
      ino: 1,
      mode: entry.mode,
      uid: 0,
      gid: 0,
    },
    ...time,
    isFile: () => entry.kind === 'file',
    isDirectory: () => entry.kind === 'folder',
    isSymbolicLink: () => false,
    isCharacterDevice: () => false,
    isBlockDevice: () => false,
    isFIFO: () => false,
    isSocket: () => false,
  };
}

/** An open file or folder. */
export class SimulatedHandle {
  readonly #path: string;
  readonly #entry: Entry;
  readonly #flags: number;
  #position = 0;
  #isOpen = true;
  readonly fd: number;

  constructor(path: string, entry: Entry, flags: number) {
    this.fd = firstNumber + disk().opened.push(path) - 1;
    this.#path = path;
    this.#entry = entry;
    this.#flags = flags;
  }

  get #file(): MemoryFile {
    if (!this.#isOpen) throw failed('EBADF', this.#path);
    if (this.#entry.kind !== 'file') throw failed('EISDIR', this.#path);
    return this.#entry;
  }

  async stat() {
    return factsOf(this.#entry);
  }

  async readFile(options?: BufferEncoding | { encoding?: BufferEncoding }): Promise<Buffer | string> {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    const bytes = Buffer.from(this.#file.content.subarray(this.#position));
    return encoding ? bytes.toString(encoding) : bytes;
  }

  async read(
    given: Buffer | { buffer: Buffer; offset?: number; length?: number; position?: number | null },
    offset = 0,
    length?: number,
    position?: number | null,
  ) {
    if (!(given instanceof Uint8Array)) return this.#read(given.buffer, given.offset ?? 0, given.length, given.position);
    return this.#read(given, offset, length, position);
  }

  #read(buffer: Buffer, offset: number, length: number | undefined, position: number | null | undefined) {
    const from = position ?? this.#position;
    const part = this.#file.content.subarray(from, from + (length ?? buffer.length - offset));
    part.copy(buffer, offset);
    if (position === undefined || position === null) this.#position += part.length;
    return { bytesRead: part.length, buffer };
  }

  async write(data: string | Uint8Array, offset?: number, length?: number, position?: number | null) {
    const all = bytesOf(data);
    const bytes = typeof data === 'string' ? all : all.subarray(offset ?? 0, (offset ?? 0) + (length ?? all.length));
    await this.#write(bytes, typeof data === 'string' ? undefined : position);
    return { bytesWritten: bytes.length, buffer: data };
  }

  async writeFile(data: Data): Promise<void> {
    await this.#write(bytesOf(data));
  }

  appendFile(data: Data): Promise<void> {
    return this.writeFile(data);
  }

  async #write(bytes: Buffer, position?: number | null): Promise<void> {
    const file = this.#file;
    const isSynced = (this.#flags & (O_DSYNC | O_SYNC)) !== 0;
    const write = () => {
      const at = this.#flags & O_APPEND ? file.content.length : (position ?? this.#position);
      file.write(at, bytes, now());
      if (position === undefined || position === null) this.#position = at + bytes.length;
    };
    await disk().change(write, isSynced ? () => file.sync() : undefined);
  }

  async truncate(length = 0): Promise<void> {
    const file = this.#file;
    await disk().change(() => file.truncate(length, now()));
  }

  async sync(): Promise<void> {
    const entry = this.#entry;
    const sync = () => (entry.kind === 'file' ? entry.sync() : disk().syncNames(entry));
    await disk().change(() => undefined, sync);
  }

  datasync(): Promise<void> {
    return this.sync();
  }

  async chmod(): Promise<void> {}

  async utimes(): Promise<void> {}

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  createReadStream({ start = 0, end = Number.POSITIVE_INFINITY }: { start?: number; end?: number } = {}): Readable {
    const content = Buffer.from(this.#file.content.subarray(start, end + 1));
    return Readable.from(content.length > 0 ? [content] : [], { objectMode: false });
  }

  createWriteStream({ flush = false }: { flush?: boolean } = {}): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => void this.#write(chunk).then(() => done(), done),
      final: (done) => void (flush ? this.sync() : Promise.resolve()).then(() => done(), done),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
