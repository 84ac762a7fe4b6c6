/**
 * A lab over hosts that Kubernetes gives: API server, scheduler and controller manager are real, kubelets are played, and pods are processes of
 * network namespaces.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, describe } from 'node:test';
import { ClusterLab } from '../support/cluster-lab.ts';
import { clusterTests } from '../support/cluster-tests.ts';
import { HostNetwork } from '../support/host-network.ts';
import { noKubernetes, TestKubernetes } from '../support/kubernetes.ts';
import { noNamespaces } from '../support/network-namespace.ts';
import { PodProcesses } from '../support/pod-processes.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';

const skip = noNamespaces() ?? (await noKubernetes()) ?? false;
const root = resolve(import.meta.dirname, '../..');
const names = ['n1', 'n2', 'n3'];

describe('a lab on Kubernetes', { skip }, async () => {
  if (skip) return;
  await using started = new AsyncDisposableStack();
  const network = await HostNetwork.make(names.length);
  started.defer(() => network.remove());
  const cluster = await TestKubernetes.start();
  started.defer(() => cluster.stop());
  const claim = join(cluster.folder, 'claim');
  const data = join(claim, 'slices');
  await mkdir(data, { recursive: true });
  const runners = network.hosts.map((host) => new PodProcesses(host, claim));
  started.defer(() => {
    for (const runner of runners) runner.killAll();
  });
  await cluster.makeClaim('disks');
  for (const [index, name] of names.entries()) {
    const runner = runners[index];
    if (runner) await cluster.nodes.addReal(name, { cpu: '3', memory: '2Gi', 'ephemeral-storage': '20Gi' }, runner);
  }
  const socket = await cluster.proxy();
  const command = `${process.execPath} ${root}/src/main.ts`;
  const server = await startServer({
    args: ['--host', network.address],
    config: {
      Qemu: { acceleration: 'off' },
      Cluster: { engine: 'kubernetes', lease_seconds: 5 },
      Kubernetes: { socket, command, claim: 'disks', grace: 60 },
    },
  });
  started.defer(() => server.stop());
  const client = new RawClient(server.url);
  started.defer(() => client.close());
  const hosts = {
    network,
    names,
    daemons: {
      'API server': () => cluster.kill('kube-apiserver'),
      'scheduler and controller manager': async () => {
        await cluster.kill('kube-scheduler');
        await cluster.kill('kube-controller-manager');
      },
    },
    placed: () => cluster.podCount('patchbay-slice'),
    // A kubelet without a cable does nothing that the control plane could see.
    onCut: (host: number, isCut: boolean) =>
      isCut ? cluster.nodes.silence(names[host] ?? '') : cluster.nodes.wake(names[host] ?? ''),
    // As `kubectl drain` does it.
    drain: async (host: number, isDrained: boolean) => {
      const name = names[host] ?? '';
      await cluster.kubectl(isDrained ? 'cordon' : 'uncordon', name);
      const pods = isDrained ? await cluster.podsOn(name, 'patchbay-slice') : [];
      for (const pod of pods) await cluster.evict('default', pod);
    },
    powerOff: async (host: number) => {
      cluster.nodes.silence(names[host] ?? '');
      runners[host]?.killAll();
    },
    powerOn: async (host: number) => cluster.nodes.wake(names[host] ?? ''),
  };
  const lab = await ClusterLab.make({ server, client, hosts, data }, { cpus: 2, memory: 1500 });
  started.defer(() => lab.close());
  const owned = started.move();
  after(() => owned.disposeAsync());

  clusterTests(lab);
});
