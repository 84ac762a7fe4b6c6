/** A client program of the API: the headers of each of its requests, and its expectations of a response. */
import assert from 'node:assert/strict';
import { type Ask, expectStatus, type RawClient, type Reply } from '../support/raw-http.ts';

/** `line` is method and path; the answer must have this status. */
export type Speak = (line: string, status: number, ask?: Ask) => Promise<Reply>;

/**
 * Answers with a body must be `application/json` to the letter: the desktop program compares the header, and takes any other for a
 * server that is none.
 */
export function clientProgram(client: RawClient, headers: Record<string, string>): Speak {
  return async (line, status, ask = {}) => {
    const reply = expectStatus(
      await client.send(line, { limitMs: 60_000, ...ask, headers: { ...headers, ...ask.headers } }),
      status,
    );
    if (status === 204) assert.equal(reply.bytes.length, 0, line);
    else assert.equal(reply.headers['content-type'], 'application/json', line);
    return reply;
  };
}

/** Asserts that each key has a value: the client reads it without a check. */
export function hasKeys(value: Record<string, unknown>, keys: string): void {
  for (const key of keys.split(' ')) assert.notEqual(value[key], undefined, `${key} is missing in ${JSON.stringify(value)}`);
}
