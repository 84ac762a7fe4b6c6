/** Deleted projects: they stay deleted, and their files go, whenever the server is killed. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { ProjectRemovals } from './project-removals.ts';
import { Registry } from './registry.ts';

const id = '6b1d0a6e-61a5-4a6c-8d8a-2f3c5f0f7a10';
const filename = 'lab.gns3';
const log = pino({ level: 'silent' });

describe('Deleted projects', { timeout: 60_000 }, () => {
  let folder: string;
  let projectsPath: string;
  let path: string;
  let registry: Registry;
  let removals: ProjectRemovals;
  /** Projects that the local compute was asked to close. */
  let unclosed: Set<string>;
  /** Resolves with whether it has closed them. */
  let closed: PromiseWithResolvers<boolean>;

  const open = async () => {
    unclosed = new Set();
    closed = Promise.withResolvers();
    registry = await Registry.open(join(folder, 'state'), projectsPath, log);
    removals = new ProjectRemovals({
      ...{ registry, projectsPath, log },
      closeOnLocal: (projectId) => unclosed.add(projectId),
      closedOnLocal: (projectId) => (unclosed.has(projectId) ? closed.promise : undefined),
    });
  };
  const listed = async () => [...(await registry.discover({ isStart: true })).found.keys()];

  const startAgain = async () => {
    await registry.close();
    await open();
    assert.deepEqual(await listed(), []);
    const finish = await removals.resume();
    assert.deepEqual(await listed(), []);
    finish();
  };
  const expectNothingLeft = async () => {
    closed.resolve(true);
    await removals.close();
    assert.deepEqual(await readdir(projectsPath), []);
    assert.deepEqual([...registry.deletions()], []);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-removals-'));
    projectsPath = join(folder, 'projects');
    path = join(projectsPath, id);
    await open();
    await mkdir(path);
    const project = { name: 'lab', project_id: id, revision: 9, type: 'topology', version: '2.2.60', topology: {} };
    await writeFile(join(path, filename), JSON.stringify(project));
    await registry.set(id, { path, filename, opened: true });
  });

  afterEach(async () => {
    await removals.close();
    await registry.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('lose their folder, then their files and their record', async () => {
    assert.deepEqual(await listed(), [id]);
    await removals.remove({ id, path, filename });
    assert.equal(registry.get(id), undefined);
    assert.ok(!(await readdir(projectsPath)).includes(id));
    await expectNothingLeft();
  });

  it('are removed by the next start when the server was killed before their folder was renamed', async () => {
    await registry.recordDeletion(id, { path, filename });
    await startAgain();
    await expectNothingLeft();
  });

  it('are removed by the next start when the server was killed while their files were being removed', async () => {
    await registry.recordDeletion(id, { path, filename });
    await rm(path, { recursive: true });
    await mkdir(join(projectsPath, `.patchbay-deleted-${id}-1`));
    await startAgain();
    await expectNothingLeft();
  });

  it('do not take a new project of the same id with them', async () => {
    await removals.remove({ id, path, filename });
    await registry.set(id, { path, filename, opened: true });
    await mkdir(path);
    await removals.close();
    assert.deepEqual(await readdir(projectsPath), [id]);
    assert.equal(registry.get(id)?.opened, true);
  });

  it('are closed by the next start when the server was killed before its compute had closed them', async () => {
    unclosed.add(id);
    await removals.remove({ id, path, filename });
    // The end of a server asks for no answer.
    closed.resolve(false);
    await removals.close();
    // Another project has the folder by now.
    await mkdir(path);
    await writeFile(join(path, 'kept'), '');
    await startAgain();
    assert.deepEqual([...unclosed], [id]);
    closed.resolve(true);
    await removals.close();
    assert.deepEqual([await readdir(projectsPath), [...registry.deletions()]], [[id], []]);
    assert.deepEqual(await readdir(path), ['kept']);
  });

  it('whose files stay are closed by the next start, too', async () => {
    unclosed.add(id);
    await removals.forget({ id, filename });
    closed.resolve(false);
    await removals.close();
    await registry.close();
    await open();
    const finish = await removals.resume();
    finish();
    assert.deepEqual([...unclosed], [id]);
    closed.resolve(true);
    await removals.close();
    assert.deepEqual([...registry.deletions()], []);
    assert.deepEqual(await readdir(path), [filename]);
  });

  it('are projects again when their folder cannot be renamed', async () => {
    // A folder cannot be moved into itself.
    await assert.rejects(removals.remove({ id, path: projectsPath, filename }), { code: 'EINVAL' });
    assert.deepEqual(registry.get(id), { path, filename, opened: false });
    assert.deepEqual(await listed(), [id]);
  });
});
