/** Ends requests, streams and WebSockets whose login or right has ended: a right is checked at their begin, and again when rights change. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findRequester } from '../api/requester.ts';

/** Interval in which expired logins are noticed. */
const checkEveryMs = 500;

export class OpenRequests {
  readonly #checks = new Map<FastifyRequest, () => boolean>();

  constructor(app: FastifyInstance) {
    const timer = setInterval(() => this.check(), checkEveryMs).unref();
    app.addHook('onClose', async () => clearInterval(timer));
    app.addHook('onResponse', async (request) => {
      this.#checks.delete(request);
    });
  }

  /** Watches a request until it is answered, or its WebSocket is closed. */
  watch(request: FastifyRequest, isAllowed: () => boolean): void {
    this.#checks.set(request, isAllowed);
    if (request.headers.upgrade !== undefined) request.raw.socket.once('close', () => this.#checks.delete(request));
  }

  /** Ends the connections of all requests that are not allowed any more, but for the one that changes its own account: it is answered. */
  check(): void {
    const changing = findRequester();
    for (const [request, isAllowed] of this.#checks) {
      if (isAllowed()) continue;
      this.#checks.delete(request);
      if (changing === undefined || request.requester !== changing) request.raw.socket.destroy();
    }
  }
}
