/** A host of its own beside this one, in a network namespace: a veth pair leads there. Root only. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why tests with namespaces are left out here; undefined where they can run. */
export function noNamespaces(): string | undefined {
  return process.geteuid?.() === 0 ? undefined : 'network namespaces and raw interfaces need root';
}

export async function ip(line: string): Promise<string> {
  return (await run('ip', line.split(' '), { timeout: 10_000 })).stdout;
}

export class Neighbour {
  readonly #name: string;
  /** This side of the pair. */
  readonly interface: string;

  private constructor(name: string) {
    this.#name = name;
    this.interface = `${name}h`;
  }

  /** `address` with its bits, such as `10.0.0.2/24`. */
  static async make(address: string): Promise<Neighbour> {
    const neighbour = new Neighbour(`pb${randomBytes(3).toString('hex')}`);
    const name = neighbour.#name;
    await ip(`netns add ${name}`);
    try {
      await ip(`link add ${neighbour.interface} type veth peer name eth0 netns ${name}`);
      await ip(`-n ${name} addr add ${address} dev eth0`);
      for (const line of [`-n ${name} link set eth0 up`, `-n ${name} link set lo up`, `link set ${neighbour.interface} up`])
        await ip(line);
      return neighbour;
    } catch (error) {
      await neighbour.remove();
      throw error;
    }
  }

  /** Runs a program there. */
  async run(program: string, ...args: string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.#name, program, ...args], { timeout: 20_000 })).stdout;
  }

  async remove(): Promise<void> {
    await ip(`netns del ${this.#name}`);
  }
}
