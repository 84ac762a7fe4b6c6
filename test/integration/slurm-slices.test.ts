/** A lab over hosts that Slurm gives: slices join, links between them keep their delay, and a slice survives the loss of its host. */
import assert from 'node:assert/strict';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import type { ProjectPlacement } from '../../src/controller/placement/placement-request.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import type { SliceObject } from '../../src/schema/slice.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { findSlice, untilSlice } from '../support/slices.ts';
import { noSlurm, TestSlurm } from '../support/slurm.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';

const skip = (await noSlurm()) ?? false;
/** Of a slice. */
const folderOf = (id: string) => join(tmpdir(), `patchbay-${id}`);
const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
const root = resolve(import.meta.dirname, '../..');

describe('a lab on Slurm', { skip }, async () => {
  if (skip) return;
  await using started = new AsyncDisposableStack();
  const slurm = await TestSlurm.start(Array.from({ length: 3 }, () => ({ cpus: 2, memory: 2000 })));
  started.defer(() => slurm.stop());
  const work = join(slurm.folder, 'work');
  const server = await startServer({
    args: ['--host', slurm.network.address],
    env: slurm.env,
    config: {
      Qemu: { acceleration: 'off' },
      Cluster: { engine: 'slurm', lease_seconds: 5 },
      // Without `data_folder`: the files of a slice end with its job.
      Slurm: { command: `${process.execPath} ${root}/src/main.ts`, output_folder: work, grace: 20 },
    },
  });
  started.defer(() => server.stop());
  const client = new RawClient(server.url);
  started.defer(() => client.close());
  const owned = started.move();
  after(() => owned.disposeAsync());

  const order = () => client.post<SliceObject>('/v2/slices', { cpus: 2, memory: 1500 });
  const ordered = [await order(), await order()];
  const project = await createProject(client);
  const nodes: NodeBody[] = [];
  const hostOf = async (index: number) => (await findSlice(client, ordered[index]?.compute_id ?? ''))?.host;

  /** Round trip of the first answer, ms; undefined: none. */
  const ping = async (): Promise<number | undefined> => {
    const socket = await openWebSocket(`${client.base.origin}${project.path}/nodes/${nodes[0]?.node_id}/console/ws`);
    try {
      const output = () => socket.messages.map(String).join('');
      let looks = 0;
      const isOver = () => {
        if (/time=|not reachable|seq=2 timeout/.test(output())) return true;
        // A PC that still starts loses what is typed.
        if (looks++ % 15 === 0) socket.send(Buffer.from('ping 10.0.0.2 -c 2 -w 900 -i 100\r'));
        return false;
      };
      await waitFor(isOver, { what: 'the outcome of a ping', everyMs: 200 });
      const found = /time=([\d.]+) ms/.exec(output());
      return found ? Number(found[1]) : undefined;
    } finally {
      socket.close();
    }
  };

  it('has its slices on two hosts, where Slurm put them', async () => {
    for (const { compute_id } of ordered) await untilSlice(client, compute_id, 'joined');
    const hosts = [await hostOf(0), await hostOf(1)];
    assert.notEqual(hosts[0], hosts[1]);
  });

  it('carries a link between them by a stream, with its delay', async () => {
    for (const [index, { compute_id }] of ordered.entries()) {
      const properties = { startup_script: `ip 10.0.0.${index + 1}/24\n` };
      nodes.push(await createNode(client, project, 'vpcs', { compute_id, properties }));
    }
    const link = await client.post<{ link_id: string }>(`${project.path}/links`, {
      nodes: nodes.map((node) => end(node)),
      filters: { latency: [40] },
    });
    await client.post(`${project.path}/nodes/start`, {}, 204);
    const trip = await waitFor(ping, { what: 'a ping that is answered', everyMs: 200 });
    // Less the path as it was measured, which on a busy machine is longer than that of the ping.
    assert.ok(trip >= 60, `${trip} ms for 40 ms in each direction`);
    const stats = await client.get<LinkStats>(`${project.path}/links/${link.link_id}/stats`);
    assert.equal(stats.carrier, 'stream');
  });

  it('continues on another host after a power cut', async () => {
    const before = await hostOf(1);
    const id = ordered[1]?.compute_id ?? '';
    const placed = async () =>
      (await client.get<ProjectPlacement>(`${project.path}/placement`)).nodes.find(({ node_id }) => node_id === nodes[1]?.node_id);
    await waitFor(async () => (await placed())?.copied_at, { what: 'a copy of its files', everyMs: 200, limitMs: 120_000 });
    await slurm.powerOff(Number(before?.slice(1)) - 1);
    // All hosts of this test have one disk.
    await rm(folderOf(id), { recursive: true });
    await waitFor(
      async () => {
        const slice = await findSlice(client, id);
        return slice?.state === 'joined' && slice.host !== before && slice.epoch > 1;
      },
      { what: 'the slice on another host', everyMs: 200, limitMs: 120_000 },
    );
    await waitFor(async () => (await client.send(`POST ${project.path}/nodes/${nodes[1]?.node_id}/start`)).status === 200, {
      what: 'its node that starts',
      everyMs: 500,
    });
    // It has the address of its start-up file.
    await waitFor(ping, { what: 'a ping that is answered', everyMs: 200 });
    assert.ok((await placed())?.started_from);
  });

  it('leaves no job when its slices are deleted', async () => {
    for (const { compute_id } of ordered) await client.delete(`/v2/slices/${compute_id}`);
    await waitFor(async () => (await slurm.command('squeue', '--noheader', '--states=RUNNING,PENDING')).trim() === '', {
      what: 'the end of all jobs',
      everyMs: 200,
    });
    assert.deepEqual(await client.get('/v2/slices'), []);
    const left = async () => (await Promise.all(ordered.map(({ compute_id }) => isThere(folderOf(compute_id))))).some(Boolean);
    await waitFor(async () => !(await left()), { what: 'the removal of their folders', everyMs: 200 });
  });
});
