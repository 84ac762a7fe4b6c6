/**
 * Nodes that run again: the wish to run is on disk when a request is answered, and survives kill -9, a boot of the host, and the
 * way from an earlier version.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { RunRecord } from '../../src/compute/store.ts';
import { DurableMap } from '../../src/lib/durable-map.ts';
import type { Project } from '../../src/schema/project.ts';
import { earlierProgram, noEarlierVersion } from '../support/earlier-version/earlier-version.ts';
import { processesOf } from '../support/leftovers.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { serverProgram, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, idleVm, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const skip = await missingPrograms(['qemu-system-x86_64', 'qemu-system-x86']);
const limitMs = 30_000;

describe('nodes after the end of their server', { skip, timeout: 240_000 }, async () => {
  const { server, client } = await withServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
  const act = (project: ProjectHandle, { node_id }: NodeBody, verb: string) =>
    client.post<NodeBody>(`${project.path}/nodes/${node_id}/${verb}`, {}, 200);
  const nodesOf = (project: ProjectHandle) => client.get<NodeBody[]>(`${project.path}/nodes`);
  const running = async (project: ProjectHandle) =>
    (await nodesOf(project)).flatMap(({ name, status }) => (status === 'started' ? [name] : [])).toSorted();
  const until = (project: ProjectHandle, names: string[]) =>
    waitFor(async () => (await running(project)).join() === names.toSorted().join(), { what: `${names} running`, limitMs });
  const end = (pattern: RegExp) => {
    for (const { pid, commandLine } of processesOf(server.dataDir, server.runtimeDirectory))
      if (pattern.test(commandLine)) process.kill(pid, 'SIGKILL');
  };
  const killed = async (whileDown: () => Promise<void> = async () => undefined) => {
    await server.kill9();
    await whileDown();
    await server.restart();
  };
  /** The host has lost power: nothing of it runs, and its boot is another one. */
  const boot = async () => {
    end(/qemu-system-|fabric\/main\./);
    const journal = await DurableMap.open<RunRecord>(join(server.dataDir, 'state', 'compute.journal'), assert.fail);
    for (const [key, value] of [...journal.entries()]) if (value.boot) await journal.set(key, { ...value, boot: 'another' });
    await journal.close();
  };
  const lab = async (names: readonly string[], kind: 'vpcs' | 'qemu' = 'vpcs') => {
    const project = await createProject(client, { auto_close: false });
    const nodes = new Map<string, NodeBody>();
    const fields = kind === 'qemu' ? { properties: idleVm } : {};
    for (const name of names) nodes.set(name, await createNode(client, project, kind, { name, ...fields }));
    return { project, node: (name: string) => nodes.get(name) as NodeBody };
  };

  test('those that were lost with their host run again; those that were stopped, or never started, do not', async () => {
    const { project, node } = await lab(['RUNS', 'STOPPED', 'NEVER']);
    for (const name of ['RUNS', 'STOPPED']) await act(project, node(name), 'start');
    await act(project, node('STOPPED'), 'stop');
    await killed(boot);
    await until(project, ['RUNS']);
    await client.delete(project.path);
  });

  test('those whose emulator failed stay stopped, whether the server ran then or not', async () => {
    const { project, node } = await lab(['FAILS', 'FAILED', 'RUNS'], 'qemu');
    for (const name of ['FAILED', 'FAILS']) {
      await act(project, node(name), 'start');
      if (name === 'FAILS') continue;
      end(/qemu-system-/);
      await until(project, []);
    }
    await killed(async () => end(/qemu-system-/));
    await act(project, node('RUNS'), 'start');
    await killed(boot);
    await until(project, ['RUNS']);
    // Nothing of them is to be done any more.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.deepEqual(await running(project), ['RUNS']);
    await client.delete(project.path);
  });

  test('a start that is refused leaves nothing wanted', async () => {
    const { project, node } = await lab(['REFUSED', 'RUNS']);
    const folder = String(node('REFUSED').node_directory);
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    await writeFile(folder, 'in the way');
    expectFault(await client.send(`POST ${project.path}/nodes/${node('REFUSED').node_id}/start`), 507);
    await act(project, node('RUNS'), 'start');
    await rm(folder);
    await killed(boot);
    await until(project, ['RUNS']);
    await client.delete(project.path);
  });

  test('closed, they stay stopped; frozen, they run when their project is opened', async () => {
    const { project, node } = await lab(['PC1']);
    await act(project, node('PC1'), 'start');
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`, {}, 201);
    assert.deepEqual(await running(project), []);
    await act(project, node('PC1'), 'start');
    await client.put(project.path, { on_close: 'freeze' });
    await client.post(`${project.path}/close`, {}, 204);
    await killed(boot);
    await client.post(`${project.path}/open`, {}, 201);
    await until(project, ['PC1']);
    await client.delete(project.path);
  });
});

const noEarlier = (await missingPrograms(['vpcs', 'vpcs'])) ?? (await noEarlierVersion());

describe('a frozen project of e7e504bb', { skip: noEarlier, timeout: 240_000 }, () => {
  test('continues, its log and list are kept beside, and with them it goes back', async () => {
    const program = await earlierProgram();
    const server = await startServer({ program, stopNodes: false });
    after(() => server.stop());
    const client = new RawClient(server.url);
    after(() => client.close());
    const project = await createProject(client, { auto_close: false });
    const node = await createNode(client, project, 'vpcs', { name: 'PC1' });
    const other = await createNode(client, project, 'vpcs', { name: 'PC2' });
    await client.put(project.path, { on_close: 'freeze' });
    await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
    await client.post(`${project.path}/close`, {}, 204);
    const { path, filename } = await client.get<Project>(project.path);
    const file = join(String(path), String(filename));
    const status = async () => (await client.get<NodeBody[]>(`${project.path}/nodes`)).map((each) => each.status).join();
    const runs = (wanted: string) => waitFor(async () => (await status()) === wanted, { what: wanted, limitMs });
    await server.kill9();
    await server.restart(serverProgram);
    await client.post(`${project.path}/open`, {}, 201);
    await runs('started,stopped');
    assert.doesNotMatch(await readFile(`${file}.log.backup`, 'utf8'), /wanted/);
    assert.match(await readFile(join(String(path), '.patchbay-resume.json.backup'), 'utf8'), new RegExp(node.node_id));
    await client.put(`${project.path}/nodes/${other.node_id}`, { name: 'RENAMED' });
    await client.post(`${project.path}/close`, {}, 204);
    await server.kill9();
    await rename(`${file}.log.backup`, `${file}.log`);
    await server.restart(program);
    await client.post(`${project.path}/open`, {}, 201);
    const names = (await client.get<NodeBody[]>(`${project.path}/nodes`)).map(({ name }) => name);
    assert.deepEqual(names.toSorted(), ['PC1', 'RENAMED']);
  });
});
