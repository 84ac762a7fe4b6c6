/**
 * Limits the memory that answers in JSON of one client take. A few are written at a time; large ones are counted until the client has
 * read them, and beyond the limit further large ones are refused.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import { FairLimit } from '../lib/fair-limit.ts';
import type { JsonText } from '../lib/json-text.ts';
import { clientOf } from './client-address.ts';

/** Shorter answers fit into the buffers of a connection. */
const largeBytes = 1024 * 1024;
const usualUnreadBytes = 256 * 1024 * 1024;
/** Answers of a client that are written at a time. */
const mostAtOnce = 8;

export class LargeAnswers {
  readonly #texts: JsonText;
  readonly #mostUnreadBytes: number;
  readonly #turns = new FairLimit({ total: Number.POSITIVE_INFINITY, each: mostAtOnce });
  /** Unread answers of each client, with the number of requests that wait for each: a list that did not change is in memory once. */
  readonly #unread = new Map<string, Map<Buffer, number>>();

  /** `mostUnreadBytes`: limit per client. */
  constructor(texts: JsonText, mostUnreadBytes = usualUnreadBytes) {
    this.#texts = texts;
    this.#mostUnreadBytes = mostUnreadBytes;
  }

  /** Refuses a request that changes something before it is done: its answer is sent in any case. @throws answers_unread */
  requireRoom(request: FastifyRequest): void {
    if (request.method !== 'GET') requireBelow(this.#unreadBytes(clientOf(request)), this.#mostUnreadBytes);
  }

  /** Serializes an answer. It counts as unread until the connection has taken it. @throws answers_unread, of a request that only reads */
  async encode(reply: FastifyReply, value: unknown): Promise<Buffer> {
    const client = clientOf(reply.request);
    return this.#turns.run(client, async () => {
      const bytes = await this.#texts.encodeInTurns(value);
      if (bytes.length > largeBytes) this.#count(client, bytes, reply);
      return bytes;
    });
  }

  #count(client: string, bytes: Buffer, { raw, request }: FastifyReply): void {
    const unread = this.#unread.get(client) ?? new Map<Buffer, number>();
    const waiting = unread.get(bytes) ?? 0;
    const total = this.#unreadBytes(client);
    // A client without other answers is sent one of any size.
    if (request.method === 'GET' && waiting === 0 && total > 0) requireBelow(total, this.#mostUnreadBytes - bytes.length);
    if (raw.closed) return;
    this.#unread.set(client, unread.set(bytes, waiting + 1));
    raw.once('close', () => {
      const left = (unread.get(bytes) ?? 1) - 1;
      if (left > 0) unread.set(bytes, left);
      else unread.delete(bytes);
      if (unread.size === 0) this.#unread.delete(client);
    });
  }

  #unreadBytes(client: string): number {
    return [...(this.#unread.get(client)?.keys() ?? [])].reduce((sum, { length }) => sum + length, 0);
  }
}

function requireBelow(bytes: number, most: number): void {
  if (bytes > most) throw fault('answers_unread', { bytes });
}
