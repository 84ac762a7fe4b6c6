/**
 * Two virtual machines that know nothing of Patchbay: QEMU on TAP interfaces in a bridge of the kernel, in a network namespace of their
 * own. This is what a link of Patchbay is compared with. Needs root.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Console } from './console.ts';
import { type Guest, guestCommandLine, guestRamMiB } from './guest/guest.ts';

const run = promisify(execFile);
const addresses = ['10.0.9.1', '10.0.9.2'] as const;
const bootLimitMs = 120_000;
const socketLimitMs = 20_000;

/** Names what this machine lacks for such a pair; undefined when it lacks nothing. */
export async function noBridgedPair(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  try {
    await access('/dev/net/tun');
    await run('ip', ['-Version']);
    return undefined;
  } catch {
    return 'needs /dev/net/tun and ip(8)';
  }
}

export class BridgedPair {
  /** The consoles of the two machines, in the order of their addresses. */
  readonly consoles: Console[] = [];
  readonly address = addresses[1];
  readonly #namespace = `pbd${randomBytes(3).toString('hex')}`;
  readonly #children: ChildProcess[] = [];
  #folder: string | undefined;

  /** Boots both machines with the accelerator and processor of another machine, whose command line is `like`. @throws Error; `stop` is needed then, too */
  async start(guest: Guest, like: string): Promise<void> {
    this.#folder = await mkdtemp(path.join(tmpdir(), 'patchbay-bridged-'));
    await run('ip', ['netns', 'add', this.#namespace]);
    for (const line of ['link add br0 type bridge stp_state 0', 'link set br0 up']) await this.#ip(line);
    await Promise.all(addresses.map((_, index) => this.#boot(index, guest, like)));
  }

  /** Ends both and leaves nothing. */
  async stop(): Promise<void> {
    for (const console of this.consoles) console.close();
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await run('ip', ['netns', 'delete', this.#namespace]).catch(() => undefined);
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #boot(index: number, guest: Guest, like: string): Promise<void> {
    const tap = `tap${index}`;
    for (const line of [`tuntap add dev ${tap} mode tap`, `link set ${tap} master br0 up`]) await this.#ip(line);
    const socket = path.join(this.#folder ?? '', `console${index}`);
    const accelerator = /accel(?:=|\s)kvm|-enable-kvm/.test(like) ? 'kvm' : 'tcg';
    const processor = /-cpu (\S+)/.exec(like)?.[1];
    const vhost = like.includes('vhost=on') ? ',vhost=on' : '';
    const words = [
      ...['-machine', `pc,accel=${accelerator}`, '-m', `${guestRamMiB}`, '-nodefaults', '-nographic', '-no-reboot'],
      ...(processor === undefined ? [] : ['-cpu', processor]),
      ...['-kernel', guest.kernel, '-initrd', guest.initrd],
      ...['-append', guestCommandLine(`bridged${index + 1}`, [`${addresses[index]}/24`])],
      ...['-serial', `unix:${socket},server=on,wait=off`],
      ...['-netdev', `tap,id=n,ifname=${tap},script=no,downscript=no${vhost}`],
      ...['-device', `virtio-net-pci,netdev=n,romfile=,mac=52:54:00:00:00:0${index + 1}`],
    ];
    // A session each, as machines of a server have: Linux shares processors between sessions first.
    const child = spawn('ip', ['netns', 'exec', this.#namespace, 'qemu-system-x86_64', ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    });
    this.#children.push(child);
    await once(child, 'spawn');
    const console = await opened(socket, child);
    this.consoles[index] = console;
    await console.expect(/GUEST READY.*# $/s, bootLimitMs);
  }

  async #ip(line: string): Promise<void> {
    await run('ip', ['-n', this.#namespace, ...line.split(' ')], { timeout: 10_000 });
  }
}

/** QEMU makes the socket shortly after its start. */
async function opened(socket: string, child: ChildProcess): Promise<Console> {
  const limit = performance.now() + socketLimitMs;
  for (;;) {
    try {
      return await Console.open(socket);
    } catch (error) {
      if (child.exitCode !== null || performance.now() > limit) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
