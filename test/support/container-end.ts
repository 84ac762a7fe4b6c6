/** A stand-in for a container: a process with a network of its own, and an `eth0` made as the compute makes it. Root only. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { makeVeth, removeInterfaces, type VethNames, vethNames } from '../../src/emulators/port-processes/veth.ts';
import type { PortSpec } from '../../src/fabric/protocol.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);

/** Why there can be none here. */
export async function noContainerEnds(): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return 'network namespaces need root';
  for (const name of ['ip', 'tc', 'nsenter', 'unshare', 'busybox', 'socat'])
    if (!(await findProgram(name))) return `missing: ${name}`;
  return undefined;
}

export interface InterfaceCounts {
  readonly received: number;
  readonly sent: number;
}

export class ContainerEnd {
  readonly names: VethNames;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, names: VethNames) {
    this.#process = child;
    this.names = names;
  }

  /** `owner`: the folder of the fabric's socket. `address` with its bits; the host's own IPv6 is switched off, so nothing else is sent. */
  static async make(owner: string, address: string): Promise<ContainerEnd> {
    const child = spawn('unshare', ['--net', 'sleep', '600'], { stdio: 'ignore' });
    const pid = child.pid as number;
    const end = new ContainerEnd(child, vethNames());
    try {
      const here = await readlink('/proc/self/ns/net');
      await waitFor(async () => (await readlink(`/proc/${pid}/ns/net`)) !== here, { what: 'a network of its own' });
      await end.run('sh', '-c', 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6');
      const problem = await makeVeth({ ...end.names, owner, inside: 'eth0', mac: undefined, containerPid: pid });
      if (problem !== undefined) throw new Error(problem);
      await end.run('ip', 'addr', 'add', address, 'dev', 'eth0');
      return end;
    } catch (error) {
      await end.remove();
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  get port(): PortSpec {
    return { type: 'tap', name: this.names.tap, hostEnd: this.names.hostEnd, merges: true };
  }

  /** Runs a program there. */
  async run(program: string, ...args: string[]): Promise<string> {
    return (await run('nsenter', this.#inside(program, args), { timeout: 30_000 })).stdout;
  }

  /** Starts one there; it is to be ended by the caller. */
  spawn(program: string, ...args: string[]): ChildProcess {
    return spawn('nsenter', this.#inside(program, args), { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  /** Frames of `eth0`, as the kernel counts them there. */
  async counts(): Promise<InterfaceCounts> {
    const text = await readFile(`/proc/${this.#process.pid}/net/dev`, 'latin1');
    const figures = /eth0:(.*)/.exec(text)?.[1]?.trim().split(/\s+/).map(Number) ?? [];
    return { received: figures[1] ?? 0, sent: figures[9] ?? 0 };
  }

  /** Number of times that its carrier has come or gone. */
  async carrierChanges(): Promise<number> {
    const look = 'mount -t sysfs none /sys && cat /sys/class/net/eth0/carrier_changes';
    // The mount is seen in a namespace of its own only.
    return Number(await this.run('unshare', '--mount', '--propagation', 'private', 'sh', '-c', look));
  }

  async remove(): Promise<void> {
    const ended = once(this.#process, 'exit');
    if (this.#process.kill('SIGKILL')) await ended;
    await removeInterfaces([this.names.tap, this.names.hostEnd]);
  }

  #inside(program: string, args: readonly string[]): string[] {
    return ['--target', String(this.#process.pid), '--net', program, ...args];
  }
}
