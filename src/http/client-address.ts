/** Identifies clients for limits, by address. */
import type { FastifyRequest } from 'fastify';
import { clientKey } from '../api/client-key.ts';

export function clientOf({ raw }: FastifyRequest): string {
  return clientKey(raw.socket.remoteAddress);
}
