/** Stops V8's compilers, which run in threads. */
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Stops the optimization of functions, for a process that is about to exit. Node's exit joins the compiler threads, and a thread
 * that needs memory waits for the main thread to collect garbage: the process would hang. A compilation in progress ends with the
 * cleanup. @see https://github.com/nodejs/node/issues/54918
 */
export function endCompilation(): void {
  // Compiled code is cached under the current flags, and the next start has other flags than those set below.
  flushCompileCache();
  setFlagsFromString('--no-maglev');
  setFlagsFromString('--no-turbofan');
}
