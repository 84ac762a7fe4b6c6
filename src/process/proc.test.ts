import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupMembers, listPids, listProcesses } from './proc.ts';

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
