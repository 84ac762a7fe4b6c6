/**
 * Images on their way to a compute. Of a file of the user the checksum is computed, which says what it is, then it is uploaded;
 * what has a URL is downloaded by the server.
 */
import { signal } from '@preact/signals';
import type { Api } from '../api.ts';
import { catalogTexts } from './catalog-texts.ts';
import { type ImageFile, imagesPath } from './images.ts';
import { md5Of } from './md5.ts';

export interface ImageTarget {
  readonly nodeType: string;
  readonly filename: string;
}

/** A download by the server. */
export interface ImageUrl extends ImageTarget {
  readonly url: string;
  readonly md5sum?: string | undefined;
  readonly sha256?: string | undefined;
  /** Bytes, as far as they are known before. */
  readonly size?: number | undefined;
}

interface DownloadLine {
  readonly done_bytes?: number;
  /** Null: unknown. */
  readonly total_bytes?: number | null;
  /** Name of the stored image; only in the last line, when the download succeeded. */
  readonly filename?: string;
  readonly failure?: string;
}

export interface Arrival {
  readonly id: number;
  readonly name: string;
  /** Bytes; undefined while it is unknown. */
  readonly size: number | undefined;
  /** Name of the image that it becomes, once it is known. */
  readonly target?: string;
  /** `unknown`: it waits for a target. */
  readonly phase: 'reading' | 'unknown' | 'sending' | 'fetching' | 'done' | 'failed';
  /** 0 to 1, of the phase; undefined while it is unknown. */
  readonly part: number | undefined;
  readonly md5sum: string;
  /** Result or failure. */
  readonly message: string;
}

interface IntakeOptions {
  readonly api: Api;
  readonly computeId: () => string;
  /** Where a file of this checksum belongs; undefined: the user decides. */
  readonly decide: (md5sum: string, file: File) => Promise<ImageTarget | undefined> | ImageTarget | undefined;
  readonly stored: (target: ImageTarget, md5sum: string) => unknown;
}

export class ImageIntake {
  readonly arrivals = signal<readonly Arrival[]>([]);
  readonly #options: IntakeOptions;
  readonly #running = new Map<number, AbortController>();
  readonly #files = new Map<number, File>();
  #last = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Resolves when it is stored, failed, or waits for a target. */
  async take(file: File): Promise<void> {
    const id = this.#add({ name: file.name, size: file.size, phase: 'reading', part: 0, md5sum: '', message: '' });
    this.#files.set(id, file);
    await this.#attempt(id, async (signal) => {
      const md5sum = await md5Of(file, (part) => this.#change(id, { part }), signal);
      this.#change(id, { md5sum });
      const target = await this.#options.decide(md5sum, file);
      if (target) await this.#send(id, target, signal);
      else this.#change(id, { phase: 'unknown' });
    });
  }

  /** Uploads a file that waits. */
  store(id: number, target: ImageTarget): Promise<void> {
    return this.#attempt(id, (signal) => this.#send(id, target, signal));
  }

  /** Has the server download an image. Resolves when it is stored or failed. */
  async download({ nodeType, size, ...wanted }: ImageUrl): Promise<void> {
    const { filename, md5sum = '' } = wanted;
    const id = this.#add({ name: filename, size, target: filename, phase: 'fetching', part: undefined, md5sum, message: '' });
    const { api, computeId, stored } = this.#options;
    await this.#attempt(id, async (signal) => {
      let last: DownloadLine = {};
      const onLine = (line: DownloadLine) => {
        last = line;
        const { done_bytes: done, total_bytes: total } = line;
        if (done !== undefined && total) this.#change(id, { part: done / total, size: total });
      };
      const path = `/v2/computes/${encodeURIComponent(computeId())}/image_downloads`;
      await api.lines(path, onLine, { ...wanted, node_type: nodeType }, signal);
      const { intake } = catalogTexts;
      if (last.filename === undefined) throw new Error(last.failure ?? intake.broken);
      this.#change(id, { phase: 'done', message: intake.done(filename) });
      await stored({ nodeType, filename }, md5sum);
    });
  }

  /** Whether a file of this name is being received. */
  isComing(filename: string): boolean {
    return this.arrivals.value.some(({ name, phase }) => name === filename && phase !== 'done' && phase !== 'failed');
  }

  remove(id: number): void {
    this.#running.get(id)?.abort();
    this.#files.delete(id);
    this.arrivals.value = this.arrivals.peek().filter((one) => one.id !== id);
  }

  close(): void {
    for (const running of this.#running.values()) running.abort();
  }

  async #send(id: number, target: ImageTarget, signal: AbortSignal): Promise<void> {
    const arrival = this.arrivals.peek().find((one) => one.id === id);
    const file = this.#files.get(id);
    if (!arrival || !file) return;
    this.#change(id, { target: target.filename });
    const { api, computeId, stored } = this.#options;
    const path = imagesPath(computeId(), target.nodeType);
    const here = await findStored(api, path, { filename: target.filename, md5sum: arrival.md5sum });
    if (here === undefined) {
      this.#change(id, { phase: 'sending', part: 0 });
      const onProgress = (part: number) => this.#change(id, { part });
      await api.upload(`${path}/${encodeURIComponent(target.filename)}`, { body: file, onProgress, signal });
    }
    const { intake } = catalogTexts;
    this.#change(id, { phase: 'done', message: here === undefined ? intake.done(target.filename) : intake.here(here) });
    await stored({ ...target, filename: here ?? target.filename }, arrival.md5sum);
  }

  #add(arrival: Omit<Arrival, 'id'>): number {
    this.#last += 1;
    this.arrivals.value = [...this.arrivals.peek(), { id: this.#last, ...arrival }];
    return this.#last;
  }

  async #attempt(id: number, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      await task(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) this.#change(id, { phase: 'failed', message: (error as Error).message });
    } finally {
      this.#running.delete(id);
    }
  }

  #change(id: number, change: Partial<Arrival>): void {
    this.arrivals.value = this.arrivals.peek().map((one) => (one.id === id ? { ...one, ...change } : one));
  }
}

/**
 * The name under which a compute has a file of this checksum; undefined when it is to be uploaded.
 * @throws Error when another file has its name: nodes may use that one
 */
export async function findStored(
  api: Api,
  path: string,
  wanted: { filename: string; md5sum: string },
): Promise<string | undefined> {
  const listed = await api.get<readonly ImageFile[]>(path);
  const same = listed.find(({ md5sum }) => md5sum === wanted.md5sum);
  if (!same && listed.some(({ filename }) => filename === wanted.filename))
    throw new Error(catalogTexts.intake.taken(wanted.filename));
  return same?.filename;
}
