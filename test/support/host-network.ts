/** Hosts of a cluster as network namespaces, each with a cable (a veth pair) to one bridge, where this process has an address. Needs root. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ClusterHost {
  readonly address: string;
  /** In front of a command line, to run it there. */
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

  /** Of this process, and the gateway of the hosts. */
  get address(): string {
    return `${this.#net}.254`;
  }

  /** Frames and bytes that left this side for a host. */
  async sentBytes(host: number): Promise<number> {
    const [link] = JSON.parse((await run('ip', ['-s', '-j', 'link', 'show', this.#cable(host)])).stdout);
    return link.stats64.tx.bytes;
  }

  unplug(host: number): Promise<void> {
    return ip(`link set ${this.#cable(host)} down`);
  }

  replug(host: number): Promise<void> {
    return ip(`link set ${this.#cable(host)} up`);
  }

  async remove(): Promise<void> {
    for (let host = 0; host < this.hosts.length; host++) {
      await ip(`link del ${this.#cable(host)}`).catch(() => undefined);
      await ip(`netns del ${this.#name}n${host}`).catch(() => undefined);
    }
    await ip(`link del ${this.#name}`).catch(() => undefined);
  }

  async #build(): Promise<void> {
    await ip(`link add ${this.#name} type bridge`);
    await ip(`addr add ${this.address}/24 dev ${this.#name}`);
    await ip(`link set ${this.#name} up`);
    for (const [index, { address }] of this.hosts.entries()) {
      const there = `${this.#name}n${index}`;
      await ip(`netns add ${there}`);
      await ip(`link add ${this.#cable(index)} type veth peer name eth0 netns ${there}`);
      await ip(`link set ${this.#cable(index)} master ${this.#name} up`);
      await ip(`-n ${there} addr add ${address}/24 dev eth0`);
      for (const line of ['link set lo up', 'link set eth0 up', `route add default via ${this.address}`])
        await ip(`-n ${there} ${line}`);
    }
  }

  #cable(host: number): string {
    return `${this.#name}v${host}`;
  }
}

async function ip(line: string): Promise<void> {
  await run('ip', line.split(' '), { timeout: 10_000 });
}
