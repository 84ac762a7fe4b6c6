/**
 * Loaded into a server by `--import`: writes to a file how much processor time one round of its event loop took, whenever that is more
 * than before, behind a number that changes whenever it begins anew. Processor time of the thread, not time of day: a busy machine changes
 * nothing.
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
  // Another number than that of a server before, whose file this is.
  let beginning = Date.now();
  const write = () => writeFileSync(path, `${beginning} ${longest}`);
  process.on('SIGUSR2', () => {
    longest = 0;
    beginning += 1;
    write();
  });
  setInterval(() => {
    const now = cpuMs();
    const took = now - before;
    before = now;
    if (took <= longest) return;
    longest = took;
    write();
  }, everyMs).unref();
}
