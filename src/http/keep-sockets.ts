/**
 * Ends WebSockets whose clients are gone without a word: a host that lost its power or its network would hold a session, a console or a
 * feed until TCP gives up, which takes a quarter of an hour, or for ever where nothing is sent. Clients answer pings by themselves (RFC
 * 6455, §5.5.2): browsers and WebSocket libraries do so without their programs.
 */
import type { WebSocket } from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';

/** Pings that left without an answer before the client counts as gone. */
const mostUnanswered = 2;
/** Rounds for which a ping may wait behind what the client has not read: ten minutes, at half a minute each. */
const mostWaiting = 20;

/** Of the pings to a client. */
interface Pings {
  unanswered: number;
  /** Rounds since the last one was queued; 0 when it has left. */
  waiting: number;
}

/**
 * `everyMs`: between two pings; a client has twice as long to answer one that has left. A client that reads a long backlog slowly is
 * not gone: its ping leaves when what is queued before it was read.
 */
export function endSilentSockets(app: FastifyInstance, everyMs: number): void {
  const pingsOf = new WeakMap<WebSocket, Pings>();
  app.websocketServer.on('connection', (socket) => {
    const pings: Pings = { unanswered: 0, waiting: 0 };
    pingsOf.set(socket, pings);
    const answered = () => {
      pings.unanswered = 0;
    };
    socket.on('pong', answered).on('message', answered);
  });
  const timer = setInterval(() => {
    for (const socket of app.websocketServer.clients) {
      const pings = pingsOf.get(socket);
      if (!pings) continue;
      if (pings.unanswered >= mostUnanswered || pings.waiting >= mostWaiting) socket.terminate();
      else if (pings.waiting > 0) pings.waiting += 1;
      else sendPing(socket, pings);
    }
  }, everyMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

function sendPing(socket: WebSocket, pings: Pings): void {
  pings.waiting = 1;
  socket.ping(undefined, undefined, () => {
    // What was queued before it has been read.
    if (pings.waiting > 1) pings.unanswered = 0;
    pings.waiting = 0;
    pings.unanswered += 1;
  });
}
