/** Controller and slices one version apart work together, either way round: a lab over both, whose nodes reach each other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeMigration } from '../../src/schema/move.ts';
import { earlierProgram, noEarlierVersion } from '../support/earlier-version/earlier-version.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { Pc } from '../support/pc.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, serverProgram, startServer } from '../support/server.ts';
import { startSlice } from '../support/slices.ts';
import { createNode, createProject, end, idleVm, type NodeBody } from '../support/with-server.ts';

const skip = (await noEarlierVersion()) ?? (await missingPrograms(['qemu-system-x86_64', 'qemu-system-x86'], ['vpcs', 'vpcs']));
const config = { Qemu: { acceleration: 'off' } };

async function lab(controllerProgram: string, sliceProgram: string): Promise<void> {
  const servers: RunningServer[] = [];
  const pcs: Pc[] = [];
  let client: RawClient | undefined;
  try {
    const controller = await startServer({ program: controllerProgram, config });
    servers.push(controller);
    client = new RawClient(controller.url);
    const slice = await startSlice(client, controller.url, { program: sliceProgram, config });
    servers.unshift(slice.server);
    const project = await createProject(client);
    const sw = await createNode(client, project, 'ethernet_switch', { compute_id: slice.id });
    for (const [index, compute] of ['local', slice.id, slice.id].entries()) {
      const pc = await Pc.make(client, project, index + 1, compute);
      pcs.push(pc);
      await client.post(`${project.path}/links`, { nodes: [end(pc.node), end(sw, 0, index)], filters: { latency: [5] } });
    }
    const vm = await createNode(client, project, 'qemu', { properties: idleVm, compute_id: slice.id });
    await client.post(`${project.path}/nodes/start`, {}, 204);
    const [here, there, other] = pcs as [Pc, Pc, Pc];
    assert.equal(await here.reaches(there), true, 'from the controller to the slice');
    assert.equal(await there.reaches(here), true, 'from the slice to the controller');
    assert.equal(await there.reaches(other), true, 'within the slice');
    const path = `${project.path}/nodes/${vm.node_id}`;
    assert.equal((await client.get<NodeBody>(path)).status, 'started');
    await client.post(`${path}/suspend`, {}, 200);
    await client.post(`${path}/start`, {}, 200);
    for (const to of ['local', slice.id]) {
      const moved: NodeMigration = await client.post(`${path}/migrate`, { compute_id: to }, 200);
      assert.deepEqual([moved.live, moved.node.compute_id], [true, to]);
    }
    await client.post(`${path}/stop`, {}, 200);
    await client.delete(project.path);
  } finally {
    for (const pc of pcs) pc.close();
    client?.close();
    for (const server of servers) await server.stop();
  }
}

describe('one version apart', { skip, timeout: 240_000, concurrency: false }, () => {
  test('a controller of this version drives a slice of e7e504bb', async () => lab(serverProgram, await earlierProgram()));
  test('a controller of e7e504bb drives a slice of this version', async () => lab(await earlierProgram(), serverProgram));
});
