/**
 * Watches the files of a test run. A file that hangs is ended and fails, with the name of the running test; a file that ends
 * and leaves a process behind fails, too, and the process is ended.
 */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findTestProcess, killProcesses, listLeft, signal } from './test-processes.mjs';

/**
 * The events of `source` (`run()` of node:test), plus a `test:fail` for each file that hung or left a process behind.
 * `limits`: `testMs` of one test, `hookMs` of one hook, `fileMs` of a whole file, `quietMs` without a test;
 * `graceMs` is how long a process may take to end after its signal.
 */
export async function* watch(source, { run, limits }) {
  const files = new Map();
  const timer = setInterval(() => {
    for (const file of files.values()) if (file.isRunning) endIfOverdue(file, { run, limits });
  }, 250);
  try {
    for await (const event of source) {
      const { type, data } = event;
      const file = fileOf(files, data);
      if (!file) {
        yield event;
        continue;
      }
      const isWhole = isOfWholeFile(data);
      file.changedAt = performance.now();
      if (isWhole && type === 'test:dequeue') Object.assign(file, { isRunning: true, begunAt: file.changedAt });
      // Node's `test:dequeue` calls the second test of a suite a suite.
      else if (type === 'test:enqueue' && data.type === 'suite') file.suites.add(data.testId);
      else if (type === 'test:dequeue' && !file.suites.has(data.testId))
        file.tests.set(data.testId, { name: data.name, at: file.changedAt });
      else if (type === 'test:complete' && !isWhole) file.tests.delete(data.testId);
      // The reason why it was ended says more than its exit code.
      if (!(isWhole && type === 'test:fail' && file.overdue)) yield event;
      if (isWhole && type === 'test:complete') yield* ended(file, { run, limits });
    }
  } finally {
    clearInterval(timer);
  }
}

async function* ended(file, { run, limits }) {
  file.isRunning = false;
  if (file.overdue) {
    await file.ending;
    yield failure(file, file.overdue);
    return;
  }
  const left = await listLeft(run, file.name, limits.graceMs);
  if (left.length === 0) return;
  await killProcesses(run, file.name);
  yield failure(
    file,
    `${file.name} left behind:${left.map(({ pid, line }) => `\n  process ${pid}: ${line.slice(0, 300)}`).join('')}`,
  );
}

function endIfOverdue(file, { run, limits }) {
  if (file.overdue) return;
  const reason = overdue(file, limits);
  if (reason === undefined) return;
  file.overdue = `${file.name} was ended: ${reason}`;
  file.ending = endFile(file, run, limits);
}

/** SIGTERM first: fixtures then remove their folders. */
async function endFile(file, run, { graceMs }) {
  const pid = findTestProcess(run, file.name);
  if (pid !== undefined) signal(pid, 'SIGTERM');
  for (let waited = 0; file.isRunning && waited < graceMs; waited += 50) await pause(50);
  if (file.isRunning && pid !== undefined) signal(pid, 'SIGKILL');
  await killProcesses(run, file.name);
}

function overdue(file, { testMs, hookMs, fileMs, quietMs = hookMs * 1.25 }) {
  const now = performance.now();
  const running = [...file.tests.values()];
  const names = running.length > 0 ? `running: ${running.map(({ name }) => `"${name}"`).join(', ')}` : 'no test was running';
  if (now - file.begunAt > fileMs) return `it did not end within ${fileMs / 1000} s; ${names}`;
  // Node fails the test itself at its limit; a hook of it is then still running.
  const late = running.find(({ at }) => now - at > testMs + hookMs);
  if (late) return `the test "${late.name}" or its hooks did not end within ${(testMs + hookMs) / 1000} s`;
  if (running.length === 0 && now - file.changedAt > quietMs) {
    return `no test of it ran for ${quietMs / 1000} s: its set-up or a hook stands still, or something keeps its process running`;
  }
  return undefined;
}

function fileOf(files, data) {
  if (!data?.file) return undefined;
  // A test may be defined in a file of helpers; `entryFile` is the file that runs.
  const key = data.entryFile ?? data.file;
  let file = files.get(key);
  if (!file) {
    if (!isOfWholeFile(data)) return undefined;
    file = {
      name: path.relative(process.cwd(), key),
      isRunning: false,
      begunAt: 0,
      changedAt: 0,
      suites: new Set(),
      tests: new Map(),
    };
    files.set(key, file);
  }
  return file;
}

/** Whether an event is about the file's process, not about a test in it. */
const isOfWholeFile = ({ entryFile, name, file }) => entryFile === undefined && name !== undefined && path.resolve(name) === file;

function failure({ name }, message) {
  const error = Object.assign(new Error(message), { stack: message });
  const file = path.resolve(name);
  return { type: 'test:fail', data: { name, file, nesting: 0, line: 0, details: { duration_ms: 0, error } } };
}
