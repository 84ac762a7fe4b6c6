/** Projects: making, opening, deleting, and what becomes of damaged ones. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { waitFor } from '../../../test/support/wait-for.ts';
import { type ProjectAnswer, refusal, withController } from '../../../test/support/with-controller.ts';
import { isFault } from '../../api/faults.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import { Journal } from '../../lib/journal.ts';
import { LiveProject } from '../live/live-project.ts';
import type { NodeObject } from '../model/node.ts';
import { NewProjectFiles } from './new-project.ts';
import { Registry } from './registry.ts';

/** The list of projects as it was when each had just been made. */
async function onlyUnsettled(list: string): Promise<void> {
  const lines = (await readFile(list, 'utf8')).split(/(?<=\n)/);
  const kept = lines.filter((line) => line.includes('"unsettled"'));
  assert.notEqual(kept.length, 0);
  await writeFile(list, kept.join(''));
}

describe('projects', () => {
  const bench = withController();
  it('open although a node cannot be made, and say why', async () => {
    const node = await bench.addNode('PC1');
    await bench.inProject('POST /close');
    bench.seen = [];
    bench.compute.refused.add('/vpcs/nodes');
    assert.equal((await bench.inProject<ProjectAnswer>('POST /open')).status, 'opened');
    assert.deepEqual(bench.actions(), ['log.error', 'node.created']);
    bench.compute.refused.clear();
    assert.equal((await bench.inProject<NodeObject>(`POST /nodes/${node.node_id}/start`)).status, 'started');
  });

  it('have the state that a node gets while they are being opened', async (context) => {
    const node = await bench.addNode('PC1');
    await bench.inProject('POST /close');
    const { nodes } = bench.compute;
    const set = nodes.set.bind(nodes);
    // The answer to the request that makes it has the earlier state.
    context.mock.method(nodes, 'set', (id: string, fields: Record<string, unknown>) => {
      if (fields.status === 'stopped') queueMicrotask(() => bench.compute.tell(id, { status: 'started' }));
      return set(id, fields);
    });
    await bench.inProject('POST /open');
    assert.equal((await bench.inProject<NodeObject>(`GET /nodes/${node.node_id}`)).status, 'started');
  });

  it('tell the next listener why they could not be closed, unless they were closed since', async (context) => {
    const project = bench.controller.projects.get(bench.project.project_id);
    const failToClose = async () => {
      const fails = async () => Promise.reject(new Error('not now'));
      const failed = context.mock.method(LiveProject.prototype, 'shutDown', fails, { times: 1 });
      const leave = project.listen(() => undefined);
      context.mock.timers.enable({ apis: ['setTimeout'] });
      leave();
      context.mock.timers.tick(60_000);
      context.mock.timers.reset();
      await waitFor(() => failed.mock.callCount() === 1, { what: 'the attempt to close it' });
      await turn();
    };
    const received = () => {
      const notices: unknown[] = [];
      project.listen(({ event }) => notices.push((event as { message: string }).message))();
      return notices.map((message) => /stays open.*not now/.test(String(message)));
    };
    await failToClose();
    assert.deepEqual([received(), received()], [[true], []]);
    await failToClose();
    await bench.inProject('POST /close');
    await bench.inProject('POST /open');
    assert.deepEqual(received(), []);
  });

  it('are refused with names that cannot be files, and leave no folder', async () => {
    for (const name of ['a/b', '..', '.', 'a\\b', ' ', 'x'.repeat(250)]) {
      await assert.rejects(bench.ask('POST /projects', { name }), refusal('project_name_invalid'), name);
    }
  });

  it('of one name: one is made, also at the same time', async () => {
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => bench.ask('POST /projects', { name: 'twice' })));
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  });

  it('are made one after the other in a folder that a client names; what lies there stays', async () => {
    const folder = join(dirname(bench.project.path), 'named');
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      await mkdir(join(folder, `${name}.gns3.log`), { recursive: true });
      await writeFile(join(folder, `${name}.gns3.log/own`), 'of the user');
    }
    const create = (name: string) =>
      bench.ask('POST /projects', { name, path: `${folder}${name === 'c' ? '/' : ''}`, project_id: randomUUID() });
    const results = await Promise.allSettled(names.map(create));
    // Whichever came first.
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    for (const [index, result] of results.entries()) {
      if (index === winner) continue;
      assert.ok(result.status === 'rejected' && isFault(result.reason, 'project_path_taken'), names[index]);
    }
    const logs = (await readdir(folder)).filter((name) => !name.endsWith('.gns3')).sort();
    assert.deepEqual(
      logs.map((log) => [log[0], /^.\.gns3\.log\../.test(log)]),
      names.map((name, index) => [name, index === winner]),
    );
    for (const log of logs) assert.equal(await readFile(join(folder, log, 'own'), 'utf8'), 'of the user');
  });

  it('are made one at a time in a folder, whatever links lead there', async () => {
    const root = dirname(bench.project.path);
    await mkdir(join(root, 'real'));
    await symlink('real', join(root, 'link'));
    const wanted = ['real/x', 'link/x'].map((path) =>
      bench.ask('POST /projects', { name: path.slice(0, 4), path: join(root, path) }),
    );
    const results = await Promise.allSettled(wanted);
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal((await readdir(join(root, 'real/x'))).filter((name) => name.endsWith('.gns3')).length, 1);
  });

  it('that are being made are not found a second time', async (context) => {
    const { projects, notices } = bench.controller;
    const created: unknown[] = [];
    notices.subscribe(({ action, event }) => void (action === 'project.created' && created.push((event as ProjectAnswer).name)));
    const rename = context.mock.method(NewProjectFiles.prototype, 'reveal', async function (this: NewProjectFiles) {
      rename.mock.restore();
      await projects.reload();
      await this.reveal();
      await projects.reload();
    });
    const path = join(dirname(bench.project.path), 'elsewhere');
    await bench.ask('POST /projects', { name: 'x', path });
    await projects.reload();
    assert.deepEqual(created, ['x']);
  });

  it('take changes although another program removed the file that was not changed yet', async () => {
    const file = join(bench.project.path, bench.project.filename);
    await rm(file);
    await bench.addNode('PC1');
    assert.equal((await lstat(file)).isFile(), true);
  });

  it('that cannot be made take only their own files with them', async (context) => {
    const folder = join(dirname(bench.project.path), 'named');
    await mkdir(join(folder, 'x.gns3.log'), { recursive: true });
    await writeFile(join(folder, 'x.gns3.log/own'), 'of the user');
    const outer = join(dirname(folder), 'outer');
    context.mock.method(Registry.prototype, 'set', async () => {
      await writeFile(join(dirname(folder), 'outer/own'), 'made meanwhile').catch(() => undefined);
      throw Object.assign(new Error('no more files'), { code: 'EMFILE' });
    });
    for (const path of [folder, join(outer, 'inner')])
      await assert.rejects(bench.ask('POST /projects', { name: 'x', path, project_id: randomUUID() }), refusal('storage_failed'));
    const [aside = '', ...others] = await readdir(folder);
    assert.deepEqual(others, []);
    assert.equal(await readFile(join(folder, aside, 'own'), 'utf8'), 'of the user');
    assert.deepEqual(await readdir(outer), ['own']);
  });

  it('that were refused are not made at the next start, although the disk refused the deletion of their record and files', async (context) => {
    const names = async () => (await bench.ask<ProjectAnswer[]>('GET /projects')).map(({ name }) => name);
    const full = () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    const refuse = async (name: string) => {
      const removal = context.mock.method(DurableMap.prototype, 'delete', full);
      for (const method of ['reveal', 'remove'] as const)
        context.mock.method(NewProjectFiles.prototype, method, full, { times: 1 });
      await assert.rejects(bench.ask('POST /projects', { name }), refusal('storage_failed'));
      assert.equal(removal.mock.callCount(), 1);
      removal.mock.restore();
      await bench.controller.projects.reload();
    };
    await refuse('before another one');
    await bench.ask('POST /projects', { name: 'made' });
    const list = join(dirname(bench.project.path), '..', 'state', 'projects.log');
    assert.match((await readFile(list, 'utf8')).trimEnd().split('\n').at(-1) ?? '', /^\S+ \{"k":"[^"]+"\}$/);
    await refuse('before the end');
    await bench.restart();
    assert.deepEqual((await names()).sort(), ['made', 'the project']);
  });

  it('survive a loss of power right after they were made, whatever of their files it took', async () => {
    const losses: Record<string, (file: string) => Promise<unknown>> = {
      nothing: async () => undefined,
      log: (file) => rm(`${file}.log`),
      'content of the file': (file) => truncate(file),
      'half of the file': (file) => truncate(file, 100),
      file: (file) => rm(file),
      'name of the folder': (file) => rm(dirname(file), { recursive: true }),
    };
    const root = dirname(bench.project.path);
    const made: ProjectAnswer[] = [];
    for (const name of Object.keys(losses)) {
      const place = made.length % 2 === 0 ? {} : { path: join(root, 'a', 'b', name) };
      made.push(await bench.ask<ProjectAnswer>('POST /projects', { name, zoom: 77, ...place }));
    }
    await bench.restart(async () => {
      await onlyUnsettled(join(root, '..', 'state', 'projects.log'));
      for (const { name, path, filename } of made) {
        // Closing it wrote the first record.
        await truncate(join(path, `${filename}.log`));
        await losses[name]?.(join(path, filename));
      }
    });
    for (const { project_id, name } of made) {
      const path = `/projects/${project_id}`;
      assert.equal((await bench.ask<ProjectAnswer>(`POST ${path}/open`)).status, 'opened', name);
      assert.equal((await bench.ask<{ zoom: number }>(`GET ${path}`)).zoom, 77, name);
      await bench.ask(`POST ${path}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
    }
    await bench.restart();
    for (const { project_id, name } of made)
      assert.equal((await bench.ask<unknown[]>(`GET /projects/${project_id}/nodes`)).length, 1, name);
  });

  it('replace no file of another program after a loss of power', async () => {
    const { path, filename, project_id } = await bench.ask<ProjectAnswer>('POST /projects', { name: 'newer' });
    const newer = JSON.stringify({ revision: 99 });
    const file = join(bench.project.path, bench.project.filename);
    await bench.restart(async () => {
      await onlyUnsettled(join(dirname(path), '..', 'state', 'projects.log'));
      for (const own of [file, join(path, filename)]) await truncate(`${own}.log`);
      await writeFile(join(path, filename), newer);
      await writeFile(file, 'of another program');
    });
    await assert.rejects(bench.ask(`POST /projects/${project_id}/open`), refusal('project_newer'));
    assert.equal(await readFile(join(path, filename), 'utf8'), newer);
    assert.equal((await bench.inProject<ProjectAnswer>('POST /open')).status, 'opened');
    const aside = (await readdir(bench.project.path)).filter((name) => name.includes('.gns3.damaged-'));
    const kept = await Promise.all(aside.map((name) => readFile(join(bench.project.path, name), 'utf8')));
    assert.deepEqual(kept, ['of another program']);
  });

  it('keep what was changed in them when the list of projects is again as it was when they were made', async () => {
    await bench.addNode('PC1');
    const file = join(bench.project.path, bench.project.filename);
    const list = join(dirname(bench.project.path), '..', 'state', 'projects.log');
    await bench.restart(() => onlyUnsettled(list));
    assert.equal((await bench.inProject<unknown[]>('GET /nodes')).length, 1);
    await bench.restart(async () => {
      await onlyUnsettled(list);
      await writeFile(file, '');
    });
    await assert.rejects(bench.inProject('POST /open'), refusal('project_damaged'));
    assert.equal(await readFile(file, 'utf8'), '');
  });

  it('are listed in turns at first, with what was made meanwhile', async (t) => {
    for (const name of ['a', 'b']) await bench.ask('POST /projects', { name });
    let now = 0;
    t.mock.method(performance, 'now', () => (now += 1000));
    const turns = t.mock.method(globalThis, 'setImmediate');
    const listing = bench.controller.projects.list();
    const made = bench.controller.projects.create({ name: 'c' });
    const listed = await listing;
    assert.ok(turns.mock.callCount() >= 3, `${turns.mock.callCount()} turns for three projects`);
    t.mock.restoreAll();
    await made;
    assert.ok(listed.length >= 3);
    const [first, again] = [await bench.controller.projects.list(), await bench.controller.projects.list()];
    assert.equal(first, again);
    assert.deepEqual(first.map(({ name }) => name).sort(), ['a', 'b', 'c', 'the project']);
  });

  it('that are damaged are listed as such and left unchanged until they are repaired', async () => {
    const file = join(bench.project.path, bench.project.filename);
    await bench.inProject('POST /close');
    const content = await readFile(file);
    await bench.restart(() => writeFile(file, '{ not a project'));
    const { name, path } = bench.project;
    const listed = await bench.ask<ProjectAnswer[]>('GET /projects');
    assert.ok(listed.some((one) => one.project_id === bench.project.project_id && one.name === name && one.status === 'closed'));
    for (const request of ['POST /open', 'GET /nodes']) await assert.rejects(bench.inProject(request), refusal('project_damaged'));
    assert.equal(await readFile(file, 'utf8'), '{ not a project');
    await assert.rejects(bench.ask('POST /projects', { name }), refusal('project_name_taken'));
    assert.equal(
      (await bench.ask<ProjectAnswer>('POST /projects', { name: 'x', project_id: bench.project.project_id })).path,
      path,
    );
    await writeFile(file, content);
    assert.equal((await bench.inProject<ProjectAnswer>('POST /open')).status, 'opened');
  });

  it('that are damaged can be deleted', async () => {
    const { path, filename } = bench.project;
    await bench.inProject('POST /close');
    await bench.restart(() => writeFile(join(path, filename), ''));
    await bench.inProject('DELETE ');
    await assert.rejects(lstat(path), { code: 'ENOENT' });
    assert.deepEqual(await bench.ask('GET /projects'), []);
  });

  it('that were never registered and are damaged are listed under an id that stays', async () => {
    const folder = join(dirname(bench.project.path), 'copied');
    await bench.restart(async () => {
      await mkdir(folder);
      await writeFile(join(folder, 'lab.gns3'), '{');
    });
    const find = async () => (await bench.ask<ProjectAnswer[]>('GET /projects')).find(({ name }) => name === 'lab')?.project_id;
    const id = await find();
    await bench.restart();
    assert.equal(await find(), id);
    await assert.rejects(bench.ask(`POST /projects/${id}/open`), refusal('project_damaged'));
  });

  it('are closed on computes that have no node of them any more', async () => {
    const node = await bench.addNode('PC1');
    await bench.inProject(`DELETE /nodes/${node.node_id}`);
    await bench.inProject('POST /close');
    assert.ok(bench.compute.calls.includes('POST /projects/{project_id}/close'));
  });

  it('go with their folder', async () => {
    await bench.addNode('PC1');
    await bench.inProject('DELETE ');
    await assert.rejects(lstat(bench.project.path), { code: 'ENOENT' });
    await assert.rejects(bench.inProject('GET '), refusal('project_not_found'));
  });

  it('are whole when the server ends, however long the disk takes: nothing is written afterwards', async (context) => {
    await bench.addNode('PC1');
    const { restart } = Journal.prototype;
    const [began, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    context.mock.method(Journal.prototype, 'restart', async function (this: Journal<object>, records: () => readonly object[]) {
      began.resolve();
      await goesOn.promise;
      return restart.call(this, records);
    });
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let isClosed = false;
    const closing = bench.controller.close().then(() => {
      isClosed = true;
    });
    await began.promise;
    context.mock.timers.runAll();
    for (let turns = 0; turns < 100; turns++) await turn();
    const wasClosed = isClosed;
    goesOn.resolve();
    await closing;
    assert.equal(wasClosed, false);
    context.mock.reset();
    await bench.restart();
    assert.equal((await bench.inProject<unknown[]>('GET /nodes')).length, 1);
  });
});
