/**
 * A browser cannot send credentials with a WebSocket. It asks for a ticket with them, and shows it as `?ticket=…` when it connects:
 * good once, for a short while, and for WebSockets only.
 */
import { randomBytes } from 'node:crypto';
import { Type } from '../schema/type.ts';
import { type Route, route } from './route.ts';

const lifeMs = 30_000;
/** Nobody needs so many at a time; the oldest goes. */
const most = 1000;

const Ticket = Type.Object(
  {
    ticket: Type.String({ description: 'shown as the query parameter `ticket` of a WebSocket address' }),
    expires_in: Type.Integer({ description: 'seconds; it is good once' }),
  },
  { title: 'Ticket' },
);

export class Tickets {
  readonly #expiries = new Map<string, number>();

  route(): Route {
    return route(
      'POST /v2/tickets',
      { summary: 'A ticket with which a browser opens one WebSocket without credentials', status: 201, reply: Ticket, own: true },
      () => ({ ticket: this.#issue(), expires_in: lifeMs / 1000 }),
    );
  }

  /** True once for each ticket that has not expired. */
  redeem(ticket: string): boolean {
    const expiry = this.#expiries.get(ticket);
    this.#expiries.delete(ticket);
    return expiry !== undefined && performance.now() < expiry;
  }

  #issue(): string {
    const oldest = this.#expiries.size >= most ? this.#expiries.keys().next().value : undefined;
    if (oldest !== undefined) this.#expiries.delete(oldest);
    const ticket = randomBytes(24).toString('base64url');
    this.#expiries.set(ticket, performance.now() + lifeMs);
    return ticket;
  }
}
