/**
 * Runs test files with Node's test runner, each in a process of its own. A few always run at once, more while the processors idle: many files
 * wait for machines, timers and disks, and no fixed number suits those that wait and those that compute.
 */
import { availableParallelism, cpus } from 'node:os';
import { run } from 'node:test';

const cores = availableParallelism();
/**
 * `least` files run at once whatever the load, `most` at most. When a share `idle` of all `cores` had nothing to do in the last `lookMs`, one
 * more begins for each core that is idle, and at least one; none at the next look, which does not see all of their load yet.
 */
const defaultRule = { least: Math.max(4, cores), most: Math.max(6, 3 * cores), idle: 0.25, lookMs: 1000, cores };

/**
 * Yields the events of `run()` of node:test for each file, as they happen, and one summary of all files at the end, with the share of the
 * processors' time that was `busy`. Files begin in their order. `options`: those of `run()`. `rule` replaces parts of the default one;
 * `runFile` and `processors` are replaced by tests.
 */
export async function* runInTurn(files, options, { rule: given = {}, runFile = run, processors = readProcessors } = {}) {
  const rule = { ...defaultRule, ...given };
  const { least, most, idle, lookMs } = rule;
  // Each run listens for signals and errors of this process.
  process.setMaxListeners(most + 10);
  const began = performance.now();
  const idleShareOfAll = idleShareSince(processors);
  const idleShare = idleShareSince(processors);
  const left = [...files];
  const events = [];
  const total = { counts: {}, success: true };
  let running = 0;
  let isSettled = true;
  /** Failure of the runner itself. */
  let broken;
  let notify = () => undefined;
  const beginNext = async () => {
    const file = left.shift();
    running += 1;
    try {
      for await (const event of runFile({ ...options, files: [file] })) {
        if (event.type === 'test:summary' && event.data.file === undefined) add(total, event.data);
        else events.push(event);
        notify();
      }
    } catch (error) {
      broken ??= new Error(`${file} could not be run`, { cause: error });
    }
    running -= 1;
    if (left.length > 0 && running < least) void beginNext();
    notify();
  };
  const timer = setInterval(() => {
    const share = idleShare();
    const more = isSettled && share >= idle ? Math.max(1, Math.floor(share * rule.cores)) : 0;
    isSettled = more === 0;
    for (let begun = 0; begun < more && left.length > 0 && running < most; begun += 1) void beginNext();
  }, lookMs);
  try {
    while (left.length > 0 && running < least) void beginNext();
    while (running > 0 || events.length > 0) {
      if (broken) throw broken;
      if (events.length > 0) yield events.shift();
      else await new Promise((resolve) => (notify = resolve));
    }
  } finally {
    clearInterval(timer);
  }
  const busy = 1 - idleShareOfAll();
  yield { type: 'test:summary', data: { ...total, busy, file: undefined, duration_ms: performance.now() - began } };
}

function add(total, { counts, success }) {
  for (const [name, value] of Object.entries(counts)) total.counts[name] = (total.counts[name] ?? 0) + value;
  total.success &&= success;
}

/** A function that returns the share of all processors' time since its last call in which they had nothing to do, 0 to 1. */
function idleShareSince(processors) {
  let last = processors();
  return () => {
    const { idle, all } = last;
    last = processors();
    return last.all > all ? (last.idle - idle) / (last.all - all) : 0;
  };
}

/** Time of all processors since the machine started, ms: idle, and `all` together. Waiting for a disk is in neither. */
function readProcessors() {
  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const times = cpus().map((cpu) => cpu.times);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((each) => Object.values(each))) };
}
