/** Bodies of remote computes' answers, which may be hostile: of limited size. */
import type { Readable } from 'node:stream';
import { fault } from '../../api/faults.ts';

/** Far above every list of ours: a lab of 10,000 nodes has some 20 MiB. */
export const mostAnswerBytes = 128 * 1024 * 1024;

export interface AnswerSource {
  /** Name of the compute. */
  readonly name: string;
  readonly request: string;
}

/** Reads an answer up to `mostAnswerBytes`. @throws `compute_reply_invalid`, errors of the connection */
export async function answerText(body: Readable, { name, request }: AnswerSource, mostBytes = mostAnswerBytes): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (bytes > mostBytes)
      throw fault('compute_reply_invalid', { name, request, reason: `it has more than ${mostBytes / 2 ** 20} MiB` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
