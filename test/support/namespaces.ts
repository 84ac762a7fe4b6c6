/** Two network namespaces with a cable between them that can be cut, and one from here to the first. Needs root. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Ports of the links of all test servers (`port-block.ts`). */
const linkPorts = '22000:31699';

export interface Namespaces {
  /** Words in front of a command line, to run it there. */
  readonly launchers: readonly [readonly string[], readonly string[]];
  /** Where the first is reached from here. */
  readonly address: string;
  /** The two ends of the cable. */
  readonly ends: readonly [string, string];
  unplug(): Promise<void>;
  replug(): Promise<void>;
  /** The second host takes nothing of the protocol at ports of links any more; or does again. Needs iptables. */
  block(protocol: 'tcp' | 'udp'): Promise<void>;
  unblock(protocol: 'tcp' | 'udp'): Promise<void>;
  /** Runs a program in the first or second namespace; returns its output. */
  run(where: 0 | 1, program: string, ...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

/** Answers the reason when it cannot be done here. */
export async function makeNamespaces(): Promise<Namespaces | string> {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const tag = `pb${process.pid}`;
  const [one, other] = [`${tag}a`, `${tag}b`];
  // Each test process has one such network, and no two the same one.
  const net = `10.${200 + (process.pid % 50)}.${(process.pid >> 8) % 250}`;
  const remove = async () => {
    for (const name of [one, other]) await run('ip', ['netns', 'del', name]).catch(() => undefined);
    await run('ip', ['link', 'del', `${tag}m`]).catch(() => undefined);
  };
  try {
    for (const line of [
      `netns add ${one}`,
      `netns add ${other}`,
      `link add ${tag}m type veth peer name m0 netns ${one}`,
      `addr add ${net}.1/30 dev ${tag}m`,
      `link set ${tag}m up`,
      `-n ${one} addr add ${net}.2/30 dev m0`,
      `-n ${one} link set m0 up`,
      `-n ${one} link add x0 type veth peer name x1 netns ${other}`,
      `-n ${one} addr add ${net}.129/25 dev x0`,
      `-n ${other} addr add ${net}.130/25 dev x1`,
      ...[one, other].map((name) => `-n ${name} link set lo up`),
      `-n ${one} link set x0 up`,
      `-n ${other} link set x1 up`,
    ])
      await run('ip', line.split(' '));
  } catch (error) {
    await remove();
    return `network namespaces cannot be made here: ${(error as Error).message}`;
  }
  const cable = (state: string) => run('ip', ['-n', other, 'link', 'set', 'x1', state]).then(() => undefined);
  const inside = async (where: 0 | 1, program: string, ...args: string[]) =>
    (await run('ip', ['netns', 'exec', where === 0 ? one : other, program, ...args], { timeout: 20_000 })).stdout;
  const wall = async (what: '-A' | '-D', protocol: string) => {
    await inside(1, 'iptables', what, 'INPUT', '-p', protocol, '--dport', linkPorts, '-j', 'DROP');
  };
  return {
    launchers: [
      ['ip', 'netns', 'exec', one],
      ['ip', 'netns', 'exec', other],
    ],
    address: `${net}.2`,
    ends: [`${net}.129`, `${net}.130`],
    unplug: () => cable('down'),
    replug: () => cable('up'),
    block: (protocol) => wall('-A', protocol),
    unblock: (protocol) => wall('-D', protocol),
    run: inside,
    remove,
  };
}
