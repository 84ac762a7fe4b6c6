/**
 * Sessions of browsers that signed in. A session is 256 random bits in a cookie; the server keeps a hash of it, in memory: a
 * restart ends all sessions. It expires a day after its last use, and a week after the sign-in; an open WebSocket is a use.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';

const idleMs = 24 * 3_600_000;
const longestMs = 7 * idleMs;
/** The least recently used one ends for a new one. */
const most = 1_000;

interface Session {
  readonly user: string;
  /** Connections of its WebSockets. They end with it. */
  readonly sockets: Set<Socket>;
  readonly expiry: NodeJS.Timeout;
  /** Ms of `performance.now()`. */
  usedAt: number;
}

export class Sessions {
  /** By the hash of their token; the least recently used first. */
  readonly #sessions = new Map<string, Session>();

  /** The token of a new session. */
  open(user: string): string {
    const oldest = this.#sessions.size >= most ? this.#sessions.keys().next().value : undefined;
    if (oldest !== undefined) this.#end(oldest);
    const token = randomBytes(32).toString('base64url');
    const key = hashOf(token);
    const expiry = setTimeout(() => this.#end(key), longestMs).unref();
    this.#sessions.set(key, { user, sockets: new Set(), expiry, usedAt: performance.now() });
    return token;
  }

  /** The user of a session, which counts as used; undefined when it does not exist or has expired. `socket`: the connection of a WebSocket. */
  use(token: string, socket?: Socket): string | undefined {
    const key = hashOf(token);
    const session = this.#sessions.get(key);
    if (!session) return undefined;
    if (session.sockets.size === 0 && performance.now() - session.usedAt > idleMs) {
      this.#end(key);
      return undefined;
    }
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    session.usedAt = performance.now();
    if (socket && !socket.destroyed && !session.sockets.has(socket)) keepUntilClosed(session, socket);
    return session.user;
  }

  close(token: string): void {
    this.#end(hashOf(token));
  }

  /** Ends all sessions of a user. */
  closeAll(user: string): void {
    for (const [key, session] of [...this.#sessions]) if (session.user === user) this.#end(key);
  }

  #end(key: string): void {
    const session = this.#sessions.get(key);
    this.#sessions.delete(key);
    clearTimeout(session?.expiry);
    for (const socket of session?.sockets ?? []) socket.destroy();
  }
}

function keepUntilClosed(session: Session, socket: Socket): void {
  session.sockets.add(socket);
  socket.once('close', () => {
    session.sockets.delete(socket);
    session.usedAt = performance.now();
  });
}

/** Sessions are looked up by hash, so that the time of a look-up says nothing about tokens. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64');
