/**
 * Finds the children of test processes: servers and emulators lead their own sessions, so neither the process group nor the parent finds
 * them. They inherit two variables: `PATCHBAY_TEST_RUN` from the runner, `PATCHBAY_TEST_FILE` from the test process. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Processes of the run, or of one file of it without its test process, with all their descendants. */
export function listProcesses(run, file) {
  const all = new Map();
  for (const name of readProc()) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const [, state, parent] = /\) (\S) (\d+) /.exec(read(pid, 'stat')) ?? [];
    // A zombie has ended.
    if (state === undefined || state === 'Z' || state === 'X') continue;
    const variables = read(pid, 'environ').split('\0');
    const isMarked =
      variables.includes(`PATCHBAY_TEST_RUN=${run}`) && (file === undefined || variables.includes(`PATCHBAY_TEST_FILE=${file}`));
    all.set(pid, { pid, parent: Number(parent), isMarked });
  }
  const isOurs = (entry) => entry !== undefined && (entry.isMarked || isOurs(all.get(entry.parent)));
  return [...all.values()].filter(isOurs).map(({ pid }) => ({ pid, line: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }));
}

/** The process that runs the file. */
export function findTestProcess(run, file) {
  const marked = listProcesses(run);
  const own = new Set(listProcesses(run, file).map(({ pid }) => pid));
  return marked.find(({ pid, line }) => !own.has(pid) && line.endsWith(file) && isChild(pid))?.pid;
}

/** The file's processes that still run after `graceMs`: a signalled process needs a moment to end. */
export async function listLeft(run, file, graceMs) {
  const end = performance.now() + graceMs;
  for (;;) {
    const left = listProcesses(run, file);
    if (left.length === 0 || performance.now() > end) return left;
    await pause(50);
  }
}

/** Sends SIGKILL to all of them, until none is left. */
export async function killProcesses(run, file) {
  for (let left = listProcesses(run, file); left.length > 0; left = await listLeft(run, file, 500)) {
    for (const { pid } of left) signal(pid, 'SIGKILL');
  }
}

export function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended meanwhile.
  }
}

const isChild = (pid) => Number(/\) \S (\d+) /.exec(read(pid, 'stat'))?.[1]) === process.pid;

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function readProc() {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}
