/** Runs test files with Node's test runner, as many at a time as the processors allow, with our own summary and with limits for hangs. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { killProcesses, listProcesses, signal } from './test-processes.mjs';
import report from './test-reporter.mjs';
import { runInTurn } from './test-schedule.mjs';
import { listFiles } from './test-selection.mjs';
import { shareProcesses } from './test-shared.mjs';
import { watch } from './test-watch.mjs';

const preload = pathToFileURL(path.join(import.meta.dirname, 'test-preload.mjs')).href;
/**
 * `testMs`: one test; the longest repeatedly kill a server under load. `hookMs`: one hook; a lab over three hosts whose fixture says
 * after 180 s what did not join is the longest. `fileMs`: a whole file. `graceMs`: from the signal to the end of a process.
 */
const defaultLimits = { testMs: 300_000, hookMs: 200_000, fileMs: 900_000, graceMs: 5_000 };
/**
 * Node's cache of compiled code: the tests start hundreds of servers from the same sources. Its entries are named by a hash of
 * their source, and Node ignores a folder that it may not write.
 */
const cache = path.resolve(import.meta.dirname, '../.cache');
const codeCache = path.join(import.meta.dirname, '../node_modules/.cache/tests-code');

/**
 * Resolves to the exit code. Files run in the order of `patterns`, those of one pattern in a mixed order. `options`:
 * `testNamePatterns` and `only`, as of `run()` of node:test; `limits` in place of the default ones; `share`: tests beside the code share
 * processes (`test-shared.mjs`). No file gets a second try.
 */
export async function runTests(patterns, { limits: given = {}, share = false, ...options } = {}) {
  const selected = await listFiles(patterns);
  if (selected.length === 0) {
    console.error(`No test file matches ${patterns.join(' ')}`);
    return 1;
  }
  const limits = { ...defaultLimits, ...given };
  // Test processes read this pid when they start.
  const id = `${process.pid}-${randomUUID()}`;
  const folder = path.join(cache, `tests-run-${id}`);
  await mkdir(folder, { recursive: true });
  const files = share ? await shareProcesses(selected, folder) : selected;
  const usageFile = path.join(folder, 'usage');
  endWith(id);
  const events = runInTurn(files, {
    isolation: 'process',
    timeout: limits.testMs,
    execArgv: [`--import=${preload}`],
    env: {
      NODE_COMPILE_CACHE: codeCache,
      ...process.env,
      PATCHBAY_TEST_RUN: id,
      PATCHBAY_TEST_USAGE: usageFile,
      PATCHBAY_TEST_HOOK_LIMIT_MS: String(limits.hookMs),
    },
    ...options,
  });
  const outcome = { failed: false };
  const seen = noteFailure(watch(events, { run: id, limits }), outcome);
  // The table of all files stays, for comparisons.
  const timesFile = path.join(cache, 'test-times.tsv');
  await pipeline(Readable.from(report(seen, { usageFile, timesFile })), process.stdout, { end: false });
  await rm(folder, { recursive: true, force: true });
  return outcome.failed ? 1 : 0;
}

async function* noteFailure(source, outcome) {
  for await (const event of source) {
    if (event.type === 'test:fail' && event.data.todo === undefined) outcome.failed = true;
    if (event.type === 'test:summary' && event.data.file === undefined && event.data.success === false) outcome.failed = true;
    yield event;
  }
}

/** Ends the processes of the tests when the runner is stopped by a signal. */
function endWith(id) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(name, async () => {
      for (const { pid } of listProcesses(id)) signal(pid, 'SIGTERM');
      setTimeout(() => killProcesses(id).finally(() => process.exit(1)), 3_000);
    });
  }
}
