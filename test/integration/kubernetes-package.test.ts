/**
 * `packaging/kubernetes` as an administrator installs it, by `kubectl apply -k`: the controller in its StatefulSet, its slices, a lab, and a
 * tenant's quota, on real kubelets. Tests have no kube-proxy and no cluster DNS: rules of iptables and dnsmasq take their place.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { SliceObject } from '../../src/schema/slice.ts';
import { Daemons } from '../support/daemons.ts';
import { KubeletHosts, noPods, podImage, startCluster } from '../support/kubelet-hosts.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { RawClient } from '../support/raw-http.ts';
import { findSlice, untilSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';

const run = promisify(execFile);
const skip = (await noPods()) ?? (await missingPrograms(['iptables', 'iptables'], ['dnsmasq', 'dnsmasq-base'])) ?? false;
const names = ['n1', 'n2', 'n3'];
const overlay = 'shared-disks';
const packaged = resolve(import.meta.dirname, '../../packaging/kubernetes');
const [readyMs, limitMs] = [120_000, 300_000];

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly status: { readonly podIP?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

describe('the packaged controller', { skip }, async () => {
  if (skip) return;
  await using started = new AsyncDisposableStack();
  const { network, cluster } = await startCluster(started, names);
  const daemons = new Daemons();
  started.defer(() => daemons.stopAll());
  const kubelets = await KubeletHosts.start({ network, folder: cluster.folder, names, dns: network.address });
  started.defer(() => kubelets.stop());

  const volumes = { 'data-patchbay-0': 'ReadWriteOnce', 'patchbay-slices': 'ReadWriteMany' };
  for (const [claim, mode] of Object.entries(volumes)) {
    const path = join(cluster.folder, claim);
    // Kubelets make the folders of slices with the rights of the claim's own.
    for (const folder of [path, join(path, 'slices')]) {
      await mkdir(folder);
      await chown(folder, 0, 1000);
      await chmod(folder, 0o2770);
    }
    const claimRef = { namespace: 'default', name: claim };
    await cluster.admin.call('POST', '/api/v1/persistentvolumes', {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: claim } },
      spec: { capacity: { storage: '100Gi' }, accessModes: [mode], hostPath: { path }, claimRef },
    });
  }
  await cluster.admin.call('POST', 'resourcequotas', {
    ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'tenant' } },
    spec: { hard: { pods: '3', 'requests.memory': '4Gi', 'limits.memory': '6Gi' } },
  });
  // Pods that come before are not counted.
  const counted = () => cluster.kubectl('get', 'resourcequota', 'tenant', '-o', 'jsonpath={.status.hard.pods}');
  await waitFor(async () => (await counted()) === '3', { what: 'a quota that counts', everyMs: 200 });
  const install = join(cluster.folder, 'install');
  await cp(packaged, install, { recursive: true });
  const settings = join(install, 'overlays', overlay, 'settings.yaml');
  await writeFile(settings, (await readFile(settings, 'utf8')).replace('image = patchbay:latest', `image = ${podImage}`));
  await mkdir(join(install, 'overlays/own'));
  const [newName, newTag] = podImage.split(/:(?=[^:]*$)/);
  const own = { resources: [`../${overlay}`], images: [{ name: 'patchbay', newName, newTag }] };
  await writeFile(join(install, 'overlays/own/kustomization.yaml'), JSON.stringify(own));
  await cluster.kubectl('apply', '-k', join(install, 'overlays/own'));
  const service = (await cluster.kubectl('get', 'service', 'patchbay', '-o', 'jsonpath={.spec.clusterIP}')).trim();
  const dns = ['--no-daemon', '--no-resolv', '--no-hosts', '--bind-interfaces', `--listen-address=${network.address}`];
  daemons.start('dnsmasq', ['dnsmasq', ...dns, `--address=/patchbay.default.svc.cluster.local/${service}`]);

  /** Does the work of kube-proxy: the addresses of both services lead to the API server and to the controller's pod. */
  const proxy = async (pod: string | undefined) => {
    const { host: api } = new URL(cluster.origin);
    const services = [['10.96.0.1', '443', api], ...(pod ? ['3080', '3081'].map((port) => [service, port, `${pod}:${port}`]) : [])];
    for (const { launcher } of network.hosts) {
      const iptables = async (...args: string[]) => {
        const [program = '', ...line] = [...launcher, 'iptables', '--wait', '-t', 'nat', ...args];
        await run(program, line);
      };
      await iptables('-F', 'PREROUTING');
      for (const [address = '', port = '', to = ''] of services)
        await iptables('-A', 'PREROUTING', '-d', address, '-p', 'tcp', '--dport', port, '-j', 'DNAT', '--to-destination', to);
    }
  };
  await proxy(undefined);
  /** Another one than `before`, once it is ready. */
  const untilController = async (before = ''): Promise<Pod> => {
    const ready = async () => {
      const pod = JSON.parse(await cluster.kubectl('get', 'pod', 'patchbay-0', '-o', 'json')) as Pod;
      const isReady = pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
      return isReady && pod.metadata.uid !== before ? pod : undefined;
    };
    const found = await waitFor(ready, { what: 'the controller', limitMs: readyMs, everyMs: 500 }).catch(async (error: Error) => {
      const what = await cluster.kubectl('describe', 'pods').catch(String);
      throw new Error(`${error.message}\n${what.slice(-3000)}`, { cause: error });
    });
    await proxy(found.status.podIP);
    return found;
  };
  let controller = await untilController();
  const connect = () => new RawClient(`http://${controller.status.podIP}:3080`);
  let client = connect();
  started.defer(() => client.close());
  const owned = started.move();
  after(() => owned.disposeAsync());
  const slices: string[] = [];

  it('places slices as its quota lets it, and says what that lacks', { timeout: limitMs }, async () => {
    const order = { cpus: 0.5, memory: 1024 };
    for (let count = 0; count < 2; count++) slices.push((await client.post<SliceObject>('/v2/slices', order)).compute_id);
    for (const slice of slices) await untilSlice(client, slice, 'joined');
    const { compute_id, state, reason } = await client.post<SliceObject>('/v2/slices', order);
    assert.equal(state, 'pending');
    assert.match(reason ?? '', /exceeded quota: tenant/);
    await client.delete(`/v2/slices/${compute_id}`);
  });

  it('runs a lab over its slices, which outlives the controller', { timeout: limitMs }, async () => {
    const project = await createProject(client, { auto_close: false });
    const pcs: NodeBody[] = [];
    for (const [index, compute_id] of slices.entries()) {
      const startup_script = `ip 10.0.0.${index + 1}/24\n`;
      pcs.push(await createNode(client, project, 'vpcs', { compute_id, properties: { startup_script } }));
    }
    await client.post(`${project.path}/links`, { nodes: pcs.map((pc) => end(pc)) });
    await client.post(`${project.path}/nodes/start`, {}, 204);
    const ping = async () => {
      const socket = await openWebSocket(`${client.base.origin}${project.path}/nodes/${pcs[0]?.node_id}/console/ws`);
      try {
        socket.send(Buffer.from('ping 10.0.0.2 -c 3\r'));
        const isAnswered = () => /time=[\d.]+ ms/.test(socket.messages.map(String).join(''));
        return await waitFor(isAnswered, { what: 'an answer', limitMs: 8_000 });
      } finally {
        socket.close();
      }
    };
    await waitFor(ping, { what: 'a ping from slice to slice' });
    const podNames = () => cluster.kubectl('get', 'pods', '--selector', 'patchbay-slice', '-o', 'name');
    const before = await podNames();
    await cluster.kubectl('delete', 'pod', 'patchbay-0', '--wait=false');
    client.close();
    controller = await untilController(controller.metadata.uid);
    client = connect();
    for (const slice of slices) await untilSlice(client, slice, 'joined');
    await waitFor(ping, { what: 'a ping after the controller was replaced' });
    assert.equal(await podNames(), before, 'the pods of its slices ran on');
  });

  it('leaves no pod of a slice that is deleted', { timeout: limitMs }, async () => {
    for (const slice of slices) await client.delete(`/v2/slices/${slice}?force=true`);
    await waitFor(async () => (await cluster.podCount('patchbay-slice')) === 0, {
      what: 'the end of all slices',
      limitMs: readyMs,
    });
    assert.equal(await findSlice(client, slices[0] ?? ''), undefined);
  });
});
