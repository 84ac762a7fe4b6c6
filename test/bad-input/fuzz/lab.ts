/** The projects of a fuzzer, and their deletion. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pcsOfFabric } from '../../support/pcs-of-fabric.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Bench, createNode, createProject, end } from '../../support/with-server.ts';
import { machinesOf } from './state.ts';
import type { World } from './world.ts';

/**
 * Programs that confine others, and the one that copies folders. A server under random requests finds no others, so that nothing takes the
 * memory, the disk or the network of this host.
 */
export const harmlessPrograms = [
  'bwrap',
  'cp',
  'chown',
  'ip',
  'ldd',
  'mount',
  'prlimit',
  'setpriv',
  'sh',
  'sleep',
  'socat',
  'unshare',
];

/** A project with running nodes, and one that only the compute knows. */
export async function setUp({ client }: Bench, world: World): Promise<void> {
  const project = await createProject(client);
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => createNode(client, project)));
  const hub = await createNode(client, project, 'ethernet_switch');
  if (!one || !two || !three) throw new Error('nodes are missing');
  for (const [port, node] of [one, two].entries())
    await client.post(`${project.path}/links`, { nodes: [end(node), end(hub, 0, port)] });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  await client.post(`${project.path}/drawings`, { svg: '<svg/>' });
  await client.post(`${project.path}/snapshots`, { name: 'first' });
  world.archive = (await client.send(`GET ${project.path}/export`)).bytes;
  const elsewhere = await client.post('/v2/compute/projects', { name: 'elsewhere' });
  world.learn('/v2/compute/projects', elsewhere);
  for (const type of ['vpcs', 'ethernet_switch', 'ethernet_hub']) {
    const path = `/v2/compute/projects/${elsewhere.project_id}/${type}/nodes`;
    world.learn(path, await client.post(path, { name: type }));
  }
}

/** Deletes all projects and remote computes, and checks that nothing of them is left. */
export async function tearDown({ client, server }: Bench): Promise<void> {
  for (const place of ['/v2/projects', '/v2/compute/projects']) {
    for (const { project_id } of await client.get<{ project_id: string }[]>(place)) await client.delete(`${place}/${project_id}`);
  }
  for (const { compute_id } of await client.get<{ compute_id: string }[]>('/v2/computes'))
    if (compute_id !== 'local') await client.delete(`/v2/computes/${encodeURIComponent(compute_id)}`);
  const { console_ports, udp_ports } = await client.get('/v2/compute/network/ports');
  assert.deepEqual({ console_ports, udp_ports }, { console_ports: [], udp_ports: [] }, 'ports are left');
  assert.deepEqual(machinesOf(server), []);
  assert.deepEqual(await pcsOfFabric(server), []);
  // Files go after the answer.
  const isEmpty = async () => (await readdir(join(server.dataDir, 'projects'))).length === 0;
  await waitFor(isEmpty, { what: 'the folder of projects, empty' });
}
