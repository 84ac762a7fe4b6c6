/** Hosts of the demo as network namespaces on one bridge, which this machine reaches at one address. Needs root. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class DemoHosts {
  readonly #name = `pbd${randomBytes(3).toString('hex')}`;
  readonly #net: string;
  readonly count: number;

  constructor(count: number) {
    const [high = 0, low = 0] = randomBytes(2);
    this.#net = `10.${200 + (high % 8)}.${low}`;
    this.count = count;
  }

  /** Address of this machine. */
  get address(): string {
    return `${this.#net}.254`;
  }

  async build(): Promise<void> {
    const name = this.#name;
    await ip(`link add ${name} type bridge`);
    await ip(`addr add ${this.address}/24 dev ${name}`);
    await ip(`link set ${name} up`);
    for (let host = 1; host <= this.count; host++) {
      const there = `${name}n${host}`;
      await ip(`netns add ${there}`);
      await ip(`link add ${name}v${host} type veth peer name eth0 netns ${there}`);
      await ip(`link set ${name}v${host} master ${name} up`);
      await ip(`-n ${there} addr add ${this.#net}.${host}/24 dev eth0`);
      for (const line of ['link set lo up', 'link set eth0 up', `route add default via ${this.address}`])
        await ip(`-n ${there} ${line}`);
    }
  }

  /** Words in front of a command line, to run it on a host. */
  launcher(host: number): string[] {
    return ['nsenter', `--net=/run/netns/${this.#name}n${host}`];
  }

  /** Everything on the host ends at once, as when its power is cut. */
  async powerOff(host: number): Promise<void> {
    await ip(`link set ${this.#name}v${host} down`).catch(() => undefined);
    for (let left = await this.#pids(host); left.length > 0; left = await this.#pids(host)) {
      for (const pid of left) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // The process has ended meanwhile.
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends what runs on the hosts, and removes them. */
  async remove(): Promise<void> {
    for (let host = 1; host <= this.count; host++) {
      await this.powerOff(host);
      await ip(`netns del ${this.#name}n${host}`).catch(() => undefined);
    }
    await ip(`link del ${this.#name}`).catch(() => undefined);
  }

  /** Processes that can still be killed. */
  async #pids(host: number): Promise<number[]> {
    const text = await ip(`netns pids ${this.#name}n${host}`).catch(() => '');
    return text
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 1);
  }
}

async function ip(line: string): Promise<string> {
  return (await run('ip', line.split(' '), { timeout: 10_000 })).stdout;
}
