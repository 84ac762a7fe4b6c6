import type { Readable } from 'node:stream';
import { fault } from '../../api/faults.ts';

/** An upload of bounded size. @throws `body_too_large`, from the stream */
export async function* atMost(limit: number, source: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw fault('body_too_large', { limit });
    yield chunk;
  }
}
