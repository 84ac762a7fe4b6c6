/** The body of routes that take a file (`raw: 'file'`), over HTTP and within the process. */
import { Readable } from 'node:stream';
import { FormError, fileOf } from '../lib/form-upload.ts';
import { fault } from './faults.ts';

/** The uploaded file, which was sent by itself or in a form. @throws form_invalid, from the stream */
export function uploadOf(body: Readable): Readable {
  return Readable.from(withFormFaults(fileOf(body)), { objectMode: false });
}

async function* withFormFaults(file: Readable): AsyncGenerator<Buffer> {
  try {
    yield* file;
  } catch (cause) {
    throw cause instanceof FormError ? fault('form_invalid', { reason: cause.message }, { cause }) : cause;
  }
}
