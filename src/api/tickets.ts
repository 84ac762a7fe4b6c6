/**
 * Issues tickets for WebSockets, because a browser cannot send credentials with one. It requests a ticket with its credentials and
 * connects with `?ticket=…`. A ticket is valid once, for a short time, for one WebSocket route.
 */
import { randomBytes } from 'node:crypto';
import { Type } from '../schema/type.ts';
import { type Route, route } from './route.ts';

const lifeMs = 30_000;
/** Most tickets at a time; the oldest is dropped. */
const most = 1000;

const Ticket = Type.Object(
  {
    ticket: Type.String({ description: 'shown as the query parameter `ticket` of a WebSocket address' }),
    expires_in: Type.Integer({ description: 'seconds; it is good once' }),
  },
  { title: 'Ticket' },
);

const TicketCreate = Type.Object(
  {
    path: Type.String({
      description: 'path of the WebSocket that it is to open, without a query',
      pattern: '^/',
      maxLength: 2048,
    }),
  },
  { title: 'TicketCreate', additionalProperties: false },
);

interface Issued {
  /** Ms of `performance.now()`. */
  readonly expiresAt: number;
  readonly path: string;
}

export class Tickets {
  readonly #issued = new Map<string, Issued>();

  route(): Route {
    return route(
      'POST /v2/tickets',
      {
        right: 'login',
        summary: 'A ticket with which a browser opens one WebSocket without credentials',
        body: TicketCreate,
        status: 201,
        reply: Ticket,
        own: true,
      },
      ({ body }) => ({ ticket: this.#issue(body.path), expires_in: lifeMs / 1000 }),
    );
  }

  /** Uses a ticket up. True once for each ticket that has not expired, at the path for which it was issued. */
  redeem(ticket: string, path: string): boolean {
    const issued = this.#issued.get(ticket);
    this.#issued.delete(ticket);
    return issued !== undefined && performance.now() < issued.expiresAt && issued.path === path;
  }

  /** Revokes all unused tickets. */
  revokeAll(): void {
    this.#issued.clear();
  }

  #issue(path: string): string {
    const oldest = this.#issued.size >= most ? this.#issued.keys().next().value : undefined;
    if (oldest !== undefined) this.#issued.delete(oldest);
    const ticket = randomBytes(24).toString('base64url');
    this.#issued.set(ticket, { expiresAt: performance.now() + lifeMs, path });
    return ticket;
  }
}
