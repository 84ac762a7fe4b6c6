/**
 * A capture's file as a stream: its present content, then the bytes appended to it, until the capture has ended and all was read.
 * Each reader has its own position in the file and reads at its own pace.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import { Stream } from '../../api/route.ts';

/** Clients compare the whole text. */
const contentType = 'application/vnd.tcpdump.pcap';
const pollMs = 40;
const chunkBytes = 128 * 1024;

export interface CaptureSource {
  readonly path: string;
  /** The capture has ended, and its file is complete. */
  readonly isOver: () => boolean;
  /** Ends the stream at once. */
  readonly signal: AbortSignal;
}

/** @throws file_not_found */
export async function streamCapture(source: CaptureSource): Promise<Stream> {
  const handle = await open(source.path, 'r').catch((cause) => {
    throw fault('file_not_found', { path: source.path.slice(source.path.lastIndexOf('/') + 1) }, { cause });
  });
  const readable = Readable.from(tail(handle, source), { objectMode: false, highWaterMark: chunkBytes });
  // A stream that was never read closes its file, too.
  readable.once('close', () => void handle.close().catch(() => undefined));
  return new Stream(contentType, readable);
}

async function* tail(handle: FileHandle, { isOver, signal }: CaptureSource): AsyncGenerator<Buffer> {
  let buffer = Buffer.allocUnsafe(chunkBytes);
  while (!signal.aborted) {
    // The state is read before the file, so that everything written before the end is read in this round.
    const over = isOver();
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) break;
      yield buffer.subarray(0, bytesRead);
      buffer = Buffer.allocUnsafe(chunkBytes);
    }
    if (over) return;
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
