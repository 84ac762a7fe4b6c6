/** The engine of Kubernetes and the objects of packaging/kubernetes against a real control plane; nodes are played. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import type { SliceOrder, SliceReport } from '../../src/controller/engines/engine.ts';
import { accessInCluster } from '../../src/controller/engines/kubernetes/kube-access.ts';
import { KubeClient } from '../../src/controller/engines/kubernetes/kube-client.ts';
import { KubernetesEngine } from '../../src/controller/engines/kubernetes/kubernetes-engine.ts';
import { defaultSettings } from '../../src/schema/settings.ts';
import { noKubernetes, TestKubernetes } from '../support/kubernetes.ts';
import { PlayedNodes } from '../support/played-nodes.ts';
import { waitFor } from '../support/wait-for.ts';
import { WatchedSlices } from '../support/watched-slices.ts';

const skip = (await noKubernetes()) ?? false;
const namespace = 'patchbay';
const overlays = resolve(import.meta.dirname, '../../packaging/kubernetes/overlays');

describe('the engine of Kubernetes', { skip }, async () => {
  if (skip) return;
  const cluster = await TestKubernetes.start();
  const nodes = new PlayedNodes(cluster.admin);
  const engines: KubernetesEngine[] = [];
  const watches: WatchedSlices[] = [];
  after(async () => {
    for (const watched of watches) await watched.end();
    for (const engine of engines) await engine.close();
    await nodes.stop();
    await cluster.stop();
  });
  await cluster.kubectl('apply', '-k', join(overlays, 'namespace'));
  await nodes.add('n1', { cpu: '4', memory: '4Gi', 'ephemeral-storage': '20Gi', 'devices.kubevirt.io/kvm': '10' });
  await nodes.add('n2', { cpu: '4', memory: '4Gi', 'ephemeral-storage': '20Gi' });
  const account = await accountFolder(cluster);

  const makeEngine = (fields: object = {}) => {
    const host = new URL(cluster.origin);
    const env = { KUBERNETES_SERVICE_HOST: host.hostname, KUBERNETES_SERVICE_PORT: host.port };
    const client = new KubeClient(() => accessInCluster(env, account));
    const settings = { ...defaultSettings().Kubernetes, kvm_resource: 'devices.kubevirt.io/kvm', owner_config_map: 'patchbay' };
    const engine = new KubernetesEngine(client, { ...settings, grace: 2, ...fields, command: ['patchbay'] });
    engines.push(engine);
    return engine;
  };
  const makeOrder = (fields: Partial<SliceOrder> = {}, needs: Partial<SliceOrder['needs']> = {}): SliceOrder => ({
    id: crypto.randomUUID(),
    owner: crypto.randomUUID(),
    title: 'a lab, "quoted"',
    needs: { cpus: 1, memory: 900, disk: 100, kvm: false, images: [], ...needs },
    joinUrl: 'http://patchbay:3080',
    token: 'secret-of-this-slice',
    ...fields,
  });
  const watch = (engine: KubernetesEngine, { owner }: SliceOrder) => {
    const watched = new WatchedSlices(engine, owner);
    watches.push(watched);
    return watched;
  };
  const podsOf = async ({ id }: SliceOrder) => {
    const output = await cluster.kubectl('-n', namespace, 'get', 'pods', '-l', `patchbay-slice=${id}`, '-o', 'json');
    return (JSON.parse(output) as { items: { metadata: { name: string } }[] }).items;
  };

  it('places slices with the rights of the packaged service account, and adopts them', async () => {
    const order = makeOrder({}, { kvm: true });
    const [engine, next] = [makeEngine(), makeEngine()];
    const watched = watch(engine, order);
    await engine.place(order);
    assert.equal((await watched.until(order.id, 'running')).host, 'n1', 'the only node with the device');
    await watched.end();
    await next.place({ ...order, token: 'another' });
    const adopted = watch(next, order);
    await adopted.until(order.id, 'running');
    const pods = await podsOf(order);
    assert.equal(pods.length, 1);
    assert.equal(JSON.stringify(pods).split(order.token).length, 2, 'the token is in the environment alone');
    await next.release(order.id);
    await adopted.until(order.id, 'ended');
    assert.deepEqual(await podsOf(order), []);
    await next.place(order);
    await adopted.until(order.id, 'running');
    await next.release(order.id);
    await adopted.until(order.id, 'ended');
  });

  it('says what a slice waits for, in the words of the scheduler', async () => {
    const [engine, order] = [makeEngine(), makeOrder({}, { memory: 900_000 })];
    const watched = watch(engine, order);
    await engine.place(order);
    const waits = (report: SliceReport | undefined) => /nodes are available: .*Insufficient memory/.test(report?.reason ?? '');
    await waitFor(() => waits(watched.slices.get(order.id)), { what: 'the reason' });
    await engine.release(order.id);
    await watched.until(order.id, 'ended');
  });

  it('keeps to the quota of a tenant, and says what it leaves', async () => {
    const engine = makeEngine();
    assert.deepEqual(
      (await engine.offer()).map(({ cpus, memory, count }) => [cpus, memory, count]),
      [[4, 8192, null]],
    );
    const hard = ['--hard=pods=0,requests.cpu=2,requests.memory=1Gi,limits.cpu=9,limits.memory=9Gi'];
    await cluster.kubectl('-n', namespace, 'create', 'quota', 'tenant', ...hard);
    await waitFor(async () => (await engine.offer()).length === 0, { what: 'the quota' });
    assert.ok((await engine.limits()).remarks.includes('Quota tenant leaves no pods: all 0 are used.'));
    await assert.rejects(engine.place(makeOrder()), { message: /exceeded quota: tenant/, isFinal: false });
    await cluster.kubectl('-n', namespace, 'delete', 'quota', 'tenant');
    await assert.rejects(makeEngine({ priority_class: 'none-such' }).place(makeOrder()), {
      message: /PriorityClass/,
      isFinal: true,
    });
  });

  it('calls a slice draining when its pod is evicted', async () => {
    const [engine, order] = [makeEngine({ grace: 30 }), makeOrder()];
    const watched = watch(engine, order);
    await engine.place(order);
    const { host } = await watched.until(order.id, 'running');
    // The node does not end it: the grace is what is watched.
    nodes.silence(host ?? '');
    await cluster.kubectl('cordon', host ?? '');
    await cluster.evict(namespace, (await podsOf(order))[0]?.metadata.name ?? '');
    const draining = await watched.until(order.id, 'draining');
    assert.ok(draining.endsAt && draining.endsAt.getTime() > Date.now());
    // A silent node: whether the slice runs is not known.
    await watched.until(order.id, 'lost');
    await engine.place(order);
    assert.notEqual((await watched.until(order.id, 'running')).host, host);
    await engine.release(order.id);
    await watched.end();
  });

  it('ends with the object that owns its slices', async () => {
    const [engine, order] = [makeEngine(), makeOrder()];
    const watched = watch(engine, order);
    await engine.place(order);
    await watched.until(order.id, 'running');
    await cluster.kubectl('-n', namespace, 'delete', 'configmap', 'patchbay');
    await watched.until(order.id, 'ended');
  });
});

/** Files that a pod of the packaged service account finds in its folder. */
async function accountFolder(cluster: TestKubernetes): Promise<string> {
  const folder = join(cluster.folder, 'account');
  await mkdir(folder);
  const secrets = await waitFor(
    async () => {
      const { items } = await cluster.admin.call<{
        items: { type: string; data: { token: string }; metadata: { annotations?: Record<string, string> } }[];
      }>('GET', `/api/v1/namespaces/${namespace}/secrets`);
      return items.find(({ metadata }) => metadata.annotations?.['kubernetes.io/service-account.name'] === 'patchbay');
    },
    { what: 'the token of the service account', everyMs: 100 },
  );
  await writeFile(join(folder, 'token'), Buffer.from(secrets.data.token, 'base64'));
  await writeFile(join(folder, 'ca.crt'), await cluster.authority());
  await writeFile(join(folder, 'namespace'), namespace);
  return folder;
}
