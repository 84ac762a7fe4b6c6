/**
 * Sessions of browsers that signed in. The cookie holds 256 random bits; the server keeps their hash in memory, so a restart ends
 * all sessions. A session expires a day after its last use and a week after the login; an open WebSocket counts as use.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';

const idleMs = 24 * 3_600_000;
const longestMs = 7 * idleMs;
/** Most sessions; the least recently used one ends for a new one. */
const most = 1_000;

interface Session {
  readonly user: string;
  /** Connections of the session's WebSockets, which end with it. */
  readonly sockets: Set<Socket>;
  readonly expiry: NodeJS.Timeout;
  /** Ms of `performance.now()`. */
  usedAt: number;
}

export class Sessions {
  /** Sessions by the hash of their token; the least recently used first. */
  readonly #sessions = new Map<string, Session>();

  /** Opens a session and returns its token. */
  open(user: string): string {
    const oldest = this.#sessions.size >= most ? this.#sessions.keys().next().value : undefined;
    if (oldest !== undefined) this.#end(oldest);
    const token = randomBytes(32).toString('base64url');
    const key = hashOf(token);
    const expiry = setTimeout(() => this.#end(key), longestMs).unref();
    this.#sessions.set(key, { user, sockets: new Set(), expiry, usedAt: performance.now() });
    return token;
  }

  /**
   * Returns the user of a session and counts as its use; undefined when unknown or expired. `socket`: the connection of a
   * WebSocket.
   */
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

/** Sessions are looked up by hash, so that the time of a look-up reveals nothing about tokens. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64');
