/**
 * Nodes and links that a compute has made and whose controller died before it recorded them: the compute's routes make them here, which
 * leaves the compute as a controller that is killed between the answer and its own record does.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { TemporaryProjects } from '../../src/controller/computes/temporary-projects.ts';
import type { ComputeNodeRun } from '../../src/schema/node-runs.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

describe('what was made at a compute and not recorded', { timeout: 120_000 }, async () => {
  const { server, client } = await withServer();
  const lab = await createProject(client, { auto_close: false });
  const [one, other, third] = [await createNode(client, lab), await createNode(client, lab), await createNode(client, lab)];
  await client.post(`${lab.path}/links`, { nodes: [end(one), end(other)] });
  const kept = () => client.get<ComputeNodeRun[]>(`${lab.computePath}/nodes`);
  const ports = async ({ node_id }: NodeBody) => (await kept()).find((run) => run.node_id === node_id)?.joined_ports?.length ?? 0;

  it('is removed when the controller is there again: a node, and the ends of a link', async () => {
    const stray = await client.post<NodeBody>(`${lab.computePath}/vpcs/nodes`, { name: 'STRAY' });
    const hub = await client.post<NodeBody>(`${lab.computePath}/ethernet_hub/nodes`, { name: 'HUB' });
    const { udp_port: lport } = await client.post<{ udp_port: number }>(`${lab.computePath}/ports/udp`);
    const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: lport + 1 };
    await client.post(`${lab.computePath}/vpcs/nodes/${third.node_id}/adapters/0/ports/0/nio`, nio);
    assert.equal((await kept()).length, 5);
    assert.equal(await ports(third), 1);
    await server.kill9();
    await server.restart();
    await waitFor(async () => (await kept()).length === 3, { what: 'the removal of the nodes' });
    const ids = (await kept()).map(({ node_id }) => node_id);
    assert.deepEqual([ids.includes(stray.node_id), ids.includes(hub.node_id)], [false, false]);
    await waitFor(async () => (await ports(third)) === 0, { what: 'the removal of the end of a link' });
    assert.deepEqual([await ports(one), await ports(other)], [1, 1], 'links of the project stay');
    await client.post(`${lab.path}/links`, { nodes: [end(third), end(await createNode(client, lab))] });
  });

  it('is removed when it is a temporary project of the controller; one that became a project of the server stays', async () => {
    const id = crypto.randomUUID();
    await client.post('/v2/compute/projects', { name: 'copy', project_id: id });
    await client.post(`/v2/compute/projects/${id}/vpcs/nodes`, { name: 'COPY' });
    const known = async () => (await client.get<{ project_id: string }[]>('/v2/compute/projects')).map((each) => each.project_id);
    assert.ok((await known()).includes(id));
    await server.kill9();
    const notes = await TemporaryProjects.open(join(server.dataDir, 'state'), assert.fail);
    for (const projectId of [id, lab.id]) await notes.begin({ id: 'local' }, projectId);
    await notes.close();
    await server.restart();
    await waitFor(async () => !(await known()).includes(id), { what: 'the removal of the temporary project' });
    assert.equal((await client.get<{ status: string }>(lab.path)).status, 'opened');
    assert.equal((await kept()).length, 4);
  });

  it('is removed of a project that is closed, whose opening was cut off', async () => {
    await client.post(`${lab.path}/close`, {}, 204);
    await client.post('/v2/compute/projects', { name: 'lab', project_id: lab.id });
    await client.post(`${lab.computePath}/ethernet_hub/nodes`, { name: 'HUB' });
    await server.kill9();
    await server.restart();
    const isOpen = async () =>
      (await client.get<{ project_id: string }[]>('/v2/compute/projects')).some(({ project_id }) => project_id === lab.id);
    await waitFor(async () => !(await isOpen()), { what: 'its end' });
  });
});

/** A relay to another server, which may hold back its answers, or be cut. */
class Gate {
  readonly #server = createServer((socket) => this.#relay(socket));
  readonly #sockets = new Set<Socket>();
  readonly #target: number;
  holdsAnswers = false;

  constructor(target: number) {
    this.#target = target;
  }

  async open(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #relay(socket: Socket): void {
    const target = connect(this.#target, '127.0.0.1');
    for (const one of [socket, target]) {
      this.#sockets.add(one);
      one.on('error', () => undefined).on('close', () => [socket, target].map((each) => each.destroy()));
    }
    socket.pipe(target);
    target.on('data', (bytes) => !this.holdsAnswers && socket.write(bytes));
  }
}

describe('a project whose first node at another compute was not recorded', { timeout: 120_000 }, async () => {
  const { server, client } = await withServer();
  const away = await startServer();
  const gate = new Gate(away.port);
  const computeId = crypto.randomUUID();
  after(async () => {
    gate.cut();
    await away.stop();
  });

  it('is removed there with its deletion, also when the compute is away then', async () => {
    using atCompute = new RawClient(away.url);
    const port = await gate.open();
    await client.post('/v2/computes', { compute_id: computeId, name: 'away', protocol: 'http', host: '127.0.0.1', port });
    const isConnected = async () => (await client.get<{ connected: boolean }>(`/v2/computes/${computeId}`)).connected;
    await waitFor(isConnected, { what: 'the compute' });
    const [one, other] = [await createProject(client, { auto_close: false }), await createProject(client, { auto_close: false })];
    const folderOf = ({ id }: { id: string }) => join(away.dataDir, 'projects', id);
    gate.holdsAnswers = true;
    for (const project of [one, other]) createNode(client, project, 'vpcs', { compute_id: computeId }).catch(() => undefined);
    await waitFor(() => [one, other].every((project) => existsSync(folderOf(project))), { what: 'the projects at the compute' });
    await server.kill9();
    gate.holdsAnswers = false;
    await server.restart();
    await waitFor(isConnected, { what: 'the compute' });
    await client.delete(one.path);
    gate.cut();
    await waitFor(async () => !(await isConnected()), { what: 'the loss of the compute' });
    await client.delete(other.path);
    const again = new Gate(away.port);
    after(() => again.cut());
    await again.open(port);
    // A project is closed there first, and opened once more to be deleted with its files.
    const areGone = async () =>
      (await atCompute.get<object[]>('/v2/compute/projects')).length === 0 &&
      ![one, other].some((project) => existsSync(folderOf(project)));
    await waitFor(areGone, { what: 'the end of both projects at the compute' });
  });
});
