/** Images on their way from the user's disk to a compute: their checksum is computed, which says what they are, then they are uploaded. */
import { signal } from '@preact/signals';
import type { Api } from '../api.ts';
import { catalogTexts } from './catalog-texts.ts';
import { type ImageFile, imagesPath } from './images.ts';
import { md5Of } from './md5.ts';

export interface ImageTarget {
  readonly nodeType: string;
  readonly filename: string;
}

export interface Arrival {
  readonly id: number;
  readonly file: File;
  /** `unknown`: it waits for a target. */
  readonly phase: 'reading' | 'unknown' | 'sending' | 'done' | 'failed';
  /** 0 to 1, of the phase. */
  readonly part: number;
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
  #last = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Resolves when it is stored, failed, or waits for a target. */
  async take(file: File): Promise<void> {
    this.#last += 1;
    const id = this.#last;
    this.arrivals.value = [...this.arrivals.peek(), { id, file, phase: 'reading', part: 0, md5sum: '', message: '' }];
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

  remove(id: number): void {
    this.#running.get(id)?.abort();
    this.arrivals.value = this.arrivals.peek().filter((one) => one.id !== id);
  }

  close(): void {
    for (const running of this.#running.values()) running.abort();
  }

  async #send(id: number, target: ImageTarget, signal: AbortSignal): Promise<void> {
    const arrival = this.arrivals.peek().find((one) => one.id === id);
    if (!arrival) return;
    const { api, computeId, stored } = this.#options;
    const path = imagesPath(computeId(), target.nodeType);
    const here = await findStored(api, path, { filename: target.filename, md5sum: arrival.md5sum });
    if (here === undefined) {
      this.#change(id, { phase: 'sending', part: 0 });
      const onProgress = (part: number) => this.#change(id, { part });
      await api.upload(`${path}/${encodeURIComponent(target.filename)}`, { body: arrival.file, onProgress, signal });
    }
    const { intake } = catalogTexts;
    this.#change(id, { phase: 'done', message: here === undefined ? intake.done(target.filename) : intake.here(here) });
    await stored({ ...target, filename: here ?? target.filename }, arrival.md5sum);
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
