/**
 * Requests to GNS3 (2.2.60, Linux) and its responses: one call a line in `transcripts/`, in the order in
 * which they were made. Words of messages are left out; ours are our own.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Call {
  readonly name: string;
  /** Method and path; `<name>` stands for what an earlier call saved, `<work>` for a folder that clients may use. */
  readonly call: string;
  readonly body?: unknown;
  /** Sent unchanged: text (each character a byte), or a generated body. */
  readonly raw?: string | MadeBody;
  readonly headers?: Record<string, string>;
  /** Only so many bytes of the answer are read. */
  readonly read?: number;
  /** Name to the place in the answer, as `0.node_id`. */
  readonly save?: Record<string, string>;
  /** Comparison of the bodies; absent: whole. */
  readonly compare?: Comparison;
  readonly answer: Answer;
}
/** A disk image of that size, the bytes that the call of that name answered, or a JSON body with a name of so many characters. */
export type MadeBody = { disk: string } | { answer: string } | { name_of: number; with: string };
/**
 * `status`: not at all · `part`: only the keys that were written down · `count`: the length of the list · `filters`: that key ·
 * `bytes`: the first bytes, hexadecimal · `zip`: the names in the archive.
 */
export type Comparison = 'status' | 'part' | 'count' | 'filters' | 'bytes' | 'zip';
export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly route: string | null;
  readonly body?: unknown;
}

export async function readTranscript(section: string): Promise<Call[]> {
  const text = await readFile(join(import.meta.dirname, 'transcripts', `${section}.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Call);
}
