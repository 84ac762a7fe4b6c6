/** A lab over hosts that Kubernetes gives: a real control plane, and on each host a kubelet and a containerd that run slices as pods. */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ClusterLab, serverOf } from '../support/cluster-lab.ts';
import { clusterTests } from '../support/cluster-tests.ts';
import { KubeletHosts, noPods, podImage, processesInPods, startCluster } from '../support/kubelet-hosts.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { findSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';

const skip = (await noPods()) ?? false;
const names = ['n1', 'n2', 'n3'];
/** Rights of the folders on the claim: the group of pods may write, and folders that are made there have it, too. */
const slices = { group: 1000, mode: 0o2770 };

describe('a lab on Kubernetes', { skip }, async () => {
  if (skip) return;
  await using started = new AsyncDisposableStack();
  const { network, cluster } = await startCluster(started, names);
  const claim = join(cluster.folder, 'claim');
  const data = join(claim, 'slices');
  // Kubelets make the folders of slices with the rights of the claim's own, as docs/cluster.md says.
  await mkdir(data, { recursive: true });
  for (const folder of [claim, data]) {
    await chown(folder, 0, slices.group);
    await chmod(folder, slices.mode);
  }
  await cluster.makeClaim('disks', claim);
  const kubelets = await KubeletHosts.start({ network, folder: cluster.folder, names });
  started.defer(() => kubelets.stop());
  const server = await startServer({
    args: ['--host', network.address],
    config: {
      Qemu: { acceleration: 'off' },
      Cluster: { engine: 'kubernetes', lease_seconds: 5 },
      Kubernetes: { socket: await cluster.proxy(), image: podImage, claim: 'disks', grace: 60 },
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
      kubelet: async () => kubelets.kill('kubelet'),
      containerd: async () => kubelets.kill('containerd'),
    },
    placed: () => cluster.podCount('patchbay-slice'),
    // Drains like `kubectl drain`.
    drain: async (host: number, isDrained: boolean) => {
      const name = names[host] ?? '';
      await cluster.kubectl(isDrained ? 'cordon' : 'uncordon', name);
      const pods = isDrained ? await cluster.podsOn(name, 'patchbay-slice') : [];
      for (const pod of pods) await cluster.evict('default', pod);
    },
    powerOff: (host: number) => kubelets.powerOff(host),
    powerOn: async (host: number) => kubelets.powerOn(host),
  };
  const processesOf = async (folder: string) => processesInPods(folder, '/data');
  const outputOf = async (slice: string) => {
    const ask = (...args: string[]) => cluster.kubectl(...args, '--selector', `patchbay-slice=${slice}`).catch(String);
    return `${(await ask('describe', 'pods')).slice(-1500)}${await ask('logs', '--tail=30')}`;
  };
  const lab = await ClusterLab.make({ server, client, hosts, data, processesOf, outputOf }, { cpus: 2, memory: 1500 });
  started.defer(() => lab.close());
  const owned = started.move();
  after(() => owned.disposeAsync());

  clusterTests(lab, () => {
    it('is complete again after a slice was ended for using more memory than it ordered', async () => {
      const [slice = ''] = lab.slices;
      const selector = ['--selector', `patchbay-slice=${slice}`];
      // The kernel ends the server rather than the program that takes all.
      for (const { pid, commandLine } of await lab.processes(slice))
        if (serverOf.test(commandLine)) await writeFile(`/proc/${pid}/oom_score_adj`, '1000');
      let isOver = false;
      const fillMemory = async () => {
        const pod = await cluster.kubectl('get', 'pods', ...selector, '-o', 'jsonpath={.items[0].metadata.name}');
        await cluster.kubectl('exec', pod, '--', 'tail', '/dev/zero');
      };
      // Refused while a kubelet or containerd that was killed starts again, and while there is no pod.
      const hog = async () => {
        while (!isOver) await fillMemory().catch(() => undefined);
      };
      const hogs = hog();
      const hasEnded = async () => /more memory/.test((await findSlice(client, slice))?.reason ?? '');
      await waitFor(hasEnded, { what: 'the end of the slice', everyMs: 50, limitMs: 120_000 }).finally(() => {
        isOver = true;
      });
      await hogs;
      await lab.settle('the lab with enough memory');
    });
  });
});
