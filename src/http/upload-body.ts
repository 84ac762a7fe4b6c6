/**
 * Reads the body of an upload within limits. It may have any length and take any time, but not stand still or fill the disk. An
 * error leaves the connection open, so that the client receives the reason.
 */
import { Readable } from 'node:stream';
import { fault } from '../api/faults.ts';
import type { DiskFloor } from '../lib/disk-floor.ts';

/** Bytes between two checks of the free disk space. */
const lookEveryBytes = 16 * 1024 * 1024;

export interface UploadLimits {
  /** Longest wait for the next byte, ms; 0: no limit. */
  readonly idleMs: number;
  readonly floor: DiskFloor;
}

/**
 * Passes the body on within the limits. The stream throws upload_idle, disk_floor, or the error with which the client disconnected.
 */
export function limitUpload(body: Readable, limits: UploadLimits): Readable {
  body.on('error', () => undefined);
  return Readable.from(limited(body, limits), { objectMode: false });
}

async function* limited(body: Readable, { idleMs, floor }: UploadLimits): AsyncGenerator<Buffer> {
  const chunks = body.iterator({ destroyOnReturn: false });
  let untilLook = lookEveryBytes;
  for (;;) {
    const read = chunks.next() as Promise<IteratorResult<Buffer, undefined>>;
    const next = await (idleMs === 0 ? read : withinIdle(read, idleMs));
    if (next.done) return;
    untilLook -= next.value.length;
    if (untilLook <= 0) {
      untilLook = lookEveryBytes;
      await floor.check();
    }
    yield next.value;
  }
}

async function withinIdle<T>(next: Promise<T>, idleMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(fault('upload_idle', { seconds: idleMs / 1000 })), idleMs);
  // The client may disconnect later, when nothing awaits the read any more.
  next.catch(() => undefined);
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
  }
}
