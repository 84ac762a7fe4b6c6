/** Plays files and processors to see how many test files run at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInTurn } from './test-schedule.mjs';

/** Plays `count` files, of which each runs until `end`, on processors that are idle for `share` of the time between two looks at them. */
function play(count, rule, share = 0) {
  const begun = [];
  const ends = new Map();
  const clock = { idle: 0, all: 0 };
  const look = { number: 0, next: Promise.withResolvers() };
  const processors = () => {
    clock.all += 100;
    clock.idle += 100 * share;
    look.number += 1;
    look.next.resolve();
    look.next = Promise.withResolvers();
    return { ...clock };
  };
  async function* runFile({ files: [file] }) {
    const { promise, resolve } = Promise.withResolvers();
    ends.set(file, resolve);
    begun.push(file);
    yield { type: 'test:pass', data: { file } };
    await promise;
    yield { type: 'test:summary', data: { file, counts: { tests: 1 }, success: true } };
    yield {
      type: 'test:summary',
      data: { file: undefined, counts: { tests: 1, failed: file === 'f2' ? 1 : 0 }, success: file !== 'f2' },
    };
  }
  const files = Array.from({ length: count }, (_, index) => `f${index}`);
  const events = Array.fromAsync(runInTurn(files, {}, { rule: { lookMs: 1, cores: 2, ...rule }, runFile, processors }));
  const looks = async (wanted) => {
    for (let seen = 0; seen < wanted; seen++) await look.next.promise;
  };
  return { begun, events, looks, end: (file) => ends.get(file)() };
}

const endAll = async ({ begun, end, looks }, count) => {
  for (let ended = 0; ended < count; ended++) {
    while (begun.length <= ended) await looks(1);
    end(begun[ended]);
  }
};

test('the least number of files runs at once on busy processors, in their order, and the next one when one has ended', async () => {
  const run = play(6, { least: 3, most: 5, idle: 0.3 }, 0.2);
  await run.looks(20);
  assert.deepEqual(run.begun, ['f0', 'f1', 'f2']);
  run.end('f1');
  await run.looks(20);
  assert.deepEqual(run.begun, ['f0', 'f1', 'f2', 'f3']);
  await endAll(run, 6);
  await run.events;
});

test('one more begins at every other look while the processors idle, until the most run', async () => {
  const run = play(9, { least: 2, most: 5, idle: 0.3 }, 0.5);
  await run.looks(2);
  assert.ok(run.begun.length <= 3, `${run.begun.length} files run after two looks`);
  await run.looks(40);
  assert.equal(run.begun.length, 5);
  await endAll(run, 9);
  await run.events;
});

test('as many more begin as cores are idle', async () => {
  const run = play(20, { least: 2, most: 12, idle: 0.3, cores: 16 }, 0.5);
  await run.looks(2);
  assert.ok([2, 10].includes(run.begun.length), `${run.begun.length} files run after two looks`);
  await run.looks(40);
  assert.equal(run.begun.length, 12);
  await endAll(run, 20);
  await run.events;
});

test('events come as they happen, and one summary of all files at the end', async () => {
  const run = play(3, { least: 3, most: 3, idle: 0.3 }, 0.25);
  await run.looks(1);
  for (const file of ['f2', 'f0', 'f1']) run.end(file);
  const events = await run.events;
  assert.equal(events.filter(({ data }) => data.file !== undefined).length, 6);
  const { data } = events.at(-1);
  assert.deepEqual(
    { ...data, duration_ms: 0 },
    { counts: { tests: 3, failed: 1 }, success: false, busy: 0.75, file: undefined, duration_ms: 0 },
  );
});
