/**
 * A real control plane of Kubernetes for tests: etcd, API server, scheduler and controller manager on loopback, with ports and folders of
 * their own. Nodes are played by this process: it reports their health, and runs and ends pods that the scheduler gave them, on paper.
 *
 * The programs are found in PATH, or in the folder that PATCHBAY_TEST_KUBERNETES names (any version from 1.20 on).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KubeClient } from '../../src/controller/engines/kubernetes/kube-client.ts';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { Daemons } from './daemons.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const programs = ['kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;

/** Where the programs are; the reason where they are not. */
async function findPrograms(): Promise<Readonly<Record<string, string>> | string> {
  const folder = process.env.PATCHBAY_TEST_KUBERNETES;
  const found: Record<string, string> = {};
  for (const name of [...programs, 'etcd', 'kubectl']) {
    const path = folder && existsSync(join(folder, name)) ? join(folder, name) : await findProgram(name);
    if (!path) return `no ${name} in PATH, nor in the folder that PATCHBAY_TEST_KUBERNETES names`;
    found[name] = path;
  }
  return found;
}

/** Why Kubernetes cannot run here; undefined where it can. */
export async function noKubernetes(): Promise<string | undefined> {
  const found = await findPrograms();
  return typeof found === 'string' ? found : undefined;
}

export class TestKubernetes {
  readonly folder: string;
  readonly origin: string;
  readonly nodes: PlayedNodes;
  readonly kill: ControlPlane['kill'];
  readonly #daemons: Daemons;
  readonly #kubectl: string;
  readonly #admin: KubeClient;

  private constructor(parts: { folder: string; origin: string; daemons: Daemons; kubectl: string; kill: ControlPlane['kill'] }) {
    this.kill = parts.kill;
    this.folder = parts.folder;
    this.origin = parts.origin;
    this.#daemons = parts.daemons;
    this.#kubectl = parts.kubectl;
    this.#admin = this.client('admin', 'default');
    this.nodes = new PlayedNodes(this.#admin);
  }

  static async start(): Promise<TestKubernetes> {
    const found = await findPrograms();
    if (typeof found === 'string') throw new Error(found);
    await using started = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'pb-kube-'));
    started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const daemons = new Daemons();
    started.defer(() => daemons.stopAll());
    const { origin, kill } = await startControlPlane(found, folder, daemons);
    const kubernetes = new TestKubernetes({ folder, origin, daemons, kubectl: found.kubectl ?? '', kill });
    started.defer(() => kubernetes.#admin.close());
    const account = () => kubernetes.#admin.call('GET', 'serviceaccounts/default');
    await waitFor(() => account().then(() => daemons.check() === undefined), { what: 'the first service account', everyMs: 100 });
    started.move();
    return kubernetes;
  }

  /** Certificates of the API server. */
  authority(): Promise<string> {
    return readFile(join(this.folder, 'certs/apiserver.crt'), 'utf8');
  }

  client(user: 'admin', namespace: string): KubeClient {
    const tokenFile = join(this.folder, `${user}.token`);
    return new KubeClient(async () => ({ origin: this.origin, namespace, tokenFile, authority: await this.authority() }));
  }

  get admin(): KubeClient {
    return this.#admin;
  }

  async kubectl(...args: string[]): Promise<string> {
    return (await run(this.#kubectl, ['--kubeconfig', join(this.folder, 'admin.kubeconfig'), ...args], { timeout: 60_000 })).stdout;
  }

  /** A claim of all nodes, bound; what is on it is the matter of its pods. */
  async makeClaim(name: string): Promise<void> {
    const size = { storage: '1Gi' };
    const both = { accessModes: ['ReadWriteMany'], storageClassName: 'none' };
    const claimRef = { namespace: 'default', name };
    await this.#admin.call('POST', '/api/v1/persistentvolumes', {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
      spec: { ...both, capacity: size, claimRef, hostPath: { path: '/' } },
    });
    await this.#admin.call('POST', 'persistentvolumeclaims', {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name } },
      spec: { ...both, volumeName: name, resources: { requests: size } },
    });
  }

  /** Pods with this label that have not ended; one of a silent node that is to end stays until that node answers. */
  async podCount(label: string): Promise<number> {
    const { items } = await this.#admin.list<PlayedPod>('pods', label);
    const isOn = ({ metadata, status }: PlayedPod) => !metadata.deletionTimestamp && /^(Running|Pending)$/.test(status.phase ?? '');
    return items.filter(isOn).length;
  }

  /** Names of the pods with this label on a node. */
  async podsOn(node: string, label: string): Promise<string[]> {
    const { items } = await this.#admin.list<PlayedPod>('pods', label);
    return items.flatMap(({ metadata, spec }) => (spec.nodeName === node ? metadata.name : []));
  }

  /** The socket of `kubectl proxy`, by which a server outside of the cluster reaches the API server as its administrator. */
  async proxy(): Promise<string> {
    const socket = join(this.folder, 'proxy.sock');
    const line = [this.#kubectl, '--kubeconfig', join(this.folder, 'admin.kubeconfig'), 'proxy', `--unix-socket=${socket}`];
    this.#daemons.start('kubectl proxy', line);
    await waitFor(() => existsSync(socket), { what: 'the socket of kubectl proxy' });
    return socket;
  }

  /** As `kubectl drain` does for each pod of a node. Versions before 1.22 have the older one only. */
  async evict(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    const eviction = (apiVersion: string) =>
      this.#admin.call('POST', path, { apiVersion, kind: 'Eviction', metadata: { name, namespace } });
    await eviction('policy/v1').catch(() => eviction('policy/v1beta1'));
  }

  async stop(): Promise<void> {
    await this.nodes.stop();
    await this.#admin.close();
    await this.#daemons.stopAll();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface ControlPlane {
  readonly origin: string;
  /** SIGKILL to the API server, or to another program; it starts again. */
  readonly kill: (program: string) => Promise<void>;
}

/** Resolves when it is ready. */
async function startControlPlane(found: Readonly<Record<string, string>>, folder: string, daemons: Daemons): Promise<ControlPlane> {
  const at = (name: string) => join(folder, name);
  const [api, etcd, peer] = await freePorts(3);
  const origin = `https://127.0.0.1:${api}`;
  await mkdir(at('certs'));
  await run('openssl', ['genrsa', '-out', at('sa.key'), '2048']);
  await run('openssl', ['rsa', '-in', at('sa.key'), '-pubout', '-out', at('sa.pub')]);
  const users = { admin: 'admin,1,system:masters', kcm: 'system:kube-controller-manager,2', sch: 'system:kube-scheduler,3' };
  await writeFile(
    at('tokens.csv'),
    Object.entries(users)
      .map(([name, user]) => `${name}-token,${user}\n`)
      .join(''),
  );
  for (const name of Object.keys(users)) {
    await writeFile(at(`${name}.token`), `${name}-token\n`);
    await writeFile(at(`${name}.kubeconfig`), kubeconfigOf(origin, `${name}-token`));
  }
  const [client, other] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
  const lines = new Map<string, readonly string[]>();
  const start = (name: string, line: readonly string[]) => {
    lines.set(name, line);
    daemons.start(name, line);
  };
  start('etcd', [
    ...[found.etcd ?? '', '--data-dir', at('etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', other],
    ...['--initial-advertise-peer-urls', other, '--initial-cluster', `default=${other}`],
  ]);
  start('kube-apiserver', [
    ...[found['kube-apiserver'] ?? '', `--etcd-servers=${client}`, '--bind-address=127.0.0.1', '--advertise-address=127.0.0.1'],
    ...[`--secure-port=${api}`, `--cert-dir=${at('certs')}`, '--service-cluster-ip-range=10.96.0.0/16'],
    ...[`--token-auth-file=${at('tokens.csv')}`, '--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.test'],
    ...[`--service-account-signing-key-file=${at('sa.key')}`, `--service-account-key-file=${at('sa.pub')}`],
  ]);
  const kubectl = ['--kubeconfig', at('admin.kubeconfig'), 'get', '--raw', '/readyz'];
  const ready = async () => daemons.check() === undefined && (await run(found.kubectl ?? '', kubectl)).stdout === 'ok';
  await waitFor(ready, { what: 'a ready API server', everyMs: 200 });
  start('kube-scheduler', [
    found['kube-scheduler'] ?? '',
    '--kubeconfig',
    at('sch.kubeconfig'),
    '--leader-elect=false',
    '--secure-port=0',
  ]);
  start('kube-controller-manager', [
    ...[found['kube-controller-manager'] ?? '', '--kubeconfig', at('kcm.kubeconfig'), '--leader-elect=false', '--secure-port=0'],
    ...[`--service-account-private-key-file=${at('sa.key')}`, '--use-service-account-credentials=true'],
    ...['--node-monitor-grace-period=6s', '--node-monitor-period=1s'],
    '--controllers=namespace,serviceaccount,serviceaccount-token,nodelifecycle,garbagecollector,podgc,resourcequota,statefulset,persistentvolume-binder',
  ]);
  const kill = async (program: string) => {
    await daemons.stop(program, 'SIGKILL');
    daemons.start(program, lines.get(program) ?? []);
  };
  return { origin, kill };
}

function kubeconfigOf(server: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

export interface PlayedPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly command?: readonly string[];
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
      readonly volumeMounts?: readonly { readonly mountPath: string; readonly subPath?: string }[];
    }[];
  };
  readonly status: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Runs the pods of a node. */
export interface PodRunner {
  start(pod: PlayedPod): void;
  isRunning(uid: string): boolean;
  /** Asks it to end, after the grace for good. True: nothing of it runs any more. */
  end(uid: string, graceSeconds: number): boolean;
  /** Pods that the API server does not have any more end at once. */
  keepOnly(uids: readonly string[]): void;
}

/** Nodes without machines. A silent one reports nothing and ends no pod. */
export class PlayedNodes {
  readonly #admin: KubeClient;
  readonly #awake = new Set<string>();
  readonly #runners = new Map<string, PodRunner>();
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

  /** `pods`: runs its pods, instead of on paper. */
  async addReal(name: string, allocatable: Readonly<Record<string, string>>, pods: PodRunner): Promise<void> {
    this.#runners.set(name, pods);
    await this.add(name, allocatable);
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
    for (const [node, runner] of this.#runners)
      if (this.#awake.has(node)) runner.keepOnly(items.map(({ metadata }) => metadata.uid));
  }

  /** As a kubelet does: it starts what is to run, and removes a deleted pod when nothing of it runs any more. */
  async #playPod(pod: PlayedPod): Promise<void> {
    const { metadata, spec, status } = pod;
    const runner = this.#runners.get(spec.nodeName ?? '');
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    if (metadata.deletionTimestamp) {
      if (!runner || runner.end(metadata.uid, metadata.deletionGracePeriodSeconds ?? 0))
        await this.#admin.call('DELETE', path, { gracePeriodSeconds: 0 });
    } else if (status.phase === 'Pending') {
      runner?.start(pod);
      await this.#report(path, spec, { running: { startedAt: new Date().toISOString() } });
    } else if (status.phase === 'Running' && runner && !runner.isRunning(metadata.uid)) {
      await this.#report(path, spec, { terminated: { exitCode: 1, reason: 'Error' } });
    } else if (status.phase === 'Running' && !status.conditions?.some(isReady)) {
      await this.#report(path, spec, { running: { startedAt: new Date().toISOString() } });
    }
  }

  async #report(path: string, { containers }: PlayedPod['spec'], state: object): Promise<void> {
    const isRunning = 'running' in state;
    const containerStatuses = containers.map(({ name, image }) => {
      return { name, image, imageID: image, ready: isRunning, restartCount: 0, state };
    });
    const pod = await this.#admin.call<Record<string, unknown>>('GET', path);
    const phase = isRunning ? 'Running' : 'Failed';
    const status = { ...(pod.status as object), phase, podIP: '10.244.0.9', containerStatuses, conditions: [readyCondition()] };
    await this.#admin.call('PUT', `${path}/status`, { ...pod, status });
  }
}

function isReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status === 'True';
}

function readyCondition(): object {
  const now = new Date().toISOString();
  return { type: 'Ready', status: 'True', reason: 'Played', lastHeartbeatTime: now, lastTransitionTime: now };
}
