/** What the captures of all nodes share: the files being created or completed now, and the watch for captures that end by themselves. */
import { fault } from '../api/faults.ts';
import type { LinkStats } from '../fabric/protocol.ts';
import type { Context } from './context.ts';
import type { ComputeNode } from './node.ts';
import { type CaptureRecord, capturesOf } from './store.ts';

/** How often the fabric is asked whether a capture has ended; only while there is one. */
const watchMs = 1000;

export class Captures {
  /** Paths of files. */
  readonly #starting = new Set<string>();
  /** Captures whose files are being completed. */
  readonly #ending = new Set<CaptureRecord>();
  readonly #closed = new AbortController();

  /** Runs while no other capture starts with the same file. @throws capture_file_taken */
  async starting<T>(path: string, fn: () => Promise<T>): Promise<T> {
    if (this.#starting.has(path)) throw fault('capture_file_taken', { file: path.slice(path.lastIndexOf('/') + 1) });
    this.#starting.add(path);
    try {
      return await fn();
    } finally {
      this.#starting.delete(path);
    }
  }

  /** Runs what ends captures; readers wait for it, and then read to the end of the files. */
  async ending(captures: readonly CaptureRecord[], fn: () => Promise<void>): Promise<void> {
    for (const capture of captures) this.#ending.add(capture);
    try {
      await fn();
    } finally {
      for (const capture of captures) this.#ending.delete(capture);
    }
  }

  isEnding(capture: CaptureRecord): boolean {
    return this.#ending.has(capture);
  }

  /** Aborts when the server ends: streams end. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort();
  }
}

export interface CaptureWatchParts {
  readonly context: Context;
  stats(ids: string[]): Promise<LinkStats[]>;
  nodes(): Iterable<ComputeNode>;
}

/** Polls the fabric for captures that have ended by themselves, until the captures are closed. */
export function watchCaptures(parts: CaptureWatchParts): void {
  const { context } = parts;
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    await lookOnce(parts)
      .catch((error) => context.log('warning', `captures: ${error}`))
      .finally(() => {
        looking = false;
      });
  };
  const timer = setInterval(() => void look(), watchMs).unref();
  context.captures.closed.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function lookOnce({ context, stats, nodes }: CaptureWatchParts): Promise<void> {
  const { wiring } = context;
  const capturing = wiring.capturing();
  const ids = new Set(capturing.flatMap((binding) => wiring.placeOf(binding)?.linkId ?? []));
  if (ids.size === 0) return;
  const ended = new Map<string, string>();
  for (const { captures = [] } of await stats([...ids])) {
    for (const capture of captures) if (capture.ended !== undefined) ended.set(capture.path, capture.ended);
  }
  if (ended.size === 0) return;
  const byId = new Map(Array.from(nodes(), (node) => [node.id, node]));
  for (const binding of capturing) {
    for (const capture of capturesOf(binding.nio)) {
      const reason = ended.get(capture.path);
      const node = reason === undefined ? undefined : byId.get(binding.nodeId);
      if (node && reason !== undefined) await node.exclusively(() => node.captures.ended(binding, capture, reason));
    }
  }
}
