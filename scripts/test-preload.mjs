/**
 * Loaded into each test process before its file. Gives `before`, `after`, `beforeEach` and `afterEach` a limit, which `--test-timeout`
 * does not, and marks its child processes, so that the runner finds them (`test-processes.mjs`). A test process whose runner has died
 * exits: its exit handlers end its servers. At its end it notes the processor time of its file.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';

const limitMs = Number(process.env.PATCHBAY_TEST_HOOK_LIMIT_MS);
if (isMainThread && limitMs > 0) {
  // Children inherit it; a process's own /proc/PID/environ does not change.
  process.env.PATCHBAY_TEST_FILE = path.relative(process.cwd(), process.argv[1] ?? '');
  const nodeTest = createRequire(import.meta.url)('node:test');
  for (const name of ['before', 'after', 'beforeEach', 'afterEach']) {
    const original = nodeTest[name];
    nodeTest[name] = (hook, options) => {
      const isPlain = typeof hook === 'function' && hook.length < 2 && options?.timeout === undefined;
      return original(isPlain ? withLimit(hook, `${name} hook at ${callerOf(new Error())}`) : hook, {
        timeout: limitMs,
        ...options,
      });
    };
  }
  syncBuiltinESMExports();
  process.once('exit', noteUsage);
  const runner = Number.parseInt(process.env.PATCHBAY_TEST_RUN ?? '', 10);
  setInterval(() => process.ppid !== runner && process.exit(1), 1_000).unref();
}

function withLimit(hook, what) {
  return async function limited(...args) {
    const { promise, reject } = Promise.withResolvers();
    // Fires before Node's own limit, whose message does not name the hook.
    const timer = setTimeout(() => reject(new Error(`The ${what} did not end within ${limitMs / 1000} s`)), limitMs * 0.95);
    timer.unref();
    try {
      return await Promise.race([hook.apply(this, args), promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** `file:line` of the line that registered the hook. */
function callerOf({ stack }) {
  const [, , line = ''] = stack.split('\n');
  const [, file = '', row = ''] = /\(?(?:file:\/\/)?(\/[^)]*?):(\d+):\d+\)?$/.exec(line) ?? [];
  return `${path.relative(process.cwd(), file)}:${row}`;
}

/** Appends the processor time of this process, and of its children that have ended, to the file of the run. Linux only. */
function noteUsage() {
  const file = process.env.PATCHBAY_TEST_USAGE;
  if (!file) return;
  try {
    // Fields 14 to 17 of proc(5): user and system time, then those of children that were waited for; 100 ticks a second on Linux.
    const [, ...fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
    const ticks = fields.join(') ').split(' ').slice(11, 15).map(Number);
    const seconds = ticks.reduce((sum, value) => sum + value, 0) / 100;
    appendFileSync(file, `${process.argv[1]}\t${seconds}\n`);
  } catch {
    // The table of the run then has no figure for this file.
  }
}
