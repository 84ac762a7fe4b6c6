/** The captures of the process: which are open on a link, and which files are still being completed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CaptureSpec, CaptureStats } from '../protocol.ts';
import { Capture } from './capture.ts';

/** A request for a change waits so long for files to be complete; a disk that hangs must not keep all requests. */
const settleLimitMs = 2000;

export class CaptureFileLocks {
  readonly #closing = new Map<string, Promise<void>>();

  /** Begins when the one that wrote this file before has completed it. */
  open(spec: CaptureSpec): Capture {
    return new Capture(spec, this.#closing.get(spec.path) ?? Promise.resolve());
  }

  close(capture: Capture): void {
    const { path } = capture.spec;
    const closing = capture.close().then(() => {
      if (this.#closing.get(path) === closing) this.#closing.delete(path);
    });
    this.#closing.set(path, closing);
  }

  /** The files of captures that were closed are complete. */
  async settled(): Promise<void> {
    if (this.#closing.size === 0) return;
    const limit = new AbortController();
    const late = sleep(settleLimitMs, undefined, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#closing.values()), late]);
    limit.abort();
  }
}

/** Is shown a run of frames, and must copy what it keeps. */
export interface Tap {
  take(buffer: Buffer, start: number, end: number): void;
}

/** Where in a link frames are shown to its captures. */
export interface Taps {
  before: readonly Tap[];
  after: readonly Tap[];
}
export const noTaps: Readonly<Taps> = { before: [], after: [] };

export class OpenCaptures {
  readonly #files: CaptureFileLocks;
  readonly #open = new Map<string, Capture>();

  constructor(files: CaptureFileLocks) {
    this.#files = files;
  }

  get taps(): Taps {
    const captures = [...this.#open.values()];
    return {
      before: captures.filter(({ spec }) => spec.side === 'before'),
      after: captures.filter(({ spec }) => spec.side !== 'before'),
    };
  }

  /** Ends those that are not wanted any more. */
  keep(wanted: readonly CaptureSpec[]): void {
    const keys = new Set(wanted.map(keyOf));
    for (const [key, capture] of this.#open) {
      if (keys.has(key)) continue;
      this.#open.delete(key);
      this.#files.close(capture);
    }
  }

  /** Exactly these. */
  apply(wanted: readonly CaptureSpec[]): void {
    this.keep(wanted);
    for (const spec of wanted) {
      const key = keyOf(spec);
      if (!this.#open.has(key)) this.#open.set(key, this.#files.open(spec));
    }
  }

  stats(): CaptureStats[] {
    return Array.from(this.#open.values(), (capture) => capture.stats());
  }
}

/** Key of a capture: specifications with the same key are the same capture. */
function keyOf({ path, linkType, side, nanoseconds, maxBytes, until }: CaptureSpec): string {
  return JSON.stringify([path, linkType, side ?? 'after', nanoseconds ?? false, maxBytes ?? null, until ?? null]);
}
