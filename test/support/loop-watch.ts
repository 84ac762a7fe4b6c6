/**
 * Loaded into a server by `--import`: writes to a file how much processor time one round of its event loop took, whenever that is more
 * than before. Processor time of the thread, not time of day: a busy machine changes nothing.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Rounds are looked at so often, milliseconds. */
const everyMs = 2;

const file = process.env.PATCHBAY_TEST_LOOP_FILE;
const program = process.env.PATCHBAY_TEST_PROGRAM ?? '/src/main.ts';
if (file !== undefined && isMainThread && process.argv[1]?.endsWith(program)) watch(file);

function watch(path: string): void {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = cpuMs();
  let longest = 0;
  process.on('SIGUSR2', () => {
    longest = 0;
    writeFileSync(path, '0');
  });
  setInterval(() => {
    const now = cpuMs();
    const took = now - before;
    before = now;
    if (took <= longest) return;
    longest = took;
    writeFileSync(path, String(longest));
  }, everyMs).unref();
}
