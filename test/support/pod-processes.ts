/**
 * Pods of a played node as processes of a host (`host-network.ts`): the command of the pod's container, in the host's network and in a process
 * namespace of the pod. What a container runtime adds is missing: image, user, limits.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterHost } from './host-network.ts';
import type { PlayedPod, PodRunner } from './kubernetes.ts';

interface RunningPod {
  readonly child: ChildProcess;
  askedAt: number | undefined;
}

export class PodProcesses implements PodRunner {
  readonly #host: ClusterHost;
  readonly #claim: string;
  readonly #pods = new Map<string, RunningPod>();

  /** `claim`: the folder that stands for the claim of all pods. */
  constructor(host: ClusterHost, claim: string) {
    this.#host = host;
    this.#claim = claim;
  }

  start({ metadata: { uid }, spec }: PlayedPod): void {
    if (this.#pods.has(uid)) return;
    const [{ command = [], env = [], volumeMounts = [] } = {}] = spec.containers;
    const mounts = new Map(volumeMounts.map(({ mountPath, subPath = '' }) => [mountPath, join(this.#claim, subPath)]));
    const line = command.map((word) => (word === '/data' ? (mounts.get(word) ?? word) : word));
    mkdirSync(mounts.get('/data') ?? this.#claim, { recursive: true });
    const inside = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', ...line];
    const [program = '', ...args] = [...this.#host.launcher, ...inside];
    const variables = Object.fromEntries(env.map(({ name, value = '' }) => [name, value]));
    const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...variables } });
    child.on('error', () => undefined);
    this.#pods.set(uid, { child, askedAt: undefined });
  }

  isRunning(uid: string): boolean {
    const child = this.#pods.get(uid)?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  end(uid: string, graceSeconds: number): boolean {
    const pod = this.#pods.get(uid);
    if (!pod || !this.isRunning(uid)) return true;
    const now = performance.now();
    if (pod.askedAt === undefined) {
      pod.askedAt = now;
      // The first process of the pod: `unshare` passes no signal on.
      const [first = ''] = childrenOf(pod.child.pid);
      if (first !== '') process.kill(Number(first), 'SIGTERM');
    } else if (now - pod.askedAt > graceSeconds * 1000) pod.child.kill('SIGKILL');
    return false;
  }

  keepOnly(uids: readonly string[]): void {
    for (const [uid, { child }] of this.#pods) if (!uids.includes(uid)) child.kill('SIGKILL');
  }

  /** The host loses its power. */
  killAll(): void {
    for (const { child } of this.#pods.values()) child.kill('SIGKILL');
    this.#pods.clear();
  }
}

function childrenOf(pid: number | undefined): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  } catch {
    // It has ended.
    return [];
  }
}
