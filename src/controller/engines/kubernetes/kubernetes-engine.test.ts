/**
 * Answers that an API server seldom gives, by a stand-in on a Unix socket: real ones cannot be made to do it at will
 * (test/integration/kubernetes-engine has one).
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { Pod } from 'kubernetes-models/v1';
import type { SliceReport } from '../engine.ts';
import { KubeClient } from './kube-client.ts';
import { type KubePod, quantityOf } from './kube-objects.ts';
import { KubernetesEngine } from './kubernetes-engine.ts';
import { podOf, reportOfPod } from './slice-pod.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

const settings = {
  image: 'registry.example/patchbay:1',
  command: ['patchbay'],
  claim: '',
  kvm_resource: 'devices.kubevirt.io/kvm',
  priority_class: '',
  owner_config_map: '',
  grace: 30,
  largest_cpus: 4,
  largest_memory: 8192,
};
const order = {
  id: '00000000-0000-4000-8000-000000000001',
  owner: '00000000-0000-4000-8000-000000000002',
  title: 'lab',
  needs: { cpus: 1.2, memory: 1000, disk: 500, kvm: true, images: [] },
  joinUrl: 'http://10.0.0.1:3080',
  token: 'secret-of-this-slice',
};
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function engineWith(handler: Handler): Promise<KubernetesEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-kube-'));
  const socketPath = join(folder, 'api.sock');
  const server = createServer((request, response) => handler(request, response, new URL(request.url ?? '', 'http://kube')));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  cleanups.push(
    () => rm(folder, { recursive: true, force: true }),
    () => new Promise((resolve) => server.close(resolve)),
  );
  const client = new KubeClient(() => Promise.resolve({ origin: 'http://kube', socketPath, namespace: 'labs' }));
  const engine = new KubernetesEngine(client, settings);
  cleanups.push(() => engine.close());
  return engine;
}

const pod = (version: number, status: object, fields: object = {}) => ({
  kind: 'Pod',
  metadata: {
    name: 'p',
    resourceVersion: String(version),
    labels: { 'patchbay-slice': order.id, 'patchbay-owner': order.owner, 'patchbay-attempt': '1' },
    ...fields,
  },
  spec: { nodeName: 'n1' },
  status,
});
const running = { phase: 'Running', containerStatuses: [{ state: { running: {} } }] };
const listOf = (version: number, ...items: object[]) => JSON.stringify({ items, metadata: { resourceVersion: String(version) } });

/** Watches until `isEnough` of the reports. */
async function watched(engine: KubernetesEngine, isEnough: (log: string[]) => boolean): Promise<string[]> {
  const abort = new AbortController();
  const log: string[] = [];
  const add = (text: string) => {
    log.push(text);
    if (isEnough(log)) abort.abort();
  };
  await engine.watch(
    order.owner,
    {
      onList: (slices) => add(`list ${slices.map(({ state }) => state).join()}`),
      onChange: ({ state }) => add(state),
      onProblem: (problem) => problem !== null && add(`problem ${problem}`),
    },
    abort.signal,
  );
  return log;
}

describe('the watch of pods', () => {
  it('continues from the last bookmark when the connection breaks, and lists again when the version is too old', async () => {
    const versions: string[] = [];
    let lists = 0;
    const engine = await engineWith((_request, response, url) => {
      if (!url.searchParams.has('watch')) {
        lists += 1;
        response.end(lists === 1 ? listOf(5, pod(4, { phase: 'Pending' })) : listOf(90, pod(80, running)));
        return;
      }
      versions.push(url.searchParams.get('resourceVersion') ?? '');
      if (versions.length === 1) {
        response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '42' } } })}\n`);
        setTimeout(() => response.destroy(), 300);
      } else if (versions.length === 2) {
        const error = { kind: 'Status', code: 410, message: 'too old resource version' };
        response.end(`${JSON.stringify({ type: 'ERROR', object: error })}\n`);
      } else response.write(`${JSON.stringify({ type: 'DELETED', object: pod(95, running) })}\n`);
    });
    const log = await watched(engine, (entries) => entries.includes('ended'));
    assert.deepEqual(log, ['list pending', 'list running', 'ended']);
    assert.deepEqual(versions, ['5', '42', '90']);
  });

  it('reads all pages of a list', async () => {
    const engine = await engineWith((_request, response, url) => {
      if (url.searchParams.has('watch')) return void response.flushHeaders();
      const page = url.searchParams.get('continue') ?? '';
      const item = pod(1, running, { name: `p${page}`, labels: { 'patchbay-slice': `s${page}` } });
      const metadata = { resourceVersion: '7', ...(page !== 'b' && { continue: page === '' ? 'a' : 'b' }) };
      response.end(JSON.stringify({ items: [item], metadata }));
    });
    assert.deepEqual(await watched(engine, (entries) => entries.length > 0), ['list running,running,running']);
  });

  it('survives answers that are no answers, and says what is wrong', async () => {
    const answers = ['<html>', '[]', '{"items":7}', 'null'];
    const engine = await engineWith((_request, response, url) => {
      if (url.searchParams.has('watch')) response.end('{"type":"ADDED"}\n');
      else response.end(answers.shift() ?? listOf(1, { metadata: null }, { metadata: { labels: { 'patchbay-slice': 'x' } } }));
    });
    const log = await watched(engine, (entries) => entries.length >= 6);
    assert.match(log[0] ?? '', /no JSON object: <html>/);
    assert.match(log[1] ?? '', /without items/);
    assert.deepEqual(log[4], 'list ');
    assert.match(log[5] ?? '', /no event/);
  });

  it('survives objects whose fields have other types', async () => {
    const answers = ['{"items":[null]}', listOf(1, pod(1, { conditions: 7, containerStatuses: [null] }))];
    const engine = await engineWith((_request, response, url) => {
      if (url.searchParams.has('watch')) response.flushHeaders();
      else response.end(answers.shift() ?? listOf(1, pod(1, running)));
    });
    const log = await watched(engine, (entries) => entries.length >= 3);
    assert.deepEqual(
      log.map((text) => text.split(' ', 1)[0]),
      ['problem', 'problem', 'list'],
    );
  });
});

describe('placing pods', () => {
  it('takes one write for a slice and one for its end, whatever was lost in between', async () => {
    const writes: string[] = [];
    const pods: object[] = [];
    const engine = await engineWith((request, response) => {
      if (request.method === 'GET') return void response.end(listOf(1, ...pods));
      writes.push(`${request.method} ${request.url}`);
      if (request.method === 'POST') pods.push(pod(2, { phase: 'Pending' }, { uid: 'u' }));
      else pods.length = 0;
      response.end('{}');
    });
    await engine.place(order);
    await engine.place(order);
    await engine.release(order.id);
    await engine.release(order.id);
    assert.deepEqual(writes, ['POST /api/v1/namespaces/labs/pods', 'DELETE /api/v1/namespaces/labs/pods/p']);
  });

  it('is refused for good by a policy, and for now by a quota', async () => {
    const messages = ['violates PodSecurity "restricted"', 'pods "p" is forbidden: exceeded quota: q, requested: pods=1'];
    const engine = await engineWith((request, response) => {
      if (request.method === 'GET') return void response.end(listOf(1));
      response.writeHead(403).end(JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: messages.shift() }));
    });
    await assert.rejects(engine.place(order), { message: /violates PodSecurity/, isFinal: true });
    await assert.rejects(engine.place(order), { message: /exceeded quota/, isFinal: false });
  });

  it('has the token in the environment alone, and asks for what its nodes need', () => {
    const made = podOf(order, { settings, attempt: 3, ownerUid: 'u' });
    new Pod(made).validate();
    const container = made.spec?.containers[0];
    const text = JSON.stringify(made);
    assert.equal(text.split(order.token).length, 2);
    assert.deepEqual(container?.env, [
      { name: 'PATCHBAY_JOIN', value: order.token },
      { name: 'HOME', value: '/tmp' },
    ]);
    const fixed = { memory: '1000Mi', 'ephemeral-storage': '756Mi', 'devices.kubevirt.io/kvm': '1' };
    assert.deepEqual(container?.resources, { requests: { cpu: '1200m', ...fixed }, limits: { cpu: '2000m', ...fixed } });
  });
});

describe('the state of a pod', () => {
  const at = Date.parse('2026-11-22T12:00:00Z');
  const stateOf = (status: object, fields: object = {}): [SliceReport['state'], string | null] => {
    const { state, reason } = reportOfPod(pod(1, status, fields) as KubePod, at);
    return [state, reason];
  };

  it('is ended only when nothing of it can run', () => {
    const ended = { containerStatuses: [{ state: { terminated: { exitCode: 1, reason: 'Error' } } }] };
    assert.deepEqual(stateOf({ phase: 'Failed', ...ended }), ['ended', 'It ended with code 1']);
    assert.deepEqual(stateOf({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on memory.' }), [
      'ended',
      'Evicted: The node was low on memory.',
    ]);
    // The control plane ended the pod, as the node is silent: 1.26 and later.
    assert.equal(stateOf({ phase: 'Failed', containerStatuses: [{ state: { running: {} } }] })[0], 'lost');
    assert.equal(stateOf({ ...running, conditions: [{ type: 'Ready', status: 'False' }] })[0], 'lost');
    assert.equal(stateOf(running, { deletionTimestamp: '2026-11-22T11:59:00Z' })[0], 'lost');
    assert.equal(stateOf(running, { deletionTimestamp: '2026-11-22T12:00:20Z' })[0], 'draining');
    assert.equal(stateOf({ phase: 'Unknown' })[0], 'lost');
  });

  it('says what it waits for', () => {
    const unscheduled = { type: 'PodScheduled', status: 'False', message: '0/3 nodes are available: 3 Insufficient memory.' };
    assert.deepEqual(stateOf({ phase: 'Pending', conditions: [unscheduled] }), ['pending', unscheduled.message]);
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    assert.deepEqual(stateOf({ phase: 'Pending', containerStatuses: [{ state: { waiting } }] }), [
      'pending',
      'ImagePullBackOff: no such image',
    ]);
  });

  it('quantities are read with their suffixes', () => {
    assert.deepEqual(['500m', '4', '2Gi', '1e3', '3k', 'x', undefined].map(quantityOf), [
      0.5,
      4,
      2 * 2 ** 30,
      1000,
      3000,
      undefined,
      undefined,
    ]);
  });
});
