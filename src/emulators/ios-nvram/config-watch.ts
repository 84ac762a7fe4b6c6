/** Writes the configuration of a running IOS image to text files whenever the image has saved it, and keeps its log short. */
import { lstat } from 'node:fs/promises';
import type { NodeView } from '../driver.ts';
import { exportConfigs, nvramFile } from './configs.ts';
import { shortenLog } from './node-files.ts';

/** Interval at which the NVRAM and the size of the log are checked. */
const watchMs = 2000;
/** Bytes: an image that repeats a message for days must not fill the disk. */
const logSize = { most: 8 * 2 ** 20, keep: 2 ** 20 };

/** Files that a running image writes. */
interface WatchedFiles {
  /** The number in the name of its NVRAM. */
  readonly id: number;
  /** Absolute path. Absent: it has no log of ours. */
  readonly log?: string;
}

export class ConfigWatch {
  readonly #node: NodeView;
  readonly #files: WatchedFiles;
  readonly #timer: NodeJS.Timeout;
  #seen: string | undefined;
  /** Stamp of the NVRAM whose failure was reported. */
  #failed: string | undefined;
  #isLogReported = false;
  #work: Promise<void> = Promise.resolve();

  constructor(node: NodeView, files: WatchedFiles) {
    this.#node = node;
    this.#files = files;
    this.#timer = setInterval(() => this.#look(), watchMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The image has ended: what it has saved last. Never rejects. */
  finish(): Promise<void> {
    this.stop();
    this.#look();
    return this.#work;
  }

  #look(): void {
    this.#work = this.#work.then(() => this.#exportOnce()).then(() => this.#shortenLog());
  }

  async #shortenLog(): Promise<void> {
    const { log } = this.#files;
    if (log === undefined) return;
    await shortenLog(log, logSize).catch((error: Error) => {
      if (!this.#isLogReported) this.#node.warn(`The console log of ${this.#node.name} cannot be shortened: ${error.message}`);
      this.#isLogReported = true;
    });
  }

  async #exportOnce(): Promise<void> {
    const { directory } = this.#node;
    const { id } = this.#files;
    const facts = await lstat(nvramFile(directory, id)).catch(() => undefined);
    const seen = facts && `${facts.mtimeMs} ${facts.size} ${facts.ino}`;
    if (seen === undefined || seen === this.#seen) return;
    try {
      // The first look can be at a node of an earlier server: a file that was edited after IOS saved is the next configuration.
      await exportConfigs(directory, id, { keepsNewer: this.#seen === undefined });
      this.#seen = seen;
    } catch (error) {
      // The export is retried: at the next start the old files would replace the configuration that IOS has saved.
      if (seen !== this.#failed) warnOfNvram(this.#node, error as Error);
      this.#failed = seen;
    }
  }
}

/** The image has ended while no server ran: what it saved last is not in the text files yet. Never rejects. */
export async function saveAfterEnd(node: NodeView, id: number): Promise<void> {
  await exportConfigs(node.directory, id, { keepsNewer: true }).catch((error: Error) => warnOfNvram(node, error));
}

function warnOfNvram({ name, warn }: NodeView, { message }: Error): void {
  warn(`The configuration of ${name} could not be read from its NVRAM: ${message}`);
}
