/** Nodes without machines, for tests of what the engine does with pods: they report their health, and run and end pods on paper. */
import type { KubeClient } from '../../src/controller/engines/kubernetes/kube-client.ts';

interface PlayedPod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly name: string; readonly image: string }[] };
  readonly status: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A silent one reports nothing and ends no pod. */
export class PlayedNodes {
  readonly #admin: KubeClient;
  readonly #awake = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(admin: KubeClient) {
    this.#admin = admin;
  }

  async add(name: string, allocatable: Readonly<Record<string, string>>): Promise<void> {
    await this.#admin.call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: {
        allocatable: { pods: '110', ...allocatable },
        capacity: { pods: '110', ...allocatable },
        conditions: [readyCondition()],
      },
    });
    this.#awake.add(name);
    if (this.#timers.length > 0) return;
    const play = () => {
      this.#turn = this.#turn.then(() => this.#play().catch(() => undefined));
    };
    const beat = () => {
      for (const node of this.#awake) void Promise.all([this.#beat(node), this.#reportReady(node)]).catch(() => undefined);
    };
    beat();
    this.#timers.push(setInterval(play, 150), setInterval(beat, 1000));
  }

  silence(name: string): void {
    this.#awake.delete(name);
  }

  wake(name: string): void {
    this.#awake.add(name);
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#turn;
  }

  async #beat(node: string): Promise<void> {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: node, leaseDurationSeconds: 40, renewTime };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: node }, spec };
    const known = await this.#admin.call('GET', `${path}/${node}`).catch(() => undefined);
    if (known) await this.#admin.call('PUT', `${path}/${node}`, { ...known, spec });
    else await this.#admin.call('POST', path, lease);
  }

  /** A node that was silent, as it was cut off or the machine is busy, is not ready again by its lease alone. */
  async #reportReady(name: string): Promise<void> {
    const path = `/api/v1/nodes/${name}`;
    const node = await this.#admin.call<{ readonly status: PlayedPod['status'] }>('GET', path);
    if (node.status.conditions?.some(isReady)) return;
    await this.#admin.call('PUT', `${path}/status`, { ...node, status: { ...node.status, conditions: [readyCondition()] } });
  }

  async #play(): Promise<void> {
    const { items } = await this.#admin.call<{ items: PlayedPod[] }>('GET', '/api/v1/pods');
    for (const pod of items) if (this.#awake.has(pod.spec.nodeName ?? '')) await this.#playPod(pod).catch(() => undefined);
  }

  async #playPod({ metadata, spec, status }: PlayedPod): Promise<void> {
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    if (metadata.deletionTimestamp) await this.#admin.call('DELETE', path, { gracePeriodSeconds: 0 });
    else if (status.phase === 'Pending' || (status.phase === 'Running' && !status.conditions?.some(isReady)))
      await this.#reportRunning(path, spec);
  }

  async #reportRunning(path: string, { containers }: PlayedPod['spec']): Promise<void> {
    const state = { running: { startedAt: new Date().toISOString() } };
    const containerStatuses = containers.map(({ name, image }) => {
      return { name, image, imageID: image, ready: true, restartCount: 0, state };
    });
    const pod = await this.#admin.call<Record<string, unknown>>('GET', path);
    const running = { phase: 'Running', podIP: '10.244.0.9', containerStatuses, conditions: [readyCondition()] };
    await this.#admin.call('PUT', `${path}/status`, { ...pod, status: { ...(pod.status as object), ...running } });
  }
}

function isReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status === 'True';
}

function readyCondition(): object {
  const now = new Date().toISOString();
  return { type: 'Ready', status: 'True', reason: 'Played', lastHeartbeatTime: now, lastTransitionTime: now };
}
