/**
 * A real control plane of Kubernetes for tests: etcd, API server, scheduler and controller manager, with ports and folders of their own. Its
 * nodes are those of `kubelet-hosts.ts`, or played on paper (`played-nodes.ts`).
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
import type { KubePod } from '../../src/controller/engines/kubernetes/kube-objects.ts';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { Daemons } from './daemons.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
/** Limit for a busy machine. */
const startLimitMs = 180_000;
const programs = ['kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;

/** Where the programs of the control plane, and `more`, are; the reason where they are not. */
export async function findKubernetes(...more: readonly string[]): Promise<Readonly<Record<string, string>> | string> {
  const folder = process.env.PATCHBAY_TEST_KUBERNETES;
  const found: Record<string, string> = {};
  for (const name of [...programs, 'etcd', 'kubectl', ...more]) {
    const path = folder && existsSync(join(folder, name)) ? join(folder, name) : await findProgram(name);
    if (!path) return `no ${name} in PATH, nor in the folder that PATCHBAY_TEST_KUBERNETES names`;
    found[name] = path;
  }
  return found;
}

/** Why the control plane, and `more` of Kubernetes, cannot run here; undefined where they can. */
export async function noKubernetes(...more: readonly string[]): Promise<string | undefined> {
  const found = await findKubernetes(...more);
  return typeof found === 'string' ? found : undefined;
}

export class TestKubernetes {
  readonly folder: string;
  readonly origin: string;
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
  }

  /** `address`: of the API server. `nodes`: names of those that have a kubelet each, which finds `NAME.kubeconfig` in the folder. */
  static async start(address = '127.0.0.1', nodes: readonly string[] = []): Promise<TestKubernetes> {
    const found = await findKubernetes();
    if (typeof found === 'string') throw new Error(found);
    await using started = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'pb-kube-'));
    started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const daemons = new Daemons();
    started.defer(() => daemons.stopAll());
    const { origin, kill } = await startControlPlane(found, { folder, address, nodes, daemons });
    const kubernetes = new TestKubernetes({ folder, origin, daemons, kubectl: found.kubectl ?? '', kill });
    started.defer(() => kubernetes.#admin.close());
    const account = () => kubernetes.#admin.call('GET', 'serviceaccounts/default');
    await waitFor(() => account().then(() => daemons.check() === undefined), {
      what: 'the first service account',
      everyMs: 100,
      limitMs: startLimitMs,
    });
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

  /** A claim that all nodes share: a folder of this machine. */
  async makeClaim(name: string, folder: string): Promise<void> {
    const size = { storage: '1Gi' };
    const both = { accessModes: ['ReadWriteMany'], storageClassName: 'none' };
    const claimRef = { namespace: 'default', name };
    await this.#admin.call('POST', '/api/v1/persistentvolumes', {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
      spec: { ...both, capacity: size, claimRef, hostPath: { path: folder } },
    });
    await this.#admin.call('POST', 'persistentvolumeclaims', {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name } },
      spec: { ...both, volumeName: name, resources: { requests: size } },
    });
  }

  /** Pods with this label that have not ended; one of a silent node that is to end stays until that node answers. */
  async podCount(label: string): Promise<number> {
    const { items } = await this.#admin.list<KubePod>('pods', label);
    const isOn = ({ metadata, status }: KubePod) => !metadata?.deletionTimestamp && /^(Running|Pending)$/.test(status?.phase ?? '');
    return items.filter(isOn).length;
  }

  /** Names of the pods with this label on a node. */
  async podsOn(node: string, label: string): Promise<string[]> {
    const { items } = await this.#admin.list<KubePod>('pods', label);
    return items.flatMap(({ metadata, spec }) => (spec?.nodeName === node ? (metadata?.name ?? '') : []));
  }

  /** The socket of `kubectl proxy`, by which a server outside of the cluster reaches the API server as its administrator. */
  async proxy(): Promise<string> {
    const socket = join(this.folder, 'proxy.sock');
    const line = [this.#kubectl, '--kubeconfig', join(this.folder, 'admin.kubeconfig'), 'proxy', `--unix-socket=${socket}`];
    this.#daemons.start('kubectl proxy', line);
    await waitFor(() => existsSync(socket), { what: 'the socket of kubectl proxy' });
    return socket;
  }

  /** Evicts a pod, as `kubectl drain` does for each pod of a node. Versions before 1.22 have the older API only. */
  async evict(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    const eviction = (apiVersion: string) =>
      this.#admin.call('POST', path, { apiVersion, kind: 'Eviction', metadata: { name, namespace } });
    await eviction('policy/v1').catch(() => eviction('policy/v1beta1'));
  }

  async stop(): Promise<void> {
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

interface ControlPlaneParts {
  readonly folder: string;
  readonly address: string;
  readonly nodes: readonly string[];
  readonly daemons: Daemons;
}

/** Resolves when it is ready. */
async function startControlPlane(found: Readonly<Record<string, string>>, parts: ControlPlaneParts): Promise<ControlPlane> {
  const { folder, address, nodes, daemons } = parts;
  const at = (name: string) => join(folder, name);
  const [api, etcd, peer] = await freePorts(address, 3);
  const origin = `https://${address}:${api}`;
  await mkdir(at('certs'));
  await run('openssl', ['genrsa', '-out', at('sa.key'), '2048']);
  await run('openssl', ['rsa', '-in', at('sa.key'), '-pubout', '-out', at('sa.pub')]);
  const users: Record<string, string> = {
    admin: 'admin,1,system:masters',
    kcm: 'system:kube-controller-manager,2',
    sch: 'system:kube-scheduler,3',
  };
  for (const name of nodes) users[name] = `system:node:${name},${name},system:nodes`;
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
    ...[found['kube-apiserver'] ?? '', `--etcd-servers=${client}`, `--bind-address=${address}`, `--advertise-address=${address}`],
    ...[`--secure-port=${api}`, `--cert-dir=${at('certs')}`, '--service-cluster-ip-range=10.96.0.0/16'],
    ...[
      `--token-auth-file=${at('tokens.csv')}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--service-account-issuer=https://kubernetes.test',
      '--kubelet-preferred-address-types=InternalIP',
    ],
    ...[`--service-account-signing-key-file=${at('sa.key')}`, `--service-account-key-file=${at('sa.pub')}`],
  ]);
  const kubectl = ['--kubeconfig', at('admin.kubeconfig'), 'get', '--raw', '/readyz'];
  const ready = async () => daemons.check() === undefined && (await run(found.kubectl ?? '', kubectl)).stdout === 'ok';
  await waitFor(ready, { what: 'a ready API server', everyMs: 200, limitMs: startLimitMs });
  const silent = ['--leader-elect=false', '--secure-port=0', ...(await noInsecurePort(found['kube-scheduler'] ?? ''))];
  start('kube-scheduler', [found['kube-scheduler'] ?? '', '--kubeconfig', at('sch.kubeconfig'), ...silent]);
  start('kube-controller-manager', [
    ...[found['kube-controller-manager'] ?? '', '--kubeconfig', at('kcm.kubeconfig'), ...silent],
    ...[`--service-account-private-key-file=${at('sa.key')}`, '--use-service-account-credentials=true'],
    `--root-ca-file=${at('certs/apiserver.crt')}`,
    ...['--node-monitor-grace-period=6s', '--node-monitor-period=1s'],
    '--controllers=namespace,serviceaccount,serviceaccount-token,nodelifecycle,garbagecollector,podgc,resourcequota,statefulset,persistentvolume-binder',
  ]);
  const kill = async (program: string) => {
    await daemons.stop(program, 'SIGKILL');
    daemons.start(program, lines.get(program) ?? []);
  };
  return { origin, kill };
}

/** Versions before 1.24 listen on a fixed port, which another test may have. */
async function noInsecurePort(scheduler: string): Promise<string[]> {
  return (await run(scheduler, ['--help'])).stdout.includes(' --port int') ? ['--port=0'] : [];
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

async function freePorts(address: string, count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, address, resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}
