/**
 * Recognizes GNS3's desktop client, whose dialog of filters needs a form of its own. Its requests name it; its WebSockets have no
 * `User-Agent`, so that one from an address from which the desktop sent requests is taken for its own. Source: the handshake of Qt 5.15's
 * QWebSocket, which has the headers Host, Upgrade, Connection and Sec-WebSocket-* only.
 */
import type { Call } from '../../../api/route.ts';

/** Most addresses that are remembered; the oldest is forgotten first. */
const mostAddresses = 1024;

export class DesktopClients {
  readonly #addresses = new Set<string>();

  /** Whether the request is the desktop's. */
  has({ userAgent = '', client }: Pick<Call, 'userAgent' | 'client'>): boolean {
    return /^GNS3 QT Client\b/.test(userAgent) && this.#remember(client);
  }

  /** Whether the request for a feed is the desktop's. */
  hasFeed({ userAgent = '', client = '' }: Pick<Call, 'userAgent' | 'client'>): boolean {
    return userAgent === '' ? this.#addresses.has(client) : this.has({ userAgent, client });
  }

  #remember(client: string | undefined): true {
    if (client === undefined) return true;
    this.#addresses.delete(client);
    this.#addresses.add(client);
    const [oldest] = this.#addresses;
    if (this.#addresses.size > mostAddresses && oldest !== undefined) this.#addresses.delete(oldest);
    return true;
  }
}
