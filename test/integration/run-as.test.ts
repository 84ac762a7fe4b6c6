/** A server that runs as root, with emulators that run as another user: links, consoles and a restart of the server work all the same. */
import assert from 'node:assert/strict';
import { chmod, readFile, stat } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { runTool } from '../../src/process/tool.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { atPrompt, setWord, showsWord } from '../support/ipxe.ts';
import { processesOf } from '../support/leftovers.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, serverProgram, startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, idleVm, type NodeBody, type ProjectHandle, tinyVm } from '../support/with-server.ts';

const skip = process.getuid?.() !== 0 && 'only root can choose the user of a process';
const user = 'nobody';
const uid = (await runTool('id', ['-u', user], { timeoutMs: 5000 })).stdout.trim();

interface Place {
  readonly server: RunningServer;
  readonly client: RawClient;
  readonly project: ProjectHandle;
}

async function startAs(engine: 'qemu' | 'passt', t: TestContext): Promise<Place> {
  const config = { Server: { run_as: user }, Qemu: { acceleration: 'off' }, NAT: { engine } };
  const server = await startServer({ config });
  const client = new RawClient(server.url);
  t.after(async () => {
    client.close();
    await server.stop();
  });
  await chmod(server.dataDir, 0o711);
  return { server, client, project: await createProject(client) };
}

/** Program and user id of all that belongs to the server. */
async function usersOf({ dataDir, runtimeDirectory }: RunningServer): Promise<Map<string, Set<string>>> {
  const users = new Map<string, Set<string>>();
  for (const { pid, commandLine } of processesOf(dataDir, runtimeDirectory)) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const ids = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1) ?? [];
    const ours = commandLine.includes(serverProgram) ? 'server' : /fabric\/main\./.exec(commandLine)?.[0];
    const program = ours ?? commandLine.split(' ')[0]?.replace(/.*\//, '') ?? '';
    users.set(program, new Set([...(users.get(program) ?? []), ...ids]));
  }
  return users;
}

/** Everything but the server and its fabric is the other user's. */
async function assertUsers(server: RunningServer, programs: readonly string[]): Promise<void> {
  const expected = [...programs.map((name) => [name, new Set([uid])] as const), ['fabric/main.', new Set(['0'])] as const];
  expected.push(['server', new Set(['0'])] as const);
  // A relay that waits for the fabric sleeps for a moment, as the holder of the link namespace always does; the fabric keeps a tc of its own,
  // and bubblewrap only waits for a confined program.
  const found = [...(await usersOf(server))].filter(([program]) => !['sleep', 'tc', 'bwrap'].includes(program));
  const byName = (entries: readonly (readonly [string, Set<string>])[]) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(byName(found), byName(expected));
}

type Dialogue = readonly (readonly [string, RegExp])[];
const pings: Dialogue = [
  ['ip 192.168.122.50/24 192.168.122.1', /192\.168\.122\.50 255.*VPCS>/s],
  ['ping 192.168.122.1 -c 1', /icmp_seq=1 ttl=/],
];
const leases: Dialogue = [['ip dhcp', /IP 192\.168\.122\.100/]];

/** A PC exchanges frames with a host behind the NAT node, and can write to its folder. */
async function hasUplink(pc: NodeBody, lines: Dialogue): Promise<void> {
  const telnet = await openTelnet(pc.console as number);
  for (const [line, shows] of [...lines, ['save', /done/] as const]) {
    telnet.send(`${line}\r`);
    await telnet.expect(shows, 20_000);
  }
  telnet.close();
}

/** A machine at its prompt continues from its memory, and its TPM with it. */
async function isRewound({ client, project }: Place, { node_id, name }: NodeBody): Promise<void> {
  const node = () => client.get<NodeBody>(`${project.path}/nodes/${node_id}`);
  const before = await openTelnet((await node()).console as number);
  await setWord(before, 'kept');
  const { snapshot_id, memory } = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'warm', memory: true });
  assert.ok(memory?.nodes.includes(node_id), JSON.stringify(memory));
  await setWord(before, 'later');
  before.close();
  await client.post(`${project.path}/snapshots/${snapshot_id}/restore`);
  const after = await openTelnet((await node()).console as number);
  await showsWord(after, 'kept');
  after.close();
  const { node_directory } = await client.get<{ node_directory: string }>(`${project.path}/nodes/${node_id}`);
  await assert.rejects(stat(`${node_directory}/saved-memory`), { code: 'ENOENT' }, `${name} has its memory`);
}

test('machines, their TPMs, PCs and the uplink are linked, exchange traffic and are adopted', { skip }, async (t) => {
  const place = await startAs('qemu', t);
  const { server, client, project } = place;
  const options = '-machine accel=tcg,graphics=off';
  const vm = (name: string, more: object) =>
    createNode(client, project, 'qemu', { name, properties: { ...tinyVm, options, ram: 32, ...more } });
  const nodes = [
    await vm('A', { tpm: true }),
    await vm('B', { adapter_type: idleVm.adapter_type }),
    await createNode(client, project, 'vpcs'),
  ];
  const [one, two, pc] = nodes as [NodeBody, NodeBody, NodeBody];
  const nat = await createNode(client, project, 'nat');
  const link = (ends: NodeBody[]) =>
    client.post<{ link_id: string }>(`${project.path}/links`, { nodes: ends.map((node) => end(node)) });
  const { link_id } = await link([one, two]);
  await link([pc, nat]);
  await client.post(`${project.path}/nodes/start`, {}, 204);
  (await atPrompt(one)).close();
  const programs = ['qemu-system-x86_64', 'swtpm'];
  await assertUsers(server, programs);
  await hasUplink(pc, pings);

  await server.kill9();
  await server.restart();
  await client.post(`${project.path}/open`);
  const statuses = async () => (await client.get<NodeBody[]>(`${project.path}/nodes`)).map(({ status }) => status);
  await waitFor(async () => (await statuses()).every((status) => status === 'started'), { what: 'nodes that were taken over' });
  await assertUsers(server, programs);
  const { running } = await client.get<{ running: boolean }>(`${project.path}/links/${link_id}/stats`);
  assert.equal(running, true);
  await client.post(`${project.path}/nodes/${two.node_id}/stop`, {}, 200);
  await isRewound(place, one);
  await assertUsers(server, programs);
  await hasUplink(pc, pings);
  const { node_directory } = await client.get<{ node_directory: string }>(`${project.path}/nodes/${one.node_id}`);
  assert.match(await readFile(`${node_directory}/qemu.log`, 'utf8'), /-sandbox on/);
  assert.equal(String((await stat(`${node_directory}/tpm/tpm2-00.permall`)).uid), uid);
  await client.delete(project.path);
  await assertUsers(server, []);
});

test('so does the uplink by passt', { skip }, async (t) => {
  const place = await startAs('passt', t);
  const { server, client, project } = place;
  const [pc, nat] = [await createNode(client, project, 'vpcs'), await createNode(client, project, 'nat')];
  await client.post(`${project.path}/links`, { nodes: [end(pc), end(nat)] });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  await assertUsers(server, [(await usersOf(server)).has('passt.avx2') ? 'passt.avx2' : 'passt']);
  await hasUplink(pc, leases);
  await client.delete(project.path);
});
