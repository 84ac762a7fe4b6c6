/** Reads the body of routes that take a file (`raw: 'file'`), over HTTP and in-process. */
import { Readable } from 'node:stream';
import { FormError, fileOf } from '../lib/form-upload.ts';
import { fault } from './faults.ts';

/** Returns the uploaded file, from a plain body or a form. The stream throws form_invalid. */
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
