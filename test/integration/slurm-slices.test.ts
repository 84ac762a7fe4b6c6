/** A lab over hosts that Slurm gives: slices are batch jobs, and their folder is on a file system that all hosts share. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { ProjectPlacement } from '../../src/controller/placement/placement-request.ts';
import type { SliceObject } from '../../src/schema/slice.ts';
import { ClusterLab } from '../support/cluster-lab.ts';
import { clusterTests } from '../support/cluster-tests.ts';
import { RawClient } from '../support/raw-http.ts';
import { serverProgram, startServer } from '../support/server.ts';
import { untilSlice } from '../support/slices.ts';
import { noSlurm, TestSlurm } from '../support/slurm.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const skip = (await noSlurm()) ?? false;

describe('a lab on Slurm', { skip }, async () => {
  if (skip) return;
  await using started = new AsyncDisposableStack();
  const slurm = await TestSlurm.start(Array.from({ length: 3 }, () => ({ cpus: 2, memory: 2000 })));
  started.defer(() => slurm.stop());
  const work = join(slurm.folder, 'work');
  const data = join(work, 'slices');
  await mkdir(data);
  /** `more`: in the section of Slurm. */
  const startController = (more: object) =>
    startServer({
      args: ['--host', slurm.network.address],
      env: slurm.env,
      config: {
        Qemu: { acceleration: 'off' },
        Cluster: { engine: 'slurm', lease_seconds: 5 },
        Slurm: { command: `${process.execPath} ${serverProgram}`, output_folder: work, grace: 20, ...more },
      },
    });
  const server = await startController({ data_folder: data });
  started.defer(() => server.stop());
  const client = new RawClient(server.url);
  started.defer(() => client.close());
  const hosts = {
    network: slurm.network,
    names: ['n1', 'n2', 'n3'],
    daemons: {
      slurmctld: () => slurm.killDaemon('slurmctld'),
      slurmd: async () => {
        for (const host of [0, 1, 2]) await slurm.killDaemon(host);
      },
    },
    placed: async () => {
      const jobs = await slurm.command('squeue', '--noheader', '--states=RUNNING,PENDING,COMPLETING');
      return jobs.split('\n').filter((line) => line.trim() !== '').length;
    },
    drain: async (host: number, isDrained: boolean) => {
      const state = isDrained ? ['state=drain', 'reason=new disks'] : ['state=resume'];
      await slurm.command('scontrol', 'update', `nodename=n${host + 1}`, ...state);
    },
    powerOff: (host: number) => slurm.powerOff(host),
    powerOn: async (host: number) => slurm.powerOn(host),
  };
  const outputOf = async (slice: string) => {
    const output = await readFile(join(work, `patchbay-${slice}.out`), 'utf8').catch((error: Error) => error.message);
    // A job that did not begin has no output, and Slurm knows why.
    const reports = [
      ['squeue', '--Format=JobID,State,Reason,NodeList'],
      ['sinfo', '-N', '-o', '%N %t %E'],
      ['scontrol', 'show', 'jobs'],
    ];
    const words = reports.map(([program = '', ...args]) => slurm.command(program, ...args).catch((error: Error) => error.message));
    return [output, ...(await Promise.all(words))].join('\n');
  };
  const lab = await ClusterLab.make({ server, client, hosts, data, outputOf }, { cpus: 2, memory: 1500 });
  started.defer(() => lab.close());
  const owned = started.move();
  after(() => owned.disposeAsync());

  clusterTests(lab);

  it('leaves no folder', async () => {
    await waitFor(async () => (await readdir(data)).length === 0, { what: 'the removal of their folders', everyMs: 200 });
  });

  it('gives nodes the last copies of their files where slices end with their disks', async () => {
    await using own = new AsyncDisposableStack();
    const controller = await startController({});
    own.defer(() => controller.stop());
    const user = new RawClient(controller.url);
    own.defer(() => user.close());
    const { compute_id } = await user.post<SliceObject>('/v2/slices', { cpus: 1, memory: 1000 });
    const before = (await untilSlice(user, compute_id, 'joined')).epoch;
    const [open, closed] = [await createProject(user, { auto_close: false }), await createProject(user, { auto_close: false })];
    const files = new Map<ProjectHandle, string>();
    const placed = async ({ path }: ProjectHandle) => (await user.get<ProjectPlacement>(`${path}/placement`)).nodes[0];
    for (const project of [open, closed]) {
      const node = `${project.path}/nodes/${(await createNode(user, project, 'vpcs', { compute_id })).node_id}`;
      files.set(project, `${node}/files/kept.txt`);
      assert.equal((await user.send(`POST ${node}/files/kept.txt`, { raw: project.id })).status, 201);
      const since = Date.now();
      for (const verb of ['start', 'stop']) await user.post(`${node}/${verb}`, {}, 200);
      const isCopied = async () => Date.parse((await placed(project))?.copied_at ?? '') >= since;
      await waitFor(isCopied, { what: 'a copy of its files', everyMs: 100, limitMs: 120_000 });
    }
    const hasFile = async (project: ProjectHandle) => (await user.send(`GET ${files.get(project)}`)).text() === project.id;
    await user.post(`${closed.path}/close`, {}, 204);
    await user.post(`${open.path}/nodes/start`, {}, 204);
    // The slice's job ends, and its folder with it: the slice is placed again. SIGTERM goes to all processes of the job.
    await slurm.command('scancel', '--user=root');
    const isBack = async () => (await untilSlice(user, compute_id, 'joined')).epoch > before;
    await waitFor(isBack, { what: 'the slice with a new folder', everyMs: 100, limitMs: 120_000 });
    await waitFor(() => hasFile(open), { what: 'the file of a node of an open project' });
    const isStarted = async () => (await user.get<NodeBody[]>(`${open.path}/nodes`)).every(({ status }) => status === 'started');
    await waitFor(isStarted, { what: 'a node that ran', everyMs: 100, limitMs: 120_000 });
    await user.post(`${closed.path}/open`, {}, 201);
    assert.ok(await hasFile(closed), 'the file of a node of a closed project');
    // Noted once the files are there.
    for (const project of [open, closed])
      await waitFor(async () => (await placed(project))?.started_from, { what: 'the time of the copy', everyMs: 100 }).catch(
        async (error: Error) => {
          throw new Error(`${JSON.stringify(await placed(project))}\n${controller.log().slice(-3000)}`, { cause: error });
        },
      );
    await user.delete(`/v2/slices/${compute_id}?force=true`);
    await waitFor(async () => (await hosts.placed()) === 0, { what: 'the end of the slice', everyMs: 200 });
  });
});
