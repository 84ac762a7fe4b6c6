/**
 * Sessions of browsers that signed in. The cookie holds 256 random bits; the server keeps their hash in memory, so a restart ends
 * all sessions. A session expires a day after its last use and a week after the login; an open WebSocket counts as use.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Caller } from '../api/rights.ts';

const idleMs = 24 * 3_600_000;
const longestMs = 7 * idleMs;
/** Most sessions; the least recently used one ends for a new one. */
const most = 1_000;

interface Session {
  readonly caller: Caller;
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
  open(caller: Caller): string {
    const oldest = this.#sessions.size >= most ? this.#sessions.keys().next().value : undefined;
    if (oldest !== undefined) this.#end(oldest);
    const token = randomBytes(32).toString('base64url');
    const key = hashOf(token);
    const expiry = setTimeout(() => this.#end(key), longestMs).unref();
    this.#sessions.set(key, { caller, sockets: new Set(), expiry, usedAt: performance.now() });
    return token;
  }

  /**
   * Returns the account of a session and counts as its use; undefined when unknown or ended. `socket`: the connection of a
   * WebSocket.
   */
  use(token: string, socket?: Socket): Caller | undefined {
    const key = hashOf(token);
    const session = this.#sessions.get(key);
    if (!session) return undefined;
    const isIdle = session.sockets.size === 0 && performance.now() - session.usedAt > idleMs;
    if (isIdle || !session.caller.isValid()) {
      this.#end(key);
      return undefined;
    }
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    session.usedAt = performance.now();
    if (socket && !socket.destroyed && !session.sockets.has(socket)) keepUntilClosed(session, socket);
    return session.caller;
  }

  close(token: string): void {
    this.#end(hashOf(token));
  }

  /** Ends all sessions of a user. */
  closeAll(userId: string): void {
    for (const [key, session] of [...this.#sessions]) if (session.caller.userId === userId) this.#end(key);
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
