/** The engine of Slurm against a real Slurm of three hosts. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { EngineError, joinVariable, type SliceOrder } from '../../src/controller/engines/engine.ts';
import type { SlurmSettings } from '../../src/controller/engines/slurm/slice-job.ts';
import { SlurmClient } from '../../src/controller/engines/slurm/slurm-client.ts';
import { SlurmEngine } from '../../src/controller/engines/slurm/slurm-engine.ts';
import { noSlurm, TestSlurm } from '../support/slurm.ts';
import { waitFor } from '../support/wait-for.ts';
import { WatchedSlices } from '../support/watched-slices.ts';

const skip = (await noSlurm()) ?? false;

describe('the engine of Slurm', { skip }, async () => {
  if (skip) return;
  const slurm = await TestSlurm.start([
    { cpus: 4, memory: 3000, feature: 'kvm' },
    { cpus: 4, memory: 3000 },
    { cpus: 2, memory: 2000 },
  ]);
  const watches: WatchedSlices[] = [];
  after(async () => {
    for (const watched of watches) await watched.end();
    for (const engine of engines) await engine.close();
    await slurm.stop();
  });
  const work = join(slurm.folder, 'work');
  const program = join(work, 'slice');
  // Tells what it was started with, and ends half a second after SIGTERM unless it is called stubborn.
  await writeFile(
    program,
    `#!/bin/sh
echo "$@" >${work}/arguments-$$
folder=$5
echo "$${joinVariable}" >$folder/token
[ -e ${work}/stubborn ] && trap '' TERM || trap 'echo ended >$folder/ended; exit 0' TERM
while :; do sleep 0.1; done
`,
    { mode: 0o755 },
  );
  const settings: SlurmSettings = {
    command: [program],
    data_folder: work,
    output_folder: work,
    partition: 'labs',
    account: '',
    qos: '',
    licenses: '',
    kvm_feature: 'kvm',
    minutes: 30,
    grace: 2,
  };
  const makeOrder = (fields: Partial<SliceOrder> = {}, needs: Partial<SliceOrder['needs']> = {}): SliceOrder => ({
    id: crypto.randomUUID(),
    owner: crypto.randomUUID(),
    title: 'a lab, "quoted"=1',
    needs: { cpus: 1.5, memory: 900, disk: 100, kvm: false, images: [], ...needs },
    joinUrl: 'http://10.0.0.1:3080',
    token: 'secret-of-this-slice',
    ...fields,
  });
  const watch = (engine: SlurmEngine, { owner }: SliceOrder) => {
    const watched = new WatchedSlices(engine, owner);
    watches.push(watched);
    return watched;
  };
  const engines: SlurmEngine[] = [];
  const makeEngine = () => {
    const engine = new SlurmEngine(new SlurmClient(slurm.env), settings, 100);
    engines.push(engine);
    return engine;
  };

  it('offers what is free', async () => {
    const sizes = (await makeEngine().offer()).map(({ cpus, memory, kvm, count, wait }) => [cpus, memory, kvm, count, wait]);
    assert.deepEqual(sizes, [
      [4, 3000, true, 1, 0],
      [4, 3000, false, 1, 0],
      [2, 2000, false, 1, 0],
    ]);
  });

  it('places a slice once, lets another controller process adopt it, and leaves nothing', async () => {
    const order = makeOrder({}, { kvm: true });
    const [engine, next] = [makeEngine(), makeEngine()];
    const watched = watch(engine, order);
    await engine.place(order);
    const running = await watched.until(order.id, 'running');
    assert.equal(running.host, 'n1', 'the only host with the feature');
    assert.ok(running.endsAt && running.endsAt.getTime() > Date.now(), 'the time limit is reported');
    const token = () => readFile(join(work, order.id, 'token'), 'utf8').catch(() => '');
    await waitFor(async () => (await token()) === `${order.token}\n`, { what: 'its token' });
    await watched.end();

    await next.place({ ...order, token: 'another' });
    const adopted = watch(next, order);
    await adopted.until(order.id, 'running');
    const jobs = (await slurm.command('squeue', '--noheader', '--format=%i %k')).trim().split('\n');
    assert.equal(jobs.length, 1, 'placed again, it is left as it is');
    const shown = await slurm.command('scontrol', '--oneliner', 'show', 'job', jobs[0]?.split(' ')[0] ?? '');
    assert.ok(!shown.includes(order.token), 'other users see no token');
    assert.match(shown, /Requeue=0 .*NumCPUs=2 .*MinMemoryNode=900M/);

    await next.release(order.id, { keepDisks: true });
    await adopted.until(order.id, 'ended');
    assert.deepEqual((await readdir(join(work, order.id))).toSorted(), ['ended', 'slurm-job', 'token'], 'its folder is kept');
    await rm(join(work, order.id, 'token'));
    await next.place(order);
    await adopted.until(order.id, 'running');
    // A signal that comes before the script has its traps is lost, and only sent again for as long as the grace.
    await waitFor(async () => (await token()) !== '', { what: 'its second process' });
    await next.release(order.id, { keepDisks: false });
    await adopted.until(order.id, 'ended');
    await waitFor(async () => !(await readdir(work)).includes(order.id), { what: 'the removal of its folder' });
    await adopted.end();
  });

  it('says why a slice waits, and refuses one that never fits', async () => {
    const engine = makeEngine();
    const [first, second] = [makeOrder({}, { kvm: true, cpus: 4 }), makeOrder({}, { kvm: true, cpus: 4 })];
    const watched = watch(engine, second);
    await engine.place(first);
    await engine.place(second);
    const waiting = await waitFor(
      () => {
        const slice = watched.slices.get(second.id);
        return slice?.state === 'pending' && slice.reason !== null && slice;
      },
      { what: 'a reason' },
    );
    assert.match(waiting.reason ?? '', /waits for resources|higher priority/);
    const large = makeOrder({ owner: second.owner }, { cpus: 64 });
    // sbatch leaves it in the queue where `EnforcePartLimits` is off.
    const refused = await engine.place(large).catch((error: EngineError) => error);
    if (refused instanceof EngineError) assert.ok(refused.isFinal, refused.message);
    else await waitFor(() => /as large as it needs/.test(watched.slices.get(large.id)?.reason ?? ''), { what: 'the reason' });
    await engine.release(large.id, { keepDisks: false });
    await engine.release(second.id, { keepDisks: false });
    await watched.until(second.id, 'ended');
    const watchedFirst = watch(engine, first);
    await engine.release(first.id, { keepDisks: false });
    // The next test counts what is free.
    await watchedFirst.until(first.id, 'ended');
    await watchedFirst.end();
    await watched.end();
  });

  it('counts no job of another user that looks like that of a slice', async () => {
    const [engine, order] = [makeEngine(), makeOrder()];
    const otherUser = ['--reuid=65533', '--regid=65533', '--clear-groups'];
    const looks = [`--job-name=patchbay-${order.owner.slice(0, 8)}`, `--comment=patchbay ${order.owner} ${order.id} lab`];
    const options = ['--parsable', '--chdir=/', '--output=/dev/null', ...looks, '--wrap=sleep 600'];
    const job = (await slurm.command('setpriv', ...otherUser, 'sbatch', ...options)).trim();
    const watched = watch(engine, order);
    await engine.place(order);
    await waitFor(() => readFile(join(work, order.id, 'token')), { what: 'the process of the slice itself' });
    await watched.until(order.id, 'running');
    await engine.release(order.id, { keepDisks: false });
    await watched.until(order.id, 'ended');
    await watched.end();
    await slurm.command('scancel', job);
  });

  it('waits for a slice that Slurm has suspended, and starts no second one', async () => {
    const [engine, order] = [makeEngine(), makeOrder()];
    const watched = watch(engine, order);
    await engine.place(order);
    await watched.until(order.id, 'running');
    const jobs = async () =>
      (await slurm.command('squeue', '--noheader', '--format=%i %k')).split('\n').filter((line) => line.includes(order.id));
    const [job = ''] = ((await jobs())[0] ?? '').split(' ');
    await slurm.command('scontrol', 'suspend', job);
    assert.match((await watched.until(order.id, 'suspended')).reason ?? '', /has suspended it/);
    await engine.place(order);
    assert.equal((await jobs()).length, 1);
    await slurm.command('scontrol', 'resume', job);
    await watched.until(order.id, 'running');
    await engine.release(order.id, { keepDisks: false });
    await watched.until(order.id, 'ended');
    await watched.end();
  });

  it('calls a slice lost that an administrator has put back into the queue', async () => {
    const [engine, order] = [makeEngine(), makeOrder()];
    const watched = watch(engine, order);
    await engine.place(order);
    await watched.until(order.id, 'running');
    const [job = ''] = (await slurm.command('squeue', '--noheader', '--format=%i')).trim().split('\n');
    await slurm.command('scontrol', 'update', `jobid=${job}`, 'requeue=1');
    await slurm.command('scontrol', 'requeue', job);
    assert.match((await watched.until(order.id, 'lost')).reason ?? '', /put it back into the queue/);
    await engine.release(order.id, { keepDisks: false });
    await watched.until(order.id, 'ended');
    await watched.end();
  });

  it('ends a slice that ignores the request', async () => {
    await writeFile(join(work, 'stubborn'), '');
    const [engine, order] = [makeEngine(), makeOrder()];
    const watched = watch(engine, order);
    await engine.place(order);
    await watched.until(order.id, 'running');
    await waitFor(() => readFile(join(work, order.id, 'token')), { what: 'its token' });
    await engine.release(order.id, { keepDisks: true });
    await watched.until(order.id, 'ended');
    await watched.end();
    await slurm.command('rm', join(work, 'stubborn'));
  });

  it('calls a slice on a drained host draining, with the words of the administrator', async () => {
    const [engine, order] = [makeEngine(), makeOrder({ host: 'n2' })];
    const watched = watch(engine, order);
    await engine.place(order);
    const { host } = await watched.until(order.id, 'running');
    assert.equal(host, 'n2');
    await slurm.command('scontrol', 'update', 'nodename=n2', 'state=drain', 'reason=new disks');
    assert.match((await watched.until(order.id, 'draining')).reason ?? '', /n2 is drained: new disks/);
    await slurm.command('scontrol', 'update', 'nodename=n2', 'state=resume');
    await watched.until(order.id, 'running');
    await engine.release(order.id, { keepDisks: false });
    await watched.until(order.id, 'ended');
    await watched.end();
  });

  it('calls a slice lost when the power of its host is cut, and starts it elsewhere when it is placed again', async () => {
    const [engine, order] = [makeEngine(), makeOrder({ host: 'n3' })];
    const watched = watch(engine, order);
    await engine.place(order);
    await watched.until(order.id, 'running');
    watched.states.length = 0;
    await slurm.powerOff(2);
    const lost = await watched.until(order.id, 'lost');
    assert.match(lost.reason ?? '', /does not answer/);
    assert.ok(!watched.states.includes('ended'), 'its process may still run');
    const { host: _, ...anywhere } = order;
    await engine.place(anywhere);
    const again = await watched.until(order.id, 'running');
    assert.notEqual(again.host, 'n3');
    await engine.release(order.id, { keepDisks: false });
    await watched.until(order.id, 'ended');
    await watched.end();
  });
});
