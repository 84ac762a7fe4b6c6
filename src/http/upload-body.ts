/**
 * The body of an upload as its route reads it. It may be of any length and take any time, but not stand still, nor fill the disk. What ends it
 * early leaves the connection alone, so that the client receives the reason.
 */
import { Readable } from 'node:stream';
import { fault } from '../api/faults.ts';
import type { DiskFloor } from '../lib/disk-floor.ts';

/** The disk is looked at again after so many bytes. */
const lookEveryBytes = 16 * 1024 * 1024;

export interface UploadLimits {
  /** The longest time without a byte, while one is waited for; 0: without a limit. */
  readonly idleMs: number;
  readonly floor: DiskFloor;
}

/** @throws upload_idle, disk_floor, why the client went: from the stream */
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
  // The client may disconnect later, when nothing waits for it any more.
  next.catch(() => undefined);
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
  }
}
