import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { childrenOf, groupMembers, isRunning, listPids, listProcesses } from './proc.ts';

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

test('the children of a process are those that it started and that run', { skip: process.platform !== 'linux' }, async () => {
  const child = spawn('sh', ['-c', 'sleep 66 & sleep 66 & echo ready; wait'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const pid = child.pid ?? assert.fail('no process');
  try {
    await once(child.stdout, 'data');
    assert.ok((await childrenOf(process.pid)).some((facts) => facts.pid === pid && facts.parent === process.pid));
    const grandchildren = await childrenOf(pid);
    assert.deepEqual(new Set(grandchildren.map(({ group }) => group)), new Set([pid]));
    assert.equal(grandchildren.filter((facts) => isRunning(facts.pid, facts.startTime)).length, 2);
  } finally {
    process.kill(-pid, 'SIGKILL');
    await ended;
  }
  assert.deepEqual(await childrenOf(pid), []);
});
