/**
 * The interfaces of a container's adapter. One end of a veth pair is `ethN` in the container; beside its other end, on the host, is a
 * persistent TAP interface, and what comes in at one of the two leaves at the other. So the container's interface stays whatever
 * happens to the holder of the TAP interface, and the kernel can carry a link past it (`fabric/kernel-paths`).
 *
 * Neither of the two belongs to the host's own network: they have no addresses, no IPv6, and every frame is taken from the host before
 * anything else sees it. The holder of the TAP interface chooses its offloads: without any, the kernel cuts segments and completes checksums before a frame is read.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { hostEndPrefix, ownTapPrefix, redirect, takeRules } from '../../fabric/redirection.ts';
import { runTool } from '../../process/tool.ts';
import { findProgram, requireProgram } from '../host/find-program.ts';
import { ownName } from './socat.ts';

export interface VethNames {
  readonly tap: string;
  /** The end of the veth pair on the host. */
  readonly hostEnd: string;
}

interface WantedVeth extends VethNames {
  /** The server's runtime folder: by it, interfaces without an owner are found. */
  readonly owner: string;
  /** Name of the interface in the container. */
  readonly inside: string;
  readonly mac: string | undefined;
  /** A process in the container. */
  readonly containerPid: number;
}

const toolLimitMs = 5000;
/** Most that the kernel allows: how long frames are is decided in the container. */
const vethMtu = 65_535;
const tapMtu = 65_521;

/** Never the same twice: a `tc` or `ip` that is kept running remembers the number of an interface by its name. */
export function vethNames(): VethNames {
  const own = ownName(randomUUID(), 0);
  return { tap: `${ownTapPrefix}${own}`, hostEnd: `${hostEndPrefix}${own}` };
}

/** The programs of the link namespace. */
export type InterfaceTools = Readonly<
  Record<'ip' | 'tc', { run(commands: readonly string[]): Promise<{ readonly reason: string }> }>
>;

/**
 * Makes the interfaces in the link namespace, or on the host, there in place of what an earlier run left.
 *
 * @returns why frames cannot be redirected here, with nothing left behind
 * @throws tool_missing, capability_missing, interface_unavailable
 */
export async function makeVeth(wanted: WantedVeth, links?: InterfaceTools): Promise<string | undefined> {
  const { tap, hostEnd, inside, containerPid } = wanted;
  const [ip, tc, nsenter] = await Promise.all([
    requireProgram('ip', 'iproute2'),
    findProgram('tc'),
    requireProgram('nsenter', 'util-linux'),
  ]);
  if (tc === undefined) return 'tc (package iproute2) is not installed';
  const tools = links ?? { ip: batchOf(ip), tc: batchOf(tc) };
  const remove = () => removeInterfaces([tap, hostEnd], links);
  if (!links) await remove();
  try {
    await configure(tools, interfaceCommands(wanted), inside);
    if (!links) await Promise.all([tap, hostEnd].map((name) => claim(name, wanted.owner)));
    const { reason } = await tools.tc.run([takeRules(hostEnd), takeRules(tap), redirect(hostEnd, tap), redirect(tap, hostEnd)]);
    if (reason !== '') {
      await remove();
      return reason;
    }
    await configure(tools, [`link set dev ${tap} up`, `link set dev ${hostEnd} up`], inside);
    const up = ['link', 'set', 'dev', inside, 'up'];
    const { reason: problem } = await runTool(nsenter, [`--net=/proc/${containerPid}/ns/net`, ip, ...up], {
      timeoutMs: toolLimitMs,
    });
    if (problem !== '') throw fault('interface_unavailable', { interface: inside, reason: problem });
    return undefined;
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Programs that run a group of commands in the host's network. */
const batchOf = (program: string): InterfaceTools['ip'] => ({
  run: (commands) => runTool(program, ['-batch', '-'], { timeoutMs: toolLimitMs, input: lines(commands) }),
});

/** A persistent TAP interface of the host's own network, or of a bridge. @throws tool_missing, capability_missing, interface_unavailable */
export async function makeTap(name: string, { owner, bridge }: { owner: string; bridge?: string }): Promise<void> {
  const ip = await requireProgram('ip', 'iproute2');
  await removeInterfaces([name]);
  try {
    const joined = bridge === undefined ? '' : `master ${bridge} addrgenmode none `;
    await configure({ ip: batchOf(ip) }, [`tuntap add dev ${name} mode tap`, `link set dev ${name} ${joined}up`], name);
    await writeFile(`/sys/class/net/${name}/ifalias`, owner);
  } catch (error) {
    await removeInterfaces([name]);
    throw error;
  }
}

function interfaceCommands({ tap, hostEnd, inside, mac, containerPid }: WantedVeth): string[] {
  const address = mac === undefined ? '' : `address ${mac} `;
  return [
    `tuntap add dev ${tap} mode tap`,
    `link set dev ${tap} mtu ${tapMtu} addrgenmode none`,
    `link add dev ${hostEnd} mtu ${vethMtu} type veth peer name ${inside} mtu 1500 ${address}netns ${containerPid}`,
    `link set dev ${hostEnd} addrgenmode none`,
  ];
}

/** @throws capability_missing, interface_unavailable */
async function configure({ ip }: Pick<InterfaceTools, 'ip'>, commands: readonly string[], name: string): Promise<void> {
  const { reason } = await ip.run(commands);
  if (reason === '') return;
  if (!/not permitted/i.test(reason)) throw fault('interface_unavailable', { interface: name, reason });
  throw fault('capability_missing', {
    what: `The interface "${name}"`,
    capability: 'CAP_NET_ADMIN',
    remedy: 'start the server as root',
  });
}

/** Marks it as this server's; the host's IPv6 is not to send anything from it. */
async function claim(name: string, owner: string): Promise<void> {
  await writeFile(`/sys/class/net/${name}/ifalias`, owner);
  // A kernel without IPv6 has no such file.
  await writeFile(`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`, '1').catch(() => undefined);
}

/** Removes the named interfaces that exist, of the link namespace or of the host. Never rejects. */
export async function removeInterfaces(names: readonly string[], links?: InterfaceTools): Promise<void> {
  if (links) return void (await links.ip.run(names.map((name) => `link delete dev ${name}`)));
  const present = new Set(await readdir('/sys/class/net').catch(() => []));
  const commands = names.filter((name) => present.has(name)).map((name) => `link delete dev ${name}`);
  if (commands.length > 0) await runTool('ip', ['-force', '-batch', '-'], { timeoutMs: toolLimitMs, input: lines(commands) });
}

/** Removes the interfaces of this server that belong to no node; resolves with their count. Never rejects. */
export async function removeUnowned(owner: string, owned: ReadonlySet<string>): Promise<number> {
  const names = await readdir('/sys/class/net').catch(() => []);
  const ours = names.filter((name) => !owned.has(name));
  const aliases = await Promise.all(ours.map((name) => readFile(`/sys/class/net/${name}/ifalias`, 'utf8').catch(() => '')));
  const unowned = ours.filter((_name, index) => aliases[index]?.trim() === owner);
  await removeInterfaces(unowned);
  return unowned.length;
}

function lines(commands: readonly string[]): string {
  return `${commands.join('\n')}\n`;
}
