import assert from 'node:assert/strict';
import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { Journal } from '../../lib/journal.ts';
import { projectDefaults } from '../../schema/project.ts';
import { type NodeEntry, type ProjectEntry, type Topology, toNodeEntry } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { historyPath } from './project-history.ts';
import { ProjectLog } from './project-log.ts';
import { type ProjectState, readProject, topologyOf } from './project-state.ts';
import type { ProjectChange } from './records.ts';

const projectId = 'c6992992-ac72-47dc-833b-54aa334bcd05';
const options = { version: '2.2.60', onSnapshotFailed: () => undefined, quietMs: 100_000 };
let folder: string;
let count = 0;

async function makeProject(): Promise<string> {
  const file = join(folder, `${count++}.gns3`);
  const project = { ...projectDefaults, name: 'x', project_id: projectId };
  await writeProject(file, newTopology(project));
  return file;
}

async function writeProject(file: string, topology: Topology): Promise<void> {
  await writeFileAtomic(file, await topologyText(topology, '2.2.60'));
}

function newTopology(project: ProjectEntry): Topology {
  return { project, nodes: [], links: [], drawings: [], computes: [] };
}

function node(name: string, x = 0): NodeEntry {
  const id = `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`;
  return toNodeEntry({ compute_id: 'local', name, console_type: 'telnet', node_id: id, node_type: 'vpcs', x });
}

interface Opened {
  log: ProjectLog;
  state: ProjectState;
  put(entry: NodeEntry): Promise<void>;
}

async function open(file: string, changed = {}): Promise<Opened> {
  const { start, state } = await ProjectLog.open(file, { ...options, ...changed });
  const log = start(() => ({
    topology: topologyOf(state),
    udpPorts: Object.fromEntries(state.udpPorts),
    wanted: {},
    deleting: [],
    incarnation: 0,
  }));
  const put = (entry: NodeEntry) => {
    const was = state.nodes.get(entry.node_id);
    const change: ProjectChange = was
      ? { action: 'node.updated', event: entry, was }
      : { action: 'node.created', event: entry, was: null };
    return log.append(change, () => state.nodes.set(entry.node_id, entry));
  };
  return { log, state, put };
}

const names = (state: ProjectState) => [...state.nodes.values()].map((entry) => `${entry.name}:${entry.x}`);

describe('project log', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-project-log-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('opens a project that was just created as it is read later, and has its changes after a crash', async () => {
    const file = join(folder, 'created.gns3');
    // Fields that a project file of GNS3 writes in other forms, or leaves out.
    const variables = [{ name: 'A', value: 'b' }, { name: 'C' }];
    const project = { ...projectDefaults, name: 'ä "x"', project_id: projectId, variables, checkpoint_minutes: 5, zoom: 80 };
    const topology = newTopology(project);
    await writeProject(file, topology);
    const { start, state } = await ProjectLog.open(file, options, { topology, settle: async () => undefined });
    assert.deepEqual(topologyOf(state), topologyOf(await readProject(file)));
    const log = start(() => ({ topology: topologyOf(state), udpPorts: {}, wanted: {}, deleting: [], incarnation: 0 }));
    const entry = node('PC1');
    await log.append({ action: 'node.created', event: entry, was: null }, () => state.nodes.set(entry.node_id, entry));
    // The process ends here: the log is not closed.
    assert.deepEqual(names(await readProject(file)), ['PC1:0']);
    await log.close();
  });

  it('has every change after a crash, in order', async () => {
    const file = await makeProject();
    const { log, put } = await open(file);
    await Promise.all([put(node('a')), put(node('b'))]);
    await put(node('a', 5));
    await log.append({ action: 'node.deleted', event: node('b'), was: node('b') }, () => undefined);
    assert.deepEqual(names(await readProject(file)), ['a:5']);
    await log.close();
  });

  it('cuts off a torn last record', async () => {
    const file = await makeProject();
    const first = await open(file);
    await first.put(node('a'));
    await first.log.close();
    await appendFile(`${file}.log`, '00000000 {"seq":2,"act');
    const { log, state, put } = await open(file);
    assert.deepEqual(names(state), ['a:0']);
    await put(node('b'));
    await log.close();
    assert.deepEqual(names(await readProject(file)), ['a:0', 'b:0']);
  });

  it('reports a damaged log and file, and leaves both as they are', async () => {
    const file = await makeProject();
    const { log, put } = await open(file);
    for (const name of ['a', 'b', 'c']) await put(node(name));
    await log.close();
    const damaged = (await readFile(`${file}.log`, 'utf8')).replace('"name":"b"', '"name":"B"');
    await writeFile(`${file}.log`, damaged);
    await assert.rejects(open(file), (error) => isFault(error, 'project_damaged'));
    assert.equal(await readFile(`${file}.log`, 'utf8'), damaged);
    await writeFile(file, '{"half": ');
    await assert.rejects(open(file), (error) => isFault(error, 'project_damaged'));
    assert.equal(await readFile(file, 'utf8'), '{"half": ');
  });

  const head = { seq: 5, at: '2026-11-22T07:00:00.000Z', by: null };
  const link = { link_id: projectId, filters: {}, link_style: {}, suspend: false };
  const wrong: Record<string, object> = {
    'an unknown action': { ...head, action: 'node.painted', event: {}, was: null },
    'the action of a property of every object': { ...head, action: 'constructor', event: {}, was: null },
    'no action': { ...head, event: {}, was: null },
    'a node without an id': { ...head, action: 'node.created', event: { ...node('a'), node_id: undefined }, was: null },
    'a node at no place': { ...head, action: 'node.created', event: { ...node('a'), x: 'left' }, was: null },
    'a deleted node that cannot come back': { ...head, action: 'node.deleted', event: node('a'), was: null },
    'a link with no ends': { ...head, action: 'link.created', event: { ...link, nodes: [] }, was: null },
    'a drawing that is a list': { ...head, action: 'drawing.created', event: [], was: null },
    'a project without a name': { ...head, action: 'project.updated', event: { project_id: projectId }, was: {} },
    'no number': { ...head, seq: 'five', action: 'step.empty', event: {}, was: null },
    'a step that is text': { ...head, step: '5', action: 'step.empty', event: {}, was: null },
  };
  for (const [what, record] of Object.entries(wrong)) {
    it(`reports a record with ${what}, and leaves the log as it is`, async () => {
      const file = await makeProject();
      const { journal } = await Journal.open<unknown>(`${file}.log`);
      await journal.append(record);
      await journal.close();
      const before = await readFile(`${file}.log`, 'utf8');
      await assert.rejects(open(file), (error) => isFault(error, 'project_damaged') && error.message.includes('record'));
      await assert.rejects(readProject(file), (error) => isFault(error, 'project_damaged'));
      assert.equal(await readFile(`${file}.log`, 'utf8'), before);
    });
  }

  it('puts a history aside whose records have another form', async () => {
    const file = await makeProject();
    const first = await open(file);
    await first.put(node('a'));
    await first.log.close();
    const { journal } = await Journal.open<unknown>(historyPath(file));
    await journal.append({ ...head, action: 'node.painted', event: {}, was: null });
    await journal.close();
    const { log } = await open(file);
    assert.deepEqual(
      (await log.records()).map(({ action }) => action),
      ['node.created'],
    );
    const aside = (await readdir(dirname(file))).find((name) => name.startsWith(`${basename(file)}.history.damaged-`)) ?? '';
    assert.match(await readFile(join(dirname(file), aside), 'utf8'), /node\.painted/);
    await log.close();
  });

  it('an old log over a newer file changes nothing', async () => {
    const file = await makeProject();
    const { log, put, state } = await open(file);
    await put(node('a'));
    await put(node('a', 1));
    await put(node('b'));
    await log.append({ action: 'node.deleted', event: node('b'), was: node('b') }, () => state.nodes.delete(node('b').node_id));
    await copyFile(`${file}.log`, `${file}.old`);
    await log.writeSnapshot();
    await log.close();
    const after = topologyOf(await readProject(file));
    await copyFile(`${file}.old`, `${file}.log`);
    assert.deepEqual(topologyOf(await readProject(file)), after);
  });

  it('keeps records that come while a snapshot is written, and their numbers', async () => {
    const file = await makeProject();
    const { log, put, state } = await open(file);
    for (let n = 0; n < 300; n++) void put(node(`n${n}`));
    await put(node('last'));
    const snapshot = log.writeSnapshot();
    const late = Array.from({ length: 50 }, (_, n) => put(node(`late${n}`)));
    await Promise.all([snapshot, ...late]);
    const { seq } = log;
    await log.close();
    const read = await readProject(file);
    assert.deepEqual(topologyOf(read), topologyOf(state));
    assert.equal(read.seq, seq);
  });

  it('has many changes take effect in order and in short turns; a snapshot has all of them or none', async () => {
    const file = await makeProject();
    const { log, state, put } = await open(file);
    await put(node('a'));
    const order: string[] = [];
    const slow = (name: string) => ({
      change: { action: 'node.created', event: node(name), was: null } as const,
      apply: () => {
        for (const end = performance.now() + 6; performance.now() < end; );
        state.nodes.set(node(name).node_id, node(name));
        order.push(name);
        setImmediate(() => order.push('turn'));
      },
    });
    const together = log.appendAll(['b', 'c', 'd'].map(slow));
    const snapshot = together.then(() => readProject(file));
    const later = put(node('e')).then(() => order.push('e'));
    while (order.length === 0) await new Promise(setImmediate);
    await log.writeSnapshot();
    assert.deepEqual(names(state).slice(0, 4), ['a:0', 'b:0', 'c:0', 'd:0']);
    await Promise.all([together, snapshot, later]);
    assert.deepEqual(
      order.filter((each) => each !== 'turn'),
      ['b', 'c', 'd', 'e'],
    );
    assert.ok(order.indexOf('turn') < order.indexOf('d'));
    await log.close();
    assert.deepEqual(names((await readProject(file)) as ProjectState).sort(), ['a:0', 'b:0', 'c:0', 'd:0', 'e:0']);
  });

  it('lists no change that has not taken effect', async () => {
    const { log, state } = await open(await makeProject());
    const entries = Array.from({ length: 30 }, (_, at) => node(`n${at}`));
    const changes = entries.map((entry) => ({
      change: { action: 'node.created', event: entry, was: null } as const,
      apply: () => {
        for (const end = performance.now() + 6; performance.now() < end; );
        state.nodes.set(entry.node_id, entry);
      },
    }));
    const together = log.appendAll(changes);
    while (state.nodes.size === 0) await new Promise(setImmediate);
    const listed = await log.records();
    assert.equal(listed.length, state.nodes.size);
    await together;
    assert.equal(listed.length, entries.length);
    await log.close();
  });

  it('writes the file by itself after many records, and when it is quiet', async () => {
    const file = await makeProject();
    const many = await open(file, { maxRecords: 5 });
    for (let n = 0; n < 6; n++) await many.put(node(`n${n}`));
    await many.log.close();
    assert.ok((await readFile(file, 'utf8')).includes('"n4"'));
    const quiet = await open(file, { quietMs: 1 });
    // The timer is not for tests to wait on: a snapshot that is asked for waits for the one under way.
    await quiet.put(node('quiet'));
    await quiet.log.writeSnapshot();
    assert.equal(quiet.log.isAhead, false);
    await quiet.log.close();
  });

  it('remembers UDP ports of links through snapshots', async () => {
    const file = await makeProject();
    const { log, state } = await open(file);
    const ends = [node('a'), node('b')].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
    const capture = { capture_compute_id: null, capture_file_name: null, capture_file_path: null, capturing: false };
    const event = { ...link, ...capture, link_type: 'ethernet' as const, nodes: ends, project_id: projectId };
    await log.append({ action: 'link.created', event, was: null, udpPorts: [1, 2] }, () => {
      state.udpPorts.set(projectId, [1, 2]);
    });
    assert.deepEqual((await readProject(file)).udpPorts.get(projectId), [1, 2]);
    await log.writeSnapshot();
    await log.close();
    assert.deepEqual((await readProject(file)).udpPorts.get(projectId), [1, 2]);
  });

  it('a change that cannot be written is not made', async () => {
    const file = await makeProject();
    await symlink('/dev/full', `${file}.log`);
    const { log, put, state } = await open(file);
    await assert.rejects(put(node('a')), (error) => isFault(error, 'storage_failed') && error.status === 507);
    assert.deepEqual(names(state), []);
    await log.close();
  });
});
