/** A server with virtual machines to measure, and machines of QEMU alone to compare them with. Root only. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Console } from '../../demo/console.ts';
import { addPrograms } from '../../demo/guest/add-programs.ts';
import { ensureGuest, type Guest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import { runTool } from '../../src/process/tool.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { userServer } from '../../test/support/ordinary-user.ts';
import { RawClient } from '../../test/support/raw-http.ts';
import { type Config, type RunningServer, startServer } from '../../test/support/server.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../../test/support/with-server.ts';
import { Machine } from './guests.ts';

/** Limit for machines without hardware acceleration on a busy host. */
export const bootMs = 600_000;
export const near = '10.99.0.1/24';
export const far = '10.99.0.2/24';

export type Speaker = Pick<Machine, 'console'>;

export interface SiteOptions {
  /** An ordinary user starts the server, as on a host where `/dev/net/tun` is open to all. */
  readonly isUser: boolean;
  readonly config?: Config;
}

/** Runs lines of `ip`; with `pid` in the network of that process. @throws Error with what it printed */
export async function ip(commands: readonly string[], pid?: number): Promise<void> {
  const inside = pid === undefined ? [] : ['nsenter', '--target', String(pid), '--net'];
  const [program = '', ...args] = [...inside, 'ip', '-batch', '-'];
  const { code, reason } = await runTool(program, args, { timeoutMs: 10_000, input: `${commands.join('\n')}\n` });
  if (code !== 0) throw new Error(`ip: ${reason}`);
}

/** Kills a process and waits for its end. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

export class MachineSite {
  /** Ends what the site has started, last things first. */
  readonly made = new AsyncDisposableStack();
  readonly folder: string;
  readonly server: RunningServer;
  readonly client: RawClient;
  /** The demo's guest with iperf3. */
  readonly guest: Guest;
  readonly #isUser: boolean;

  private constructor(parts: { folder: string; guest: Guest; server: RunningServer; isUser: boolean }) {
    this.folder = parts.folder;
    this.guest = parts.guest;
    this.server = parts.server;
    this.#isUser = parts.isUser;
    this.client = new RawClient(parts.server.url);
  }

  static async open({ isUser, config = {} }: SiteOptions): Promise<MachineSite> {
    await using made = new AsyncDisposableStack();
    const folder = await mkdtemp(`${tmpdir()}/machines-bench-`);
    made.defer(() => rm(folder, { recursive: true }));
    const guest = await addPrograms(await ensureGuest((line) => console.error(line)), ['iperf3'], `${folder}/initrd`);
    const options = isUser ? made.use(await userServer()) : {};
    const server = await startServer({ ...options, config: { Qemu: { acceleration: 'off' }, ...config } });
    made.defer(() => server.stop());
    const site = new MachineSite({ folder, guest, server, isUser });
    made.defer(async () => void (await site.client.close()));
    for (const [name, path] of Object.entries(guest))
      if (isUser) await site.client.send(`POST /v2/compute/qemu/images/bench-${name}`, { raw: await readFile(path) });
    site.made.use(made.move());
    return site;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.made.disposeAsync();
  }

  project(): Promise<ProjectHandle> {
    return createProject(this.client, { auto_close: false });
  }

  machine(project: ProjectHandle, name: string, address: string, more: object = {}): Promise<NodeBody> {
    const guest = this.#isUser ? { kernel: 'bench-kernel', initrd: 'bench-initrd' } : this.guest;
    const properties = { ...machineProperties(guest, name, [address]), ram: 192, ...more };
    return createNode(this.client, project, 'qemu', { name, properties });
  }

  /** @returns the link's path */
  async link(project: ProjectHandle, one: NodeBody, other: NodeBody, port = 0): Promise<string> {
    const nodes = [end(one), end(other, 0, port)];
    const { link_id } = await this.client.post<{ link_id: string }>(`${project.path}/links`, { nodes });
    return `${project.path}/links/${link_id}`;
  }

  start(project: ProjectHandle): Promise<unknown> {
    return this.client.post(`${project.path}/nodes/start`, {}, 204);
  }

  /** The console of a node that has started; of a machine once its guest is ready. */
  async speaker(node: NodeBody, greeting: RegExp = /GUEST READY/): Promise<Speaker> {
    const console = await Console.open(node.console as number);
    this.made.defer(() => console.close());
    await console.expect(greeting, bootMs);
    return { console };
  }

  async carrier(link: string): Promise<LinkStats['carrier']> {
    return (await this.client.get<LinkStats>(`${link}/stats`)).carrier;
  }

  /** A machine of QEMU alone, ready. */
  async bare(name: string, address: string, netdev: string): Promise<Machine> {
    const machine = await Machine.start({ name, address, netdev, guest: this.guest });
    this.made.defer(() => machine.stop());
    await machine.ready();
    return machine;
  }

  /** A bridge of the kernel with TAP interfaces of these names. */
  async bridge(name: string, taps: readonly string[]): Promise<void> {
    this.made.defer(() => ip([...taps, name].map((each) => `link delete dev ${each}`)));
    await ip([
      `link add ${name} type bridge stp_state 0`,
      `link set ${name} addrgenmode none up`,
      ...taps.flatMap((tap) => [`tuntap add dev ${tap} mode tap`, `link set ${tap} addrgenmode none master ${name} up`]),
    ]);
  }

  /** Two machines of QEMU alone on TAP interfaces in a bridge of this name. */
  async bridgedPair(bridge: string): Promise<{ near: Machine; far: Machine }> {
    const [one, other] = [`${bridge}a`, `${bridge}b`];
    await this.bridge(bridge, [one, other]);
    return { near: await this.bare('c', near, tapNetdev(one)), far: await this.bare('d', far, tapNetdev(other)) };
  }
}

const tapNetdev = (tap: string) => `tap,id=n,ifname=${tap},script=no,downscript=no`;
