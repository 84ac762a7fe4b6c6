import { on } from 'node:events';
import type { Worker } from 'node:worker_threads';

/**
 * Yields all messages of a thread, in order, until it ends; must be called before the thread can send anything. `once` in a loop
 * would not do: the last messages arrive together with the end, and only the first would be seen.
 * @throws the thread's error, after all of its messages
 */
export function messagesOf<T>(worker: Worker): AsyncIterable<T> {
  // A caller may stop listening before the thread ends: an error without a listener would end the server.
  worker.on('error', () => undefined);
  const messages = on(worker, 'message', { close: ['exit'] });
  return (async function* () {
    for await (const [message] of messages) yield message as T;
  })();
}
