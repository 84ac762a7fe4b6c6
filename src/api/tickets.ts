/**
 * Issues tickets for WebSockets, because a browser cannot send credentials with one. It requests a ticket with its credentials and
 * connects with `?ticket=…`. A ticket is valid once, for a short time, for one WebSocket route.
 */
import { randomBytes } from 'node:crypto';
import { Type } from '../schema/type.ts';
import type { Caller } from './rights.ts';
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
  /** Account for which it was issued. */
  readonly caller: Caller | undefined;
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
      ({ body, caller }) => ({ ticket: this.#issue(body.path, caller), expires_in: lifeMs / 1000 }),
    );
  }

  /** Uses a ticket up. Returns its account once, for a ticket that has not expired, at the path for which it was issued. */
  redeem(ticket: string, path: string): Caller | undefined {
    const issued = this.#issued.get(ticket);
    this.#issued.delete(ticket);
    const isGood = issued !== undefined && performance.now() < issued.expiresAt && issued.path === path;
    return isGood && issued.caller?.isValid() ? issued.caller : undefined;
  }

  /** Revokes all unused tickets of a user. */
  revokeAll(userId: string): void {
    for (const [ticket, { caller }] of this.#issued) if (caller?.userId === userId) this.#issued.delete(ticket);
  }

  #issue(path: string, caller: Caller | undefined): string {
    const oldest = this.#issued.size >= most ? this.#issued.keys().next().value : undefined;
    if (oldest !== undefined) this.#issued.delete(oldest);
    const ticket = randomBytes(24).toString('base64url');
    this.#issued.set(ticket, { expiresAt: performance.now() + lifeMs, path, caller });
    return ticket;
  }
}
