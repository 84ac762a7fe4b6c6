/**
 * Hosts (`host-network.ts`) with a real kubelet and a real containerd each: pods are containers with addresses of their own. A host has a
 * process namespace and mounts of its own, so that its power cut ends everything on it, and nothing of it is left.
 *
 * The image of pods is that of PATCHBAY_TEST_IMAGE=FILE, as `npm run image` makes it. Otherwise it is nearly empty, and the programs of this
 * machine and this checkout are mounted into each container.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { copyFile, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { writeImage } from '../../packaging/oci/archive.ts';
import { containerConfig } from '../../packaging/oci/build.ts';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { Daemons } from './daemons.ts';
import { HostNetwork } from './host-network.ts';
import { findKubernetes, noKubernetes, TestKubernetes } from './kubernetes.ts';
import { killProcesses, type LeftProcess, processesNamed } from './leftovers.ts';
import { missingPrograms } from './missing-programs.ts';
import { noNamespaces } from './network-namespace.ts';
import { serverProgram } from './server.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
/** Folder of Debian's package. */
const plugins = '/usr/lib/cni';
/** Names of an image are looked for in a registry only when their tag is `latest`. */
const ownImage = 'docker.io/library/patchbay-host:test';
const wish = process.env.PATCHBAY_TEST_IMAGE ?? '';
const isReal = wish.includes('/');
const cgroupFolder = '/sys/fs/cgroup';
/** Memory that a host offers to pods, MiB. */
const memoryMiB = 2048;

/** Why pods cannot run here; undefined where they can. */
export async function noPods(): Promise<string | undefined> {
  const reason = noNamespaces() ?? (await noKubernetes('kubelet'));
  if (reason) return reason;
  const isPlugged = await stat(join(plugins, 'ptp')).catch(() => undefined);
  if (!isPlugged) return 'missing: package containernetworking-plugins';
  if (!isReal && root.startsWith('/tmp/')) return 'pods have a /tmp of their own, so that they do not find a checkout in /tmp';
  return missingPrograms(['containerd', 'containerd'], ['runc', 'runc'], ['busybox', 'busybox-static']);
}

/** Name of the image for the setting `image`. */
export const podImage = isReal ? 'docker.io/library/patchbay:test' : ownImage;

/** A control plane on a network of its own, which end with `started`; kubelets of these names may come. */
export async function startCluster(
  started: AsyncDisposableStack,
  names: readonly string[],
): Promise<{ network: HostNetwork; cluster: TestKubernetes }> {
  const network = await HostNetwork.make(names.length);
  started.defer(() => network.remove());
  const cluster = await TestKubernetes.start(network.address, names);
  started.defer(() => cluster.stop());
  return { network, cluster };
}

export interface KubeletHostsParts {
  readonly network: HostNetwork;
  /** Folder of the cluster, which has a kubeconfig for each name. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Address of the name server of pods. */
  readonly dns?: string;
}

export class KubeletHosts {
  readonly #parts: KubeletHostsParts;
  readonly #kubelet: string;
  readonly #daemons = new Daemons();
  /** Control groups of containers that did not end by themselves: containerd does not remove them. */
  readonly #controlGroups = new Set<string>();

  private constructor(parts: KubeletHostsParts, kubelet: string) {
    this.#parts = parts;
    this.#kubelet = kubelet;
  }

  /** Nodes are ready a few seconds later. */
  static async start(parts: KubeletHostsParts): Promise<KubeletHosts> {
    const found = await findKubernetes('kubelet');
    if (typeof found === 'string') throw new Error(found);
    const hosts = new KubeletHosts(parts, found.kubelet ?? '');
    try {
      await hosts.#start();
      return hosts;
    } catch (error) {
      await hosts.stop();
      throw error;
    }
  }

  /** All programs of a host, those of its pods as well, end at once. */
  async powerOff(host: number): Promise<void> {
    for (const group of controlGroupsOf(this.#folder(host))) this.#controlGroups.add(group);
    await this.#daemons.stop(this.#name(host), 'SIGKILL');
  }

  powerOn(host: number): void {
    const at = (file: string) => join(this.#folder(host), file);
    const name = this.#name(host);
    const kubelet = [
      ...[this.#kubelet, `--kubeconfig=${this.#parts.folder}/${name}.kubeconfig`, `--config=${at('kubelet.json')}`],
      ...[`--hostname-override=${name}`, `--node-ip=${this.#parts.network.hosts[host]?.address}`, `--root-dir=${at('kubelet')}`],
      ...[`--cert-dir=${at('pki')}`, '--container-runtime=remote', `--container-runtime-endpoint=unix://${this.#socket(host)}`],
    ];
    // A program that is killed alone starts again, and pods run on. State that ends with the power of a host is in memory.
    const script = `
for folder in /run /var/lib /var/log; do mount -t tmpfs none $folder; done
while :; do containerd --config ${at('containerd.toml')} & wait $!; sleep 0.2; done &
while :; do ${kubelet.join(' ')} & wait $!; sleep 0.2; done`;
    const inside = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', script];
    this.#daemons.start(name, [...(this.#parts.network.hosts[host]?.launcher ?? []), ...inside]);
  }

  /** SIGKILL to this program of all hosts; it starts again. */
  kill(program: 'kubelet' | 'containerd'): void {
    const isProgram = ({ commandLine }: LeftProcess) => basename(commandLine.split(' ')[0] ?? '') === program;
    killProcesses(processesNamed(`${this.#parts.folder}/`).filter(isProgram));
  }

  async stop(): Promise<void> {
    for (const host of this.#parts.names.keys()) await this.powerOff(host);
    await this.#daemons.stopAll();
    const hasEnded = () => processesNamed(`${this.#parts.folder}/host-`).length === 0 && this.#removeControlGroups();
    await waitFor(hasEnded, { what: 'the end of all pods', everyMs: 100 });
  }

  /** False: one is in use. */
  #removeControlGroups(): boolean {
    for (const group of this.#controlGroups) {
      try {
        for (const hierarchy of ['.', ...readdirSync(cgroupFolder)]) removeFolders(join(cgroupFolder, hierarchy, group));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
        return false;
      }
    }
    return true;
  }

  #name(host: number): string {
    return this.#parts.names[host] ?? '';
  }

  #folder(host: number): string {
    return join(this.#parts.folder, `host-${this.#name(host)}`);
  }

  #socket(host: number): string {
    return join(this.#folder(host), 'containerd.sock');
  }

  async #start(): Promise<void> {
    const { folder, names } = this.#parts;
    const image = join(folder, 'host.tar');
    await writeHostImage(folder, image);
    await this.#route();
    await Promise.all(
      Array.from(names.keys(), async (host) => {
        await this.#configure(host);
        this.powerOn(host);
        await this.#load(host, image);
      }),
    );
  }

  /** A network for the pods of each host. */
  async #route(): Promise<void> {
    const { hosts } = this.#parts.network;
    for (const [index, { address }] of hosts.entries()) {
      const route = ['ip', 'route', 'add', podsOf(address, index), 'via', address];
      for (const launcher of [[], ...hosts.filter((other) => other.address !== address).map((other) => other.launcher)]) {
        const [program = '', ...args] = [...launcher, ...route];
        await run(program, args);
      }
    }
  }

  async #configure(host: number): Promise<void> {
    const at = (file: string) => join(this.#folder(host), file);
    await mkdir(at('cni'), { recursive: true });
    const subnet = podsOf(this.#parts.network.hosts[host]?.address ?? '', host);
    const ipam = { type: 'host-local', dataDir: '/run/cni', ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }] };
    await writeFile(at('cni/pods.conflist'), json({ cniVersion: '0.4.0', name: 'pods', plugins: [{ type: 'ptp', ipam }] }));
    await writeFile(at('kubelet.json'), json(kubeletConfiguration(this.#parts.dns)));
    if (!isReal) await writeFile(at('spec.json'), json(await specWithPrograms()));
    const runtime = 'plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc';
    await writeFile(
      at('containerd.toml'),
      `version = 2
root = "${at('containerd')}"
state = "/run/containerd"
[grpc]
address = "${this.#socket(host)}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${ownImage}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${plugins}"
conf_dir = "${at('cni')}"
[${runtime}]
runtime_type = "io.containerd.runc.v2"
${isReal ? '' : `base_runtime_spec = "${at('spec.json')}"`}
`,
    );
  }

  async #load(host: number, image: string): Promise<void> {
    const ctr = (...args: string[]) => run('ctr', ['--address', this.#socket(host), '--namespace', 'k8s.io', ...args]);
    const answers = () =>
      ctr('version').then(
        () => true,
        () => this.#daemons.check() !== undefined,
      );
    await waitFor(answers, { what: `containerd of ${this.#name(host)}`, everyMs: 200 });
    await ctr('images', 'import', image);
    if (!isReal) return;
    await ctr('images', 'import', wish);
    await ctr('images', 'tag', 'docker.io/library/patchbay:latest', podImage);
  }
}

/** Processes of a data folder of this machine that is a volume of pods: the path in a command line is that of this machine. */
export function processesInPods(folder: string, mountPath: string): LeftProcess[] {
  const mounted = `/${folder.split('/').slice(-3).join('/')} ${mountPath} `;
  return processesNamed('').flatMap(({ pid, commandLine }) => {
    if (commandLine === '' || !read(`/proc/${pid}/mountinfo`).includes(mounted)) return [];
    return [{ pid, commandLine: commandLine.replaceAll(`${mountPath}/`, `${folder}/`) }];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}

/** 30 addresses within the network of the hosts. */
function podsOf(address: string, host: number): string {
  return `${address.slice(0, address.lastIndexOf('.'))}.${32 * (host + 1)}/27`;
}

/** Settings with which one slice of a lab (1,500 MiB) fits on a host, whatever this machine has. */
function kubeletConfiguration(dns: string | undefined): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...{ cgroupDriver: 'cgroupfs', cgroupsPerQOS: false, enforceNodeAllocatable: [] },
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    ...{ nodeStatusUpdateFrequency: '2s', nodeStatusReportFrequency: '2s', nodeLeaseDurationSeconds: 8 },
    systemReserved: { memory: `${Math.max(0, Math.floor(totalmem() / 2 ** 20) - memoryMiB)}Mi` },
    evictionHard: { 'memory.available': '1Mi' },
    ...{ imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 99 },
    ...(dns !== undefined && { clusterDNS: [dns], clusterDomain: 'cluster.local' }),
    ...{ failSwapOn: false, makeIPTablesUtilChains: false, volumePluginDir: '/run/plugins' },
  };
}

/** Writes the image of sandboxes of pods; and, with the programs that a container finds mounted, of slices. */
async function writeHostImage(folder: string, file: string): Promise<void> {
  const layer = join(folder, 'layer');
  await mkdir(join(layer, 'opt/bin'), { recursive: true });
  await mkdir(join(layer, 'etc'));
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) await symlink(`usr/${name}`, join(layer, name));
  await copyFile((await findProgram('busybox')) ?? '', join(layer, 'opt/bin/busybox'));
  await writeFile(join(layer, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\npatchbay:x:1000:1000:patchbay:/data:/bin/sh\n');
  const script = `#!/bin/sh
exec ${process.execPath} ${serverProgram} "$@"
`;
  await writeFile(join(layer, 'opt/bin/patchbay'), script, { mode: 0o755 });
  const tar = join(folder, 'layer.tar');
  await run('tar', ['--owner=0', '--group=0', '-C', layer, '-cf', tar, '.']);
  const [, path = ''] = containerConfig.Env[0]?.split('=') ?? [];
  const config = { Env: [`PATH=/opt/bin:${path}`], Cmd: ['/opt/bin/busybox', 'tail', '-f', '/dev/null'] };
  const name = basename(ownImage);
  await writeImage({ file, layers: [{ tar, comment: 'of a test' }], name, architecture: 'amd64', config, seconds: 0 });
}

async function specWithPrograms(): Promise<object> {
  const spec = JSON.parse((await run('ctr', ['oci', 'spec'])).stdout) as { readonly mounts: readonly object[] };
  const options = ['rbind', 'ro'];
  const programs = ['/usr', root].map((path) => ({ destination: path, source: path, type: 'bind', options }));
  return { ...spec, mounts: [...spec.mounts, ...programs] };
}

/** Control groups of the containers whose files are in this folder. */
function controlGroupsOf(folder: string): string[] {
  const ofContainers = processesNamed('').filter(({ pid }) => read(`/proc/${pid}/mountinfo`).includes(`${folder}/`));
  return ofContainers.flatMap(({ pid }) => /(?<=:)\/k8s\.io\/\w+/.exec(read(`/proc/${pid}/cgroup`)) ?? []);
}

/** Removes a folder, the folders in it first. No effect if it does not exist. */
function removeFolders(top: string): void {
  if (!existsSync(top)) return;
  const inner = readdirSync(top, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of inner) removeFolders(join(top, name));
  rmdirSync(top);
}

const json = (value: object) => JSON.stringify(value);
