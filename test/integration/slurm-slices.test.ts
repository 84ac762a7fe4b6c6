/** A lab over hosts that Slurm gives: slices are batch jobs, and their folder is on a file system that all hosts share. */
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { ClusterLab } from '../support/cluster-lab.ts';
import { clusterTests } from '../support/cluster-tests.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { noSlurm, TestSlurm } from '../support/slurm.ts';
import { waitFor } from '../support/wait-for.ts';

const skip = (await noSlurm()) ?? false;
const root = resolve(import.meta.dirname, '../..');

describe('a lab on Slurm', { skip }, async () => {
  if (skip) return;
  await using started = new AsyncDisposableStack();
  const slurm = await TestSlurm.start(Array.from({ length: 3 }, () => ({ cpus: 2, memory: 2000 })));
  started.defer(() => slurm.stop());
  const work = join(slurm.folder, 'work');
  const data = join(work, 'slices');
  await mkdir(data);
  const server = await startServer({
    args: ['--host', slurm.network.address],
    env: slurm.env,
    config: {
      Qemu: { acceleration: 'off' },
      Cluster: { engine: 'slurm', lease_seconds: 5 },
      Slurm: { command: `${process.execPath} ${root}/src/main.ts`, data_folder: data, output_folder: work, grace: 20 },
    },
  });
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
    powerOff: (host: number) => slurm.powerOff(host),
    powerOn: async (host: number) => slurm.powerOn(host),
  };
  const lab = await ClusterLab.make({ server, client, hosts, data }, { cpus: 2, memory: 1500 });
  started.defer(() => lab.close());
  const owned = started.move();
  after(() => owned.disposeAsync());

  clusterTests(lab);

  it('leaves no folder', async () => {
    await waitFor(async () => (await readdir(data)).length === 0, { what: 'the removal of their folders', everyMs: 200 });
  });
});
