/**
 * Hosts of a cluster as network namespaces, each with a cable (a veth pair) to one bridge, as this process has. The bridge is in a namespace
 * of its own: rules of this machine for packets that it forwards, such as Docker's, do not apply to it. Needs root.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ClusterHost {
  readonly address: string;
  /** Words in front of a command line, to run it on the host. */
  readonly launcher: readonly string[];
}

export class HostNetwork {
  readonly #name = `pb${randomBytes(3).toString('hex')}`;
  readonly #net: string;
  readonly hosts: readonly ClusterHost[];

  private constructor(count: number) {
    const [high = 0, low = 0] = randomBytes(2);
    this.#net = `10.${192 + (high % 8)}.${low}`;
    this.hosts = Array.from({ length: count }, (_, index) => ({
      address: `${this.#net}.${index + 1}`,
      launcher: ['nsenter', `--net=/run/netns/${this.#name}n${index}`],
    }));
  }

  static async make(count: number): Promise<HostNetwork> {
    const network = new HostNetwork(count);
    try {
      await network.#build();
      return network;
    } catch (error) {
      await network.remove();
      throw error;
    }
  }

  /** Address of this process, and the gateway of the hosts. */
  get address(): string {
    return `${this.#net}.254`;
  }

  /** Cuts the cables between hosts and heals them; each still reaches the address of this process. */
  async isolate(isCut: boolean): Promise<void> {
    for (const index of this.hosts.keys())
      await run('bridge', ['-n', `${this.#name}s`, 'link', 'set', 'dev', `v${index}`, 'isolated', isCut ? 'on' : 'off']);
  }

  /** Pulls the cable of a host, or plugs it in again. */
  async cut(host: number, isCut: boolean): Promise<void> {
    await ip(`-n ${this.#name}s link set v${host} ${isCut ? 'down' : 'up'}`);
  }

  /** Loses all packets that a host sends to the address of this process; other hosts are reached. */
  async cutFromHere(host: number, isCut: boolean): Promise<void> {
    await ip(`-n ${this.#name}n${host} route ${isCut ? 'add' : 'del'} blackhole ${this.address}`);
  }

  /** Connections between hosts fail at once, where `isolate` loses their packets. */
  async refuse(isRefused: boolean): Promise<void> {
    for (const [index, own] of this.hosts.entries())
      for (const other of this.hosts)
        if (other !== own) await ip(`-n ${this.#name}n${index} route ${isRefused ? 'add' : 'del'} unreachable ${other.address}`);
  }

  /** Bytes that this process has sent to the hosts, with the headers of its packets. */
  async sentBytes(): Promise<number> {
    return Number(await readFile(`/sys/class/net/${this.#name}/statistics/tx_bytes`, 'utf8'));
  }

  async remove(): Promise<void> {
    await ip(`link del ${this.#name}`).catch(() => undefined);
    for (const name of [...this.hosts.map((_, host) => `n${host}`), 's'])
      await ip(`netns del ${this.#name}${name}`).catch(() => undefined);
  }

  async #build(): Promise<void> {
    const middle = `${this.#name}s`;
    await ip(`netns add ${middle}`);
    await ip(`-n ${middle} link add br0 type bridge`);
    await ip(`-n ${middle} link set br0 up`);
    await ip(`link add ${this.#name} type veth peer name here netns ${middle}`);
    await ip(`addr add ${this.address}/24 dev ${this.#name}`);
    await ip(`link set ${this.#name} up`);
    await ip(`-n ${middle} link set here master br0 up`);
    for (const [index, { address }] of this.hosts.entries()) {
      const there = `${this.#name}n${index}`;
      await ip(`netns add ${there}`);
      await ip(`-n ${middle} link add v${index} type veth peer name eth0 netns ${there}`);
      await ip(`-n ${middle} link set v${index} master br0 up`);
      await ip(`-n ${there} addr add ${address}/24 dev eth0`);
      for (const line of ['link set lo up', 'link set eth0 up', `route add default via ${this.address}`])
        await ip(`-n ${there} ${line}`);
    }
  }
}

async function ip(line: string): Promise<void> {
  await run('ip', line.split(' '), { timeout: 10_000 });
}
