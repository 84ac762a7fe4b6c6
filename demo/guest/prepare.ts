/** Makes the demo's guests while other parts of its set-up are still under way. A failure is silent: the demo tries again and reports it. */
import { ensureGuest } from './guest.ts';
import { ensureRouter } from './router.ts';

const log = (line: string) => process.stderr.write(`${line}\n`);

try {
  await ensureRouter(await ensureGuest(log), log);
} catch {
  process.exitCode = 1;
}
