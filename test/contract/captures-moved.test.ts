/** Captures of a link whose node is moved to another compute: its ports are made anew there. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

interface CaptureBody {
  readonly capture_id: string;
  readonly capturing: boolean;
  readonly capture_file_name: string;
}

const { client, server } = await withServer();
const other = await startServer({ config: { Qemu: { acceleration: 'off' } } });
after(() => other.stop());
const address = { protocol: 'http', host: '127.0.0.1', port: other.port };
const { compute_id } = await client.post<{ compute_id: string }>('/v2/computes', { name: 'other', ...address });

test('captures of a link continue when a node of it is moved, there and back, and when the server is killed then', async () => {
  const project = await createProject(client, { auto_close: false });
  const hubs = [await createNode(client, project, 'ethernet_hub'), await createNode(client, project, 'ethernet_hub')] as const;
  const body = { nodes: hubs.map((hub) => end(hub, 0, 1)) };
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, body);
  const link = `${project.path}/links/${link_id}`;
  await client.post(`${link}/start_capture`, { capture_file_name: 'first.pcap' });
  const { capture_id } = await client.post<CaptureBody>(`${link}/captures`, { capture_file_name: 'second.pcap' });
  const seen = async () => {
    const { capturing, capture_file_name } = await client.get<CaptureBody>(link);
    const others = await client.get<CaptureBody[]>(`${link}/captures`);
    return [capturing, capture_file_name, ...others.map((one) => [one.capture_id, one.capturing])];
  };
  const wanted = JSON.stringify([true, 'first.pcap', [capture_id, true]]);
  const isSeen = async () => JSON.stringify(await seen()) === wanted;
  // Each hub in turn: whichever end is captured.
  for (const hub of hubs) {
    for (const to of [compute_id, 'local']) {
      await client.post(`${project.path}/nodes/${hub.node_id}/migrate`, { compute_id: to }, 200);
      assert.equal(JSON.stringify(await seen()), wanted, `after the move to ${to}`);
      await server.kill9();
      await server.restart();
      await waitFor(isSeen, { what: `both captures after a restart beside the node at ${to}` });
      const reports = await client.get<{ capture_id: string }[]>(`${project.computePath}/captures`);
      assert.deepEqual(new Set(reports.map((one) => one.capture_id)).size, 2, 'the compute writes both');
    }
  }
  await client.delete(project.path);
});

test('a capture is shown as its compute has it when a node of its link cannot be made where it was moved to', async () => {
  const project = await createProject(client, { auto_close: false });
  const hubs = [await createNode(client, project, 'ethernet_hub'), await createNode(client, project, 'ethernet_hub')] as const;
  const body = { nodes: hubs.map((hub) => end(hub, 0, 1)) };
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, body);
  const link = `${project.path}/links/${link_id}`;
  await client.post(`${link}/start_capture`, { capture_file_name: 'kept.pcap' });
  // The other compute cannot have the project's folder.
  const obstacle = join(other.dataDir, 'projects', project.id);
  await writeFile(obstacle, '');
  await client.post(`${project.path}/nodes/${hubs[1].node_id}/migrate`, { compute_id }, 200);
  const shown = await client.get<CaptureBody>(link);
  assert.deepEqual([shown.capturing, await client.get(`${project.computePath}/captures`)], [false, []]);
  await rm(obstacle);
  await client.delete(project.path);
});
