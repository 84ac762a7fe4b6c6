/** A project with nodes, a link and a drawing for tests of bad input, and a reading of all state that must not change. */

import { randomUUID } from 'node:crypto';
import { type Bench, createNode, createProject, end, freshName, type ProjectHandle } from '../support/with-server.ts';
import type { Ids } from './json-route.ts';

export interface Fixture {
  readonly project: ProjectHandle;
  readonly ids: Ids;
  /** Number of nodes of the project. */
  readonly nodes: number;
}

/** `node_id` and `other_id` are vpcs nodes without links, `link_id` joins two others, `vm_id` is a qemu node; no machine runs. */
export async function withFixture({ client }: Bench): Promise<Fixture> {
  const project = await createProject(client);
  const [free, other, one, two] = await Promise.all([1, 2, 3, 4].map(() => createNode(client, project)));
  const vm = await createNode(client, project, 'qemu');
  const cloud = await createNode(client, project, 'cloud');
  const nat = await createNode(client, project, 'nat');
  const switches = await Promise.all(
    ['ethernet_switch', 'ethernet_hub', 'frame_relay_switch', 'atm_switch'].map((type) => createNode(client, project, type)),
  );
  if (!free || !other || !one || !two) throw new Error('nodes are missing');
  const link = await client.post(`${project.path}/links`, { nodes: [end(one), end(two)], filters: { latency: [5] } });
  const drawing = await client.post(`${project.path}/drawings`, {});
  const remote = await client.post('/v2/computes', { protocol: 'http', host: '127.0.0.1', port: 1, name: freshName('remote') });
  const template = await client.post('/v2/templates', { name: 'T', template_type: 'qemu', compute_id: 'local' });
  const ids = {
    compute_id: 'local',
    drawing_id: String(drawing.drawing_id),
    cloud_id: cloud.node_id,
    nat_id: nat.node_id,
    link_id: String(link.link_id),
    node_id: free.node_id,
    other_id: other.node_id,
    project_id: project.id,
    remote_id: String(remote.compute_id),
    template_id: String(template.template_id),
    unknown_id: randomUUID(),
    vm_id: vm.node_id,
    ...Object.fromEntries(switches.map(({ node_type, node_id }) => [`${node_type}_id`, node_id])),
  };
  return { project, ids, nodes: 7 + switches.length };
}

interface ComputeBody {
  compute_id: string;
  name: string;
}

/** Lists and ports, as a value to compare before and after. */
export async function worldOf(bench: Bench, { project }: Fixture): Promise<Record<string, unknown>> {
  const { client } = bench;
  const computes = await client.get<ComputeBody[]>('/v2/computes');
  return {
    projects: await client.get('/v2/projects'),
    nodes: await client.get(`${project.path}/nodes`),
    links: await client.get(`${project.path}/links`),
    drawings: await client.get(`${project.path}/drawings`),
    computes: computes.map(({ compute_id, name }) => [compute_id, name]),
    templates: await client.get('/v2/templates'),
    computeProjects: await client.get('/v2/compute/projects'),
    ports: await client.get('/v2/compute/network/ports'),
    images: await client.get('/v2/compute/qemu/images'),
  };
}
