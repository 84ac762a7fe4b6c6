/** The script of a job, run without Slurm. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processesNamed } from '../../../../test/support/leftovers.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { defaultSettings } from '../../../schema/settings.ts';
import { reportOf, submissionOf } from './slice-job.ts';
import { isHopeless } from './slurm-client.ts';

const run = promisify(execFile);
const id = '00000000-0000-4000-8000-000000000001';
const needs = { cpus: 1, memory: 100, disk: 100, kvm: false, images: [] };
const order = { id, owner: id, title: 'lab', needs, joinUrl: 'http://10.0.0.1:3080', token: 'secret' };

describe('the script of a job', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-job-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /**
   * Runs a job in a folder of temporary files where `prepare` puts something at the place of the job's own folder; returns the
   * arguments of its slice, or `refused`.
   */
  const start = async (prepare: (place: string) => Promise<unknown>, more = ''): Promise<string> => {
    const temporary = await mkdtemp(join(folder, 'tmp-'));
    const output = join(temporary, 'output');
    await prepare(join(temporary, `patchbay-${id}`));
    const slice = `echo "$@" >'${output}'; touch "$5/file"; ${more}`;
    const settings = { ...defaultSettings().Slurm, command: ['sh', '-c', slice, "it's a slice"] };
    const { script } = submissionOf(order, settings);
    const path = join(temporary, 'script');
    await writeFile(path, script);
    const env = { PATH: process.env.PATH, TMPDIR: temporary, SLURM_JOB_ID: crypto.randomUUID() };
    const ended = await run('sh', [path], { env }).catch((error: Error) => error);
    if (ended instanceof Error) return 'refused';
    assert.ok(!(await readdir(temporary)).includes(`patchbay-${id}`), 'its folder is removed');
    return (await readFile(output, 'utf8')).replace(temporary, 'TMP').trim();
  };

  it('runs the slice in a temporary folder of its own', async () => {
    const started = `compute --join http://10.0.0.1:3080 --data-dir TMP/patchbay-${id}`;
    assert.equal(await start(async () => undefined), started);
    assert.equal(await start((place) => mkdir(place)), started, 'one that a killed job left');
  });

  it('ends what a killed server leaves running, before it ends', async () => {
    const left = `sleep 1000.${process.pid}`;
    assert.equal(await start(async () => undefined, `setsid ${left} </dev/null >/dev/null 2>&1 & kill -KILL $$`), 'refused');
    assert.deepEqual(processesNamed(left), []);
  });

  it('asks the guard of a killed server to end containers, before it ends the guard', async () => {
    const [guard, ready, asked] = ['guard', 'ready', 'asked'].map((name) => join(folder, name));
    await writeFile(guard ?? '', `trap 'touch ${asked}; exit' USR2; touch ${ready}; while :; do sleep 0.05; done`);
    const begun = `setsid sh '${guard}' slice/guard.ts </dev/null >/dev/null 2>&1 & while [ ! -e '${ready}' ]; do sleep 0.05; done`;
    assert.equal(await start(async () => undefined, `${begun}; kill -KILL $$`), 'refused');
    assert.ok((await readdir(folder)).includes('asked'));
  });

  it('waits until it is cancelled where Slurm starts the same job a second time', async () => {
    const data = await mkdtemp(join(folder, 'data-'));
    const began = join(data, 'began');
    const settings = { ...defaultSettings().Slurm, data_folder: data, command: ['sh', '-c', `echo "$SLURM_JOB_ID" >> '${began}'`] };
    const path = join(data, 'script');
    await writeFile(path, submissionOf(order, settings).script);
    const limit = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
    const startJob = (job: string) => run('sh', [path], { env: { PATH: process.env.PATH, SLURM_JOB_ID: job }, ...limit });
    /** Starts a job again and waits until it has its traps: a signal that comes before is lost. */
    const startAgain = async (job: string) => {
      const started = startJob(job);
      await once(started.child.stderr ?? assert.fail(), 'data');
      return { started };
    };
    await startJob('1');
    const { started: second } = await startAgain('1');
    const folderOf = join(data, id);
    assert.equal(await Promise.race([second.then(() => true), sleep(500, false)]), false, 'it waits');
    assert.equal(await readFile(began, 'utf8'), '1\n');
    second.child.kill('SIGWINCH');
    assert.match((await second).stderr, /started job 1 a second time/);
    assert.deepEqual(await readdir(folderOf), ['slurm-job'], 'its data stays');
    await startJob('2');
    assert.equal(await readFile(began, 'utf8'), '1\n2\n');
    const { started: third } = await startAgain('2');
    third.child.kill('SIGURG');
    await waitFor(async () => !(await readdir(data)).includes(id), { what: 'the removal of its data' });
    await mkdir(folderOf);
    await third;
    assert.ok(!(await readdir(data)).includes(id), 'its data is removed');
  });

  it('takes no folder that another user has put there', async (t) => {
    await mkdir(join(folder, 'elsewhere'));
    assert.equal(await start((place) => symlink(join(folder, 'elsewhere'), place)), 'refused');
    assert.deepEqual(await readdir(join(folder, 'elsewhere')), []);
    if (process.getuid?.() !== 0) return t.diagnostic('folders of other users need root');
    assert.equal(await start((place) => mkdir(place).then(() => chown(place, 65_534, 65_534))), 'refused');
  });
});

it('is not evicted while its job is being ended, nor taken for ended', () => {
  const [jobId, host, comment] = [1, 'n1', `patchbay ${id} ${id} lab`];
  const job = { id: jobId, state: 'COMPLETING', reason: '', host, endsAt: null, restarts: 0, comment };
  const sizes = { cpus: 1, freeCpus: 1, memory: 1, freeMemory: 1, disk: 0, features: [] };
  const drained = { name: host, partitions: [], states: ['IDLE', 'DRAIN'], reason: 'new disks', ...sizes };
  assert.equal(reportOf(job, drained).state, 'running');
  assert.equal(reportOf({ ...job, state: 'RUNNING' }, drained).state, 'draining');
});

it('is not given up as nodes are drained or busy', () => {
  for (const [words, isFinal] of [
    ['Batch job submission failed: Requested node configuration is not available', true],
    ['Invalid qos specification', true],
    ['Required node not available (down, drained or reserved)', false],
    ['Required partition not available (inactive or drain)', false],
    ['Requested nodes are busy', false],
    ['Unable to contact slurm controller (connect failure)', false],
  ] as const)
    assert.equal(isHopeless(words), isFinal, words);
});
