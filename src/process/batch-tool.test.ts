import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { BatchTool } from './batch-tool.ts';

/** Children of this process that are a tc. */
function tcs(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid)) return false;
      try {
        return new RegExp(`^${pid} \\(tc\\) \\S ${process.pid} `).test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      } catch {
        return false;
      }
    });
}

function noTc(): string | false {
  if (process.geteuid?.() !== 0) return 'rules of tc need root';
  try {
    execFileSync('tc', ['-V']);
    return false;
  } catch {
    return 'missing: tc';
  }
}

describe('a tc that is kept', { skip: noTc() }, () => {
  it('reports failed commands, runs those after them, and shows', async (context) => {
    const tc = new BatchTool(() => ['tc']);
    context.after(() => tc.close());
    const [first, second, shown] = await Promise.all([
      tc.run(['qdisc add dev pbsnothing clsact', 'qdisc show dev lo']),
      tc.run([]),
      tc.show('actions list action mirred'),
    ]);
    assert.match(first.reason, /pbsnothing/);
    assert.deepEqual([second.reason, shown.reason], ['', '']);
    assert.ok(Array.isArray(JSON.parse(shown.output)));
    assert.match((await tc.show('nonsense')).reason, /nonsense/);
    assert.equal(tcs().length, 1);
  });

  it('takes no warning of a command that succeeds for a failure', async (context) => {
    const script =
      'while read -r line; do n=$((n+1)); case $line in good) echo "Dump was interrupted" >&2;; *) echo "bad $line" >&2; echo "Command failed -:$n" >&2; esac; done';
    const tool = new BatchTool(() => ['sh', '-c', script]);
    context.after(() => tool.close());
    assert.deepEqual(await tool.run(['good', 'good']), { reason: '', isLost: false, output: '' });
    assert.equal((await tool.run(['worse', 'good'])).reason, 'bad worse');
  });

  it('is started again when it was killed, and says what may not have been done', async (context) => {
    const tc = new BatchTool(() => ['tc']);
    context.after(() => tc.close());
    await tc.run([]);
    // The process of the test before may still be ending.
    const pid = Math.max(...tcs());
    assert.ok(pid > 0);
    process.kill(pid, 'SIGSTOP');
    const pending = tc.run(['qdisc show dev lo']);
    process.kill(pid, 'SIGKILL');
    assert.equal((await pending).isLost, true);
    assert.deepEqual(await tc.run([]), { reason: '', isLost: false, output: '' });
  });

  it('that is missing is a reason', async () => {
    const path = process.env.PATH;
    process.env.PATH = '/nowhere';
    try {
      assert.match((await new BatchTool(() => ['tc']).run(['qdisc show'])).reason, /ENOENT/);
    } finally {
      process.env.PATH = path;
    }
  });
});
