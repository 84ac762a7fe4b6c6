import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { endMarked, listMarked } from '../../process/orphans.ts';
import { processFacts } from '../../process/proc.ts';
import { Acceleration, probe, probeSector } from './acceleration.ts';
import { Binaries } from './binaries.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-accel-'));
});
after(() => rm(folder, { recursive: true }));

const emulator = async () => (await new Binaries().inPath('qemu-system-x86_64')) ?? assert.fail('qemu-system-x86_64 is missing');

test('the probe guest is a boot sector, and answers where a guest truly runs', async () => {
  assert.equal(probeSector().length, 512);
  assert.equal(probeSector().readUInt16LE(510), 0xaa55);
  const verdict = await probe(await emulator(), 'tcg', { limitMs: 10_000 });
  assert.deepEqual(verdict.usable, true, verdict.reason);
});

test('a guest that does not answer in time is no acceleration; nor is an emulator that fails', async () => {
  const late = await probe(await emulator(), 'tcg', { limitMs: 1 });
  assert.equal(late.usable, false);
  assert.match(late.reason, /within 0.001 s/);
  assert.equal((await probe('/bin/false', 'kvm')).usable, false);
});

test('the probe guest ends when the process that asked is killed', async () => {
  const program = join(folder, 'qemu-system-hanging');
  const pidFile = join(folder, 'pid');
  await writeFile(program, `#!/bin/sh\necho $$ > ${pidFile}.new\nmv ${pidFile}.new ${pidFile}\nexec sleep 600\n`, { mode: 0o755 });
  const module = new URL('acceleration.ts', import.meta.url).href;
  const code = `const { probe } = await import('${module}'); await probe('${program}', 'kvm', { limitMs: 600_000 });`;
  const asking = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
  try {
    const pid = Number(await waitFor(() => readFile(pidFile, 'utf8').catch(() => undefined), { what: 'the guest' }));
    assert.ok(processFacts(pid));
    asking.kill('SIGKILL');
    await waitFor(() => [undefined, 'Z'].includes(processFacts(pid)?.state), { what: 'the end of the guest' });
  } finally {
    asking.kill('SIGKILL');
  }
});

test('a guest that survives the server that asked, as its child does, is ended by the next start', async () => {
  const program = join(folder, 'qemu-system-forking');
  const pidFile = join(folder, 'child');
  const runDirectory = join(folder, 'run');
  // The wish to end with the parent is not inherited (prctl(2)), the server's marker is.
  const script = `setsid sh -c 'echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 600' & exec sleep 600`;
  await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const module = new URL('acceleration.ts', import.meta.url).href;
  const options = JSON.stringify({ limitMs: 600_000, runDirectory });
  const code = `const { probe } = await import('${module}'); await probe('${program}', 'kvm', ${options});`;
  const asking = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
  try {
    const pid = Number(await waitFor(() => readFile(pidFile, 'utf8').catch(() => undefined), { what: 'the guest' }));
    asking.kill('SIGKILL');
    await waitFor(async () => (await listMarked(runDirectory)).every((marked) => marked.pid === pid), {
      what: 'the end of the parent',
    });
    const left = await listMarked(runDirectory);
    assert.deepEqual(
      left.map((marked) => marked.pid),
      [pid],
    );
    await endMarked(left, 0);
    await waitFor(() => [undefined, 'Z'].includes(processFacts(pid)?.state), { what: 'the end of the guest' });
  } finally {
    asking.kill('SIGKILL');
    await endMarked(await listMarked(runDirectory), 0);
  }
});

test('the verdict is found out once per boot', async () => {
  const { settings } = contractHost(folder, 31_900);
  const stateFile = join(folder, 'state', 'acceleration.json');
  let asked = 0;
  const find = async () => {
    asked += 1;
    return '/bin/false';
  };
  const first = new Acceleration(() => settings, find);
  const verdicts = await Promise.all([first.verdict(), first.verdict()]);
  assert.equal(verdicts[0].usable, false);
  assert.ok(asked <= 1);
  const kept = JSON.parse(await readFile(stateFile, 'utf8'));
  assert.deepEqual({ usable: kept.usable, reason: kept.reason }, verdicts[0]);
  await writeFile(stateFile, JSON.stringify({ ...kept, usable: true, reason: 'kept' }));
  assert.deepEqual(await new Acceleration(() => settings, find).verdict(), { usable: true, reason: 'kept' });
  await writeFile(stateFile, JSON.stringify({ ...kept, boot_id: 'an earlier one', usable: true }));
  assert.equal((await new Acceleration(() => settings, find).verdict()).usable, false);
  await writeFile(stateFile, 'damaged');
  assert.equal((await new Acceleration(() => settings, find).verdict()).usable, false);
});

test('a verdict comes, and says why, whatever /dev/kvm is', async () => {
  const verdict = await new Acceleration(() => contractHost(join(folder, 'other'), 31_900).settings, emulator).verdict();
  assert.ok(verdict.reason.length > 10);
});
