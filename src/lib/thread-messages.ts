import { on } from 'node:events';
import type { Worker } from 'node:worker_threads';

/**
 * All that a thread sends, in order, until it ends; called before it can have sent anything. `once` in a loop is no replacement: what a
 * thread sent last comes together when it ends, and only the first of it would be seen.
 * @throws what the thread throws, after all that it sent
 */
export function messagesOf<T>(worker: Worker): AsyncIterable<T> {
  // For a caller that stops listening before it ends: an error without a listener would end the server.
  worker.on('error', () => undefined);
  const messages = on(worker, 'message', { close: ['exit'] });
  return (async function* () {
    for await (const [message] of messages) yield message as T;
  })();
}
