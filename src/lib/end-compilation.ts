/** V8's compilers, which work in threads of their own. */
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * No function is optimized from now on: for a process that is about to exit. Node's exit joins the threads that compile, and a
 * thread that needs memory waits for the main thread to collect garbage, so the process would stand still for ever. What is being
 * compiled now is done when the cleanup is. @see https://github.com/nodejs/node/issues/54918
 */
export function endCompilation(): void {
  // Compiled code is kept together with the flags, and the next start has others.
  flushCompileCache();
  setFlagsFromString('--no-maglev');
  setFlagsFromString('--no-turbofan');
}
