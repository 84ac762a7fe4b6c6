/**
 * The server, the fabric, the process that receives memory and the machine itself are killed while a lab is frozen and rewound: machines
 * run on with what they remember, a snapshot has its memory as a whole or not at all, and nothing lies around.
 */
import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { deletedNodesFolder, keptPresentsFolder, memoryFolder } from '../../src/schema/folders.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import type { Template } from '../../src/schema/template.ts';
import { atPrompt, setWord, showsWord } from '../support/ipxe.ts';
import { killProcesses, processesOf } from '../support/leftovers.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, tinyVm } from '../support/with-server.ts';
import { makeChance } from './random.ts';

/** `PATCHBAY_TEST_KILLS` as in `kill.test.ts`. */
const long = Number(process.env.PATCHBAY_TEST_KILLS) || 0;
/** Rounds of each kind. */
const rounds = Math.max(1, Math.floor((long || 10) / 4));
const server = await startServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
after(() => server.stop());
const chance = makeChance();
console.log(`seed ${chance.seed}`);

const client = new RawClient(server.url);
after(() => client.close());
const project = await createProject(client, { auto_close: false });
const vm = await createNode(client, project, 'qemu', { properties: tinyVm });
const pc = await createNode(client, project);
await client.post(`${project.path}/links`, { nodes: [end(vm), end(pc)] });
const { path: folder } = await client.get<{ path: string }>(project.path);
const vmPath = `${project.path}/nodes/${vm.node_id}`;

async function remember(): Promise<void> {
  await client.post(`${vmPath}/start`, {}, 200);
  const console = await atPrompt(vm);
  await setWord(console, 'kept');
  console.close();
}

async function recalls(path = vmPath): Promise<void> {
  await waitFor(async () => (await client.get<NodeBody>(path)).status === 'started', { what: 'the machine, running' });
  const console = await openTelnet((await client.get<NodeBody>(path)).console as number);
  await showsWord(console, 'kept');
  console.close();
}

const running = (what: RegExp) =>
  processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => what.test(commandLine));
const machine = (line: string) => /^\S*qemu-system/.test(line) && !/share=on/.test(line);

async function killOne(what: RegExp): Promise<void> {
  const found = await waitFor(() => running(what).at(0), { what: `a process ${what}` });
  killProcesses([found]);
}

async function settled(): Promise<void> {
  const snapshots = () => client.get<Snapshot[]>(`${project.path}/snapshots`);
  await waitFor(async () => (await snapshots()).every(({ memory }) => memory?.status !== 'saving'), {
    what: 'the end of the freeze',
  });
}

const keptFolders: ReadonlySet<string> = new Set([memoryFolder, deletedNodesFolder, keptPresentsFolder]);

/** Nothing is half there. @returns the snapshots */
async function consistent(): Promise<Snapshot[]> {
  const names = async () => (await readdir(folder)).filter((name) => name.startsWith('.') && !keptFolders.has(name));
  await waitFor(async () => (await names()).length === 0, { what: 'a folder without anything half done' }).catch(
    async (error: Error) => {
      throw new Error(`${error.message}: ${await names()}\n${server.log().slice(-3000)}`, { cause: error });
    },
  );
  await waitFor(() => running(/share=on/).length === 0, { what: 'the end of what receives memory' });
  const snapshots = await client.get<Snapshot[]>(`${project.path}/snapshots`);
  const memories = await readdir(join(folder, '.memory')).catch((): string[] => []);
  const known = new Set(snapshots.filter(({ memory }) => memory).map(({ snapshot_id }) => snapshot_id));
  assert.deepEqual([...known].sort(), memories.sort());
  assert.ok(snapshots.every(({ memory }) => memory === undefined || memory.status === 'ready'));
  return snapshots;
}

async function clear(): Promise<void> {
  for (const { snapshot_id } of await client.get<Snapshot[]>(`${project.path}/snapshots`))
    await client.delete(`${project.path}/snapshots/${snapshot_id}`);
}

let names = 0;
function freeze(): Promise<Snapshot | undefined> {
  names += 1;
  const asked = client.send(`POST ${project.path}/snapshots`, { body: { name: `s${names}`, memory: true } });
  return asked.then(
    (answer) => {
      if (answer.status === 201) return JSON.parse(answer.text()) as Snapshot;
      console.log(`s${names}: ${answer.text()}`);
      return undefined;
    },
    () => undefined,
  );
}

/** The server is killed some time after this request. @returns whether it was answered with 2xx before */
async function killedDuring(path: string, body: object, [from, to]: readonly [number, number]): Promise<boolean> {
  const asked = client.send(`POST ${path}`, { body }).then(
    ({ status }) => status < 300,
    () => false,
  );
  await pass(chance.between(from, to));
  await server.kill9();
  const isAnswered = await asked;
  await server.restart();
  return isAnswered;
}

/** Checks the forks of one request: each is complete and running, or not there. @returns how many */
async function forksAreWhole(): Promise<number> {
  const forks = (await client.get<Project[]>('/v2/projects')).filter(({ project_id }) => project_id !== project.id);
  for (const { project_id } of forks) {
    const path = `/v2/projects/${project_id}`;
    await client.post(`${path}/open`, {}, 201);
    const nodes = await client.get<NodeBody[]>(`${path}/nodes`);
    await recalls(`${path}/nodes/${nodes.find(({ node_type }) => node_type === 'qemu')?.node_id}`);
    await client.delete(path);
  }
  await consistent();
  const folders = async () => (await readdir(join(folder, '..'))).filter((name) => name !== project.id);
  await waitFor(async () => (await folders()).length === 0, { what: 'no folder of a fork' });
  return forks.length;
}

/** Checks that the machines of templates, and nothing else, are kept. */
async function templatesAreWhole(): Promise<Template[]> {
  const templates = (await client.get<Template[]>('/v2/templates')).filter(({ warm }) => warm);
  const kept = await readdir(join(server.dataDir, 'warm-machines')).catch((): string[] => []);
  assert.deepEqual(kept.sort(), templates.map(({ warm }) => warm?.machine_id).sort());
  return templates;
}

test('machines are frozen and killed around', { timeout: 3_600_000 }, async (t) => {
  await remember();
  await t.test(`${rounds} kills of the server during a freeze`, async () => {
    for (let round = 0; round < rounds; round++) {
      const frozen = freeze();
      await pass(chance.between(50, 900));
      await server.kill9();
      const acknowledged = await frozen;
      await server.restart();
      const snapshots = await consistent();
      if (acknowledged) assert.ok(snapshots.some(({ snapshot_id }) => snapshot_id === acknowledged.snapshot_id));
      await recalls();
    }
  });
  await t.test(`${rounds} kills of the server during a checkpoint`, async () => {
    await client.put(project.path, { checkpoint_minutes: 60 });
    for (let round = 0; round < rounds; round++) {
      const taken = client.send(`POST ${project.path}/checkpoints`).then(
        ({ status, text }) => (status === 201 ? (JSON.parse(text()) as Snapshot) : undefined),
        () => undefined,
      );
      await pass(chance.between(50, 900));
      await server.kill9();
      const acknowledged = await taken;
      await server.restart();
      const checkpoints = async () =>
        (await client.get<Snapshot[]>(`${project.path}/snapshots`)).filter(({ checkpoint }) => checkpoint);
      await waitFor(async () => (await checkpoints()).every(({ memory }) => memory), { what: 'no checkpoint without memory' });
      await consistent();
      if (acknowledged) assert.ok((await checkpoints()).some(({ snapshot_id }) => snapshot_id === acknowledged.snapshot_id));
      await recalls();
    }
    await client.put(project.path, { checkpoint_minutes: 0 });
  });
  await t.test(`${rounds} kills of what receives the memory`, async () => {
    for (let round = 0; round < rounds; round++) {
      const frozen = freeze();
      await waitFor(() => running(/share=on/).length > 0, { what: 'what receives the memory' });
      await pass(chance.between(0, 300));
      killProcesses(running(/share=on/));
      const acknowledged = await frozen;
      await settled();
      const snapshots = await consistent();
      assert.equal(
        snapshots.some(({ name }) => name === `s${names}`),
        acknowledged !== undefined,
      );
      await recalls();
    }
  });
  await t.test('a rewind and a fork to memory that could not be saved are refused, and change nothing', async () => {
    await clear();
    const memories = join(folder, memoryFolder);
    await rm(memories, { recursive: true, force: true });
    await writeFile(memories, 'in the place of the folder');
    const { snapshot_id } = (await freeze()) ?? {};
    const rewind = `${project.path}/snapshots/${snapshot_id}/restore`;
    for (const [path, what] of [
      [rewind, 'restored'],
      [`${project.path}/fork`, 'forked'],
    ] as const) {
      const { message } = await client.post<{ message: string }>(path, {}, 409);
      assert.match(message, new RegExp(`could not be ${what}: the memory of its machines could not be saved: EEXIST`));
    }
    await rm(memories);
    assert.equal(await forksAreWhole(), 0);
    assert.equal((await consistent()).length, 1, 'its files, with which it can be restored');
    await recalls();
    await client.post(rewind, { memory: false }, 201);
    await clear();
    await remember();
  });
  await t.test('a kill of the fabric, and of a machine', async () => {
    const first = freeze();
    await killOne(/fabric\/main\./);
    assert.ok(await first);
    await settled();
    await recalls();
    const second = freeze();
    await waitFor(() => running(/share=on/).length > 0, { what: 'what receives the memory' });
    const [pid] = processesOf(server.dataDir, server.runtimeDirectory)
      .filter(({ commandLine }) => machine(commandLine))
      .map((found) => found.pid);
    process.kill(pid as number, 'SIGKILL');
    await second;
    await waitFor(async () => (await client.get<NodeBody>(vmPath)).status === 'stopped', { what: 'the machine, stopped' });
    await settled();
    await consistent();
    await clear();
    await remember();
  });
  await t.test(`${rounds} kills of the server during a rewind`, async () => {
    const kept = await freeze();
    assert.ok(kept);
    const restorePath = `POST ${project.path}/snapshots/${kept.snapshot_id}/restore`;
    await client.send(restorePath, { body: {} });
    for (let round = 0; round < rounds; round++) {
      const restored = client.send(restorePath, { body: {} }).catch(() => undefined);
      await pass(chance.between(20, 1200));
      await server.kill9();
      await restored;
      await server.restart();
      await waitFor(async () => (await client.get(project.path)).status === 'opened', { what: 'the project, opened again' });
      assert.equal((await consistent()).find(({ snapshot_id }) => snapshot_id === kept.snapshot_id)?.memory?.status, 'ready');
      // Whenever it was killed: the machine was not stopped, or the next server continued.
      await recalls();
    }
    await clear();
  });
  await t.test(`${rounds} kills of the server while the project is closed with its memory`, async () => {
    await client.put(project.path, { on_close: 'freeze' });
    for (let round = 0; round < rounds; round++) {
      const closed = client.send(`POST ${project.path}/close`, { body: {} }).catch(() => undefined);
      await pass(chance.between(20, 1500));
      await server.kill9();
      await closed;
      await server.restart();
      // Killed before the end, it is open again; its machine ran on, or continues.
      await client.post(`${project.path}/open`, {}, 201);
      await recalls();
      await consistent();
    }
    await client.put(project.path, { on_close: 'stop' });
  });
  await t.test(`${long && rounds} kills of the server while a frozen project is opened`, async () => {
    await client.put(project.path, { on_close: 'freeze' });
    for (let round = 0; long && round < rounds; round++) {
      await client.post(`${project.path}/close`, {}, 204);
      await killedDuring(`${project.path}/open`, {}, [0, 1200]);
      await client.post(`${project.path}/open`, {}, 201);
      await recalls();
      await consistent();
    }
    await client.put(project.path, { on_close: 'stop' });
  });
  await t.test(`${long && rounds} kills of the server during a fork`, async () => {
    const kept = await freeze();
    // Memory that is being saved when the server dies is lost: forks of that snapshot would not run.
    await settled();
    for (let round = 0; long && round < rounds; round++) {
      const path = round % 2 === 0 ? `${project.path}/snapshots/${kept?.snapshot_id}/fork` : `${project.path}/fork`;
      const isAnswered = await killedDuring(path, { count: 2 }, [20, round % 2 === 0 ? 1500 : 2500]);
      const found = await forksAreWhole();
      if (isAnswered) assert.equal(found, 2);
      await recalls();
    }
    await clear();
  });
  await t.test(`${long && rounds} kills of the server while a template gets a machine, and a node is made of one`, async () => {
    for (let round = 0; long && round < rounds; round++) {
      const before = (await templatesAreWhole()).length;
      const isKept = await killedDuring(`${vmPath}/warm_template`, { name: `warm-${round}` }, [20, 1500]);
      await recalls();
      const [template, ...others] = await templatesAreWhole();
      if (isKept) assert.equal(others.length, before);
      if (!template) continue;
      const isMade = await killedDuring(`${project.path}/templates/${template.template_id}`, { x: 0, y: 0 }, [0, 400]);
      const nodes = await client.get<NodeBody[]>(`${project.path}/nodes`);
      const made = nodes.filter(({ template_id }) => template_id === template.template_id);
      if (isMade) assert.equal(made.length, 1);
      const folders = await readdir(join(folder, 'project-files/qemu'));
      assert.deepEqual(
        folders.filter((name) => name !== vm.node_id && !made.some(({ node_id }) => node_id === name)),
        [],
      );
      for (const { node_id } of made) {
        await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
        await recalls(`${project.path}/nodes/${node_id}`);
        await client.delete(`${project.path}/nodes/${node_id}`);
      }
      if (others.length > 0) await client.delete(`/v2/templates/${template.template_id}`);
      await consistent();
    }
  });
  await t.test('a kill of what receives the memory while the project is closed', async () => {
    await client.put(project.path, { on_close: 'freeze' });
    const refused = client.send(`POST ${project.path}/close`, { body: {} });
    await killOne(/share=on/);
    const { status } = await refused;
    // Too late: all had been received.
    if (status === 204) await client.post(`${project.path}/open`, {}, 201);
    else assert.equal(status, 409);
    await recalls();
    await consistent();
    await client.put(project.path, { on_close: 'stop' });
  });
  await client.post(`${project.path}/nodes/stop`, {}, 204);
});
