/**
 * Ends WebSockets whose clients are gone without a word: a host that lost its power or its network would hold a session, a console or a
 * feed until TCP gives up, which takes a quarter of an hour, or for ever where nothing is sent. Clients answer pings by themselves (RFC
 * 6455, §5.5.2): browsers and WebSocket libraries do so without their programs.
 */
import type { WebSocket } from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';

/** A client that reads a long backlog answers late. */
const mostUnanswered = 2;

/** `everyMs`: between two pings; a client has twice as long to answer. Call it once WebSockets are registered. */
export function endSilentSockets(app: FastifyInstance, everyMs: number): void {
  const unanswered = new WeakMap<WebSocket, number>();
  app.websocketServer.on('connection', (socket) => {
    const answered = () => unanswered.delete(socket);
    socket.on('pong', answered).on('message', answered);
  });
  const timer = setInterval(() => {
    for (const socket of app.websocketServer.clients) {
      const count = unanswered.get(socket) ?? 0;
      if (count >= mostUnanswered) socket.terminate();
      else {
        unanswered.set(socket, count + 1);
        socket.ping();
      }
    }
  }, everyMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}
