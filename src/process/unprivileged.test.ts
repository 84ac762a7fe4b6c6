import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bubblewrapObstacle } from './bubblewrap/usable.ts';
import { runTool } from './tool.ts';
import { couldNotRun, ownsNothing, unprivilegedCommand } from './unprivileged.ts';

const skip = process.platform !== 'linux' && 'programs are confined on Linux only';
const limits = { memoryBytes: 512 * 2 ** 20, seconds: 1 };

async function run(program: string, args: readonly string[]) {
  const command = await unprivilegedCommand(program, args, limits);
  return runTool(command.program, command.args, { timeoutMs: 120_000, filter: command.filter });
}
const sh = (script: string) => run('sh', ['-c', script]);

test('an unpacker or compiler is a user that owns nothing, without privileges', { skip }, async () => {
  const { stdout } = await sh('id -u; id -G; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status');
  const own = `${process.getuid?.()}`;
  const [uid, groups, ...rest] = stdout.trim().split('\n');
  assert.equal(uid, process.getuid?.() === 0 ? String(ownsNothing) : own);
  if (process.getuid?.() === 0) assert.equal(groups, String(ownsNothing));
  assert.match(rest.join('\n'), /CapEff:\s+0{16}\nNoNewPrivs:\s+1/);
});

test('it writes no file, has little memory, and ends by itself', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-unprivileged-'));
  try {
    await chmod(folder, 0o777);
    await sh(`echo text > ${folder}/made`);
    for (const name of await readdir(folder)) assert.equal(await readFile(join(folder, name), 'utf8'), '');
    assert.notEqual((await run('tail', ['-c', '1G', '/dev/zero'])).code, 0);
    assert.doesNotMatch((await sh('while :; do :; done')).reason, /^$|did not end within/, 'it ends by its own limit');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const obstacle = await bubblewrapObstacle();

test('it sees no file of the host but its programs, no other process and no network', {
  skip: obstacle === undefined ? skip : `bubblewrap cannot be used: ${obstacle}`,
}, async () => {
  const { stdout } = await sh(
    'cat /etc/passwd /proc/net/dev; ls -d /root /home /proc/[0-9]*; grep -E "^Seccomp:" /proc/self/status',
  );
  assert.doesNotMatch(stdout, /root:|^\/(root|home)$/m);
  assert.deepEqual(
    [...stdout.matchAll(/^\s*(\w+):\s+\d+\s+\d+\s/gm)].map(([, name]) => name),
    ['lo'],
  );
  assert.ok((stdout.match(/^\/proc\/\d+$/gm) ?? []).length <= 4, stdout);
  assert.match(stdout, /^Seccomp:\s+2$/m);
});

test('a program that is not installed has an exit code of its own', { skip }, async () => {
  assert.ok(couldNotRun((await run('no-such-program-at-all', [])).code));
  assert.ok(!couldNotRun((await run('false', [])).code));
});
