import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { childrenOf, groupMembers, listPids, listProcesses } from './proc.ts';

test('a look at all processes lets the event loop turn, however many there are', {
  skip: process.platform !== 'linux',
}, async () => {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const processes = await listProcesses();
  isOver = true;
  assert.ok(processes.some(({ pid, parent }) => pid === process.pid && parent === process.ppid));
  assert.ok(turns >= (await listPids()).length / 40, `${turns} turns`);
  const [own] = processes.filter(({ pid }) => pid === process.pid);
  assert.ok((await groupMembers(own?.group ?? 0)).includes(process.pid));
});

test('children of a process are found without a look at the others', { skip: process.platform !== 'linux' }, async () => {
  const children = [spawn('sleep', ['60']), spawn('sleep', ['60'])];
  try {
    const pids = children.map(({ pid }) => pid ?? 0);
    const found = await childrenOf(process.pid);
    assert.deepEqual(found.map(({ pid, parent }) => [pid, parent]).sort(), pids.map((pid) => [pid, process.pid]).sort());
    assert.deepEqual(await childrenOf(pids[0] ?? 0), []);
    const [first] = children;
    first?.kill('SIGKILL');
    if (first) await once(first, 'exit');
    assert.deepEqual(
      (await childrenOf(process.pid)).map(({ pid }) => pid),
      pids.slice(1),
    );
    assert.deepEqual(await childrenOf(pids[0] ?? 0), []);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
});
