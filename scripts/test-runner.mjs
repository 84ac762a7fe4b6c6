/** Runs test files with Node's test runner, three at a time, with our own summary and with limits for hangs. */
import { randomUUID } from 'node:crypto';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { killProcesses, listProcesses, signal } from './test-processes.mjs';
import report from './test-reporter.mjs';
import { watch } from './test-watch.mjs';

const preload = pathToFileURL(path.join(import.meta.dirname, 'test-preload.mjs')).href;
/**
 * `testMs`: one test; the longest repeatedly kill a server under load. `hookMs`: one hook; a server that starts on a machine with
 * ten busy processes per core needs most of it. `fileMs`: a whole file. `graceMs`: from the signal to the end of a process.
 */
const defaultLimits = { testMs: 300_000, hookMs: 120_000, fileMs: 900_000, graceMs: 5_000 };
/** Each file may run several virtual machines; they mostly wait, so that three files keep two cores busy. */
const concurrency = 3;

/**
 * Resolves to the exit code. Files run in the order of `patterns`, those of one pattern by name. `options`: `testNamePatterns` and
 * `only`, as of `run()` of node:test; `limits` in place of the default ones.
 */
export async function runTests(patterns, { limits: given = {}, ...options } = {}) {
  const files = await listFiles(patterns);
  if (files.length === 0) {
    console.error(`No test file matches ${patterns.join(' ')}`);
    return 1;
  }
  const limits = { ...defaultLimits, ...given };
  // Test processes read this pid when they start.
  const id = `${process.pid}-${randomUUID()}`;
  const events = run({
    files,
    concurrency,
    isolation: 'process',
    timeout: limits.testMs,
    execArgv: [`--import=${preload}`],
    env: { ...process.env, PATCHBAY_TEST_RUN: id, PATCHBAY_TEST_HOOK_LIMIT_MS: String(limits.hookMs) },
    ...options,
  });
  endWith(id);
  const outcome = { failed: false };
  const seen = noteFailures(watch(events, { run: id, limits }), outcome);
  await pipeline(Readable.from(report(seen)), process.stdout, { end: false });
  return outcome.failed ? 1 : 0;
}

/** Absolute paths, each once. */
async function listFiles(patterns) {
  const files = new Set();
  for (const pattern of patterns) {
    const found = [];
    for await (const file of glob(pattern)) found.push(path.resolve(file));
    for (const file of found.sort()) files.add(file);
  }
  return [...files];
}

async function* noteFailures(source, outcome) {
  for await (const event of source) {
    if (event.type === 'test:fail' && event.data.todo === undefined) outcome.failed = true;
    if (event.type === 'test:summary' && event.data.success === false) outcome.failed = true;
    yield event;
  }
}

/** When the runner exits, it ends the processes of its tests. */
function endWith(id) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(name, async () => {
      for (const { pid } of listProcesses(id)) signal(pid, 'SIGTERM');
      setTimeout(() => killProcesses(id).finally(() => process.exit(1)), 3_000);
    });
  }
}
