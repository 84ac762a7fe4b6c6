/**
 * A real Slurm for tests: munged, slurmctld and a slurmd on each of some hosts (`host-network.ts`), with keys and folders of their own. No
 * port of this machine is taken, so that several run at a time, beside the machine's own. A host has a process namespace: its power cut ends
 * everything on it. Needs root and Debian's packages.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemons } from './daemons.ts';
import { type ClusterHost, HostNetwork } from './host-network.ts';
import { killProcesses, processesNamed } from './leftovers.ts';
import { missingPrograms } from './missing-programs.ts';
import { noNamespaces } from './network-namespace.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const port = 6817;
/**
 * Hides the start-up files of the user from the login shell by which slurmd loads a job's environment: one that a power cut ends may leave a
 * lock (`pyenv rehash`), for which each later job waits a minute.
 */
const withoutStartupFiles =
  'for file in ~root/.profile ~root/.bash_profile ~root/.bash_login ~root/.bashrc; do [ ! -e $file ] || mount --bind /dev/null $file; done';

/** Why Slurm cannot run here; undefined where it can. */
export async function noSlurm(): Promise<string | undefined> {
  const reason = noNamespaces();
  if (reason) return reason;
  return missingPrograms(
    ['munged', 'munge'],
    ['slurmctld', 'slurmctld'],
    ['slurmd', 'slurmd'],
    ['sbatch', 'slurm-client'],
    ['unshare', 'util-linux'],
  );
}

export interface SlurmHost {
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  readonly feature?: string;
}

export class TestSlurm {
  readonly folder: string;
  readonly network: HostNetwork;
  readonly daemons = new Daemons();
  readonly #hosts: readonly SlurmHost[];

  private constructor(folder: string, network: HostNetwork, hosts: readonly SlurmHost[]) {
    this.folder = folder;
    this.network = network;
    this.#hosts = hosts;
  }

  /** Nodes are called `n1`, `n2`, …; they are idle when this resolves. */
  static async start(hosts: readonly SlurmHost[]): Promise<TestSlurm> {
    await using started = new AsyncDisposableStack();
    // The last one is slurmctld's.
    const network = await HostNetwork.make(hosts.length + 1);
    started.defer(() => network.remove());
    const folder = await mkdtemp(join(tmpdir(), 'pb-slurm-'));
    started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const slurm = new TestSlurm(folder, network, hosts);
    started.defer(() => slurm.daemons.stopAll());
    await slurm.#start();
    started.move();
    return slurm;
  }

  /** Environment for commands of Slurm. */
  get env(): Readonly<Record<string, string>> {
    return { SLURM_CONF: join(this.folder, 'slurm.conf') };
  }

  async command(program: string, ...args: string[]): Promise<string> {
    return (await run(program, args, { env: { ...process.env, ...this.env }, timeout: 20_000 })).stdout;
  }

  /** Everything on this host ends at once. */
  powerOff(host: number): Promise<void> {
    return this.daemons.stop(`n${host + 1}`, 'SIGKILL');
  }

  powerOn(host: number): void {
    const name = `n${host + 1}`;
    // A slurmd that is killed alone starts again, and its jobs run on.
    const slurmd = `while :; do slurmd -D -N ${name} -f ${this.env.SLURM_CONF} & wait $!; sleep 0.2; done`;
    const inside = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', `${withoutStartupFiles}; ${slurmd}`];
    this.daemons.start(name, [...(this.network.hosts[host]?.launcher ?? []), ...inside], this.env);
  }

  /** SIGKILL to the one that controls all, or to the one of a host; it starts again. */
  async killDaemon(name: 'slurmctld' | number): Promise<void> {
    if (name === 'slurmctld') {
      await this.daemons.stop(name, 'SIGKILL');
      return this.#startController();
    }
    killProcesses(
      processesNamed(`slurmd -D -N n${name + 1} -f ${this.folder}/`).filter(({ commandLine }) => commandLine.startsWith('slurmd')),
    );
  }

  async stop(): Promise<void> {
    await this.daemons.stopAll();
    await this.network.remove();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #startController(): void {
    const launcher = this.#controller?.launcher ?? [];
    this.daemons.start('slurmctld', [...launcher, 'slurmctld', '-D', '-f', this.env.SLURM_CONF ?? ''], this.env);
  }

  get #controller(): ClusterHost | undefined {
    return this.network.hosts.at(-1);
  }

  async #start(): Promise<void> {
    const { folder, daemons } = this;
    const at = (name: string) => join(folder, name);
    await chmod(folder, 0o755);
    await mkdir(at('state'));
    await mkdir(at('work'));
    await chmod(at('work'), 0o1777);
    await writeFile(at('munge.key'), randomBytes(128), { mode: 0o400 });
    await writeFile(at('slurm.conf'), this.#configuration());
    const munge = ['munged', '--foreground', '--force', `--key-file=${at('munge.key')}`, `--socket=${at('munge.sock')}`];
    daemons.start('munged', [
      ...munge,
      `--pid-file=${at('munged.pid')}`,
      `--log-file=${at('munged.log')}`,
      `--seed-file=${at('munged.seed')}`,
    ]);
    await waitFor(() => this.command('munge', '-n', '-S', at('munge.sock')), { what: 'munged' });
    this.#startController();
    for (const host of this.#hosts.keys()) this.powerOn(host);
    const idle = async () => {
      daemons.check();
      const states = await this.command('sinfo', '--noheader', '-N', '-o', '%t').catch(() => '');
      return states.match(/idle/g)?.length === this.#hosts.length;
    };
    await waitFor(idle, { what: 'idle nodes of Slurm', everyMs: 100, limitMs: 100_000 });
  }

  #configuration(): string {
    const { folder, network } = this;
    const nodes = this.#hosts.map(({ cpus, memory, feature }, index) => {
      const size = `CPUs=${cpus} RealMemory=${memory}${feature ? ` Feature=${feature}` : ''}`;
      return `NodeName=n${index + 1} NodeHostname=${hostname()} NodeAddr=${network.hosts[index]?.address} Port=${port + 4 + index} ${size}`;
    });
    return `ClusterName=pb
SlurmctldHost=${hostname()}(${this.#controller?.address})
SlurmctldPort=${port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=1,bf_interval=1
ReturnToService=2
SlurmdTimeout=6
SlurmctldTimeout=6
KillWait=10
MailProg=/bin/true
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool.%n
SlurmdPidFile=${folder}/slurmd.%n.pid
SlurmctldPidFile=${folder}/slurmctld.pid
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
${nodes.join('\n')}
PartitionName=labs Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
  }
}
