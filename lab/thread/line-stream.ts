/** An answer of one JSON document a line. */
import { PassThrough } from 'node:stream';
import { isFault } from '../../src/api/faults.ts';
import { Stream } from '../../src/api/route.ts';

/** Answers with the pieces of a thread; a failure after the first is the last line. @throws errors before the first piece, which have a status of their own */
export async function lineStream(pieces: AsyncGenerator<Uint8Array>, onError: (error: unknown) => void): Promise<Stream> {
  const { value: first } = await pieces.next();
  const out = new PassThrough();
  // A client that has disconnected leaves no first piece.
  if (first !== undefined) out.write(first);
  void pipe(pieces, out, onError);
  return new Stream('application/x-ndjson', out);
}

async function pipe(pieces: AsyncIterable<Uint8Array>, out: PassThrough, onError: (error: unknown) => void): Promise<void> {
  try {
    for await (const piece of pieces) out.write(piece);
  } catch (error) {
    if (!isFault(error)) onError(error);
    const failure = isFault(error) ? error.message : 'the server could not carry it out: see its log';
    out.write(`${JSON.stringify({ failure })}\n`);
  } finally {
    out.end();
  }
}
