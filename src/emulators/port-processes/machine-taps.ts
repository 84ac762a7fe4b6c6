/**
 * TAP interfaces of a machine's adapters, in the server's link namespace. Each adapter has two: the machine has one, the fabric the other, and
 * what comes in at one leaves at the other, so that the kernel can carry a link past the fabric as it does for containers (`veth.ts`).
 */
import { fault } from '../../api/faults.ts';
import type { PortSpec } from '../../fabric/protocol.ts';
import { redirect, takeRules } from '../../fabric/redirection.ts';
import type { LinkNamespace } from '../host/link-namespace.ts';
import { type VethNames, vethNames } from './veth.ts';

export type TapPort = Extract<PortSpec, { type: 'tap' }>;

/** The most that the kernel allows a TAP interface: how long frames are is decided in the guests. */
const tapMtu = 65_521;

const commandsFor = (name: string, user: string) => [
  `tuntap add dev ${name} mode tap ${user}`,
  `link set dev ${name} mtu ${tapMtu} addrgenmode none`,
  `link set dev ${name} up`,
];

/**
 * Makes them. `uid`: the user who may open those of the machine.
 * @throws interface_unavailable with nothing left behind
 */
export async function makeMachineTaps(
  { ip, tc }: LinkNamespace,
  { count, uid, kernelPath }: { readonly count: number; readonly uid: number; readonly kernelPath: boolean },
): Promise<TapPort[]> {
  const all = Array.from({ length: count }, () => vethNames());
  if (all.length === 0) return [];
  const made = await ip.run(all.flatMap(({ tap, hostEnd }) => [...commandsFor(hostEnd, `user ${uid}`), ...commandsFor(tap, '')]));
  const ruled = made.reason === '' ? await tc.run(all.flatMap(rulesOf)) : made;
  if (ruled.reason !== '') {
    await ip.run(deletions(all));
    throw fault('interface_unavailable', { interface: all[0]?.hostEnd ?? '', reason: ruled.reason });
  }
  const spec = { type: 'tap', merges: true, inLinkNamespace: true, ...(!kernelPath && { kernelPath }) } as const;
  return all.map(({ tap: name, hostEnd }) => ({ ...spec, name, hostEnd }));
}

const rulesOf = ({ tap, hostEnd }: VethNames) => [
  takeRules(hostEnd),
  takeRules(tap),
  redirect(hostEnd, tap),
  redirect(tap, hostEnd),
];

const deletions = (all: readonly VethNames[]) =>
  all.flatMap(({ tap, hostEnd }) => [tap, hostEnd]).map((name) => `link delete dev ${name}`);

/** Never rejects: those that are not there are none. */
export async function removeMachineTaps({ ip }: LinkNamespace, ports: readonly TapPort[]): Promise<void> {
  const names = ports.flatMap(({ name, hostEnd }) => [name, ...(hostEnd === undefined ? [] : [hostEnd])]);
  if (names.length > 0) await ip.run(names.map((name) => `link delete dev ${name}`));
}

/** Interfaces without a fabric's end, for a process that neither sends nor receives. @throws interface_unavailable with nothing left behind */
export async function makePlainTaps({ ip }: LinkNamespace, names: readonly string[], uid: number): Promise<void> {
  if (names.length === 0) return;
  const { reason } = await ip.run(names.map((name) => `tuntap add dev ${name} mode tap user ${uid}`));
  if (reason === '') return;
  await ip.run(names.map((name) => `link delete dev ${name}`));
  throw fault('interface_unavailable', { interface: names[0] ?? '', reason });
}

/** Removes those of machines that ended while no server ran. Never rejects. @returns how many. `owned`: names of machines' ends. */
export async function removeUnownedTaps(links: LinkNamespace, owned: ReadonlySet<string>): Promise<number> {
  const suffixes = new Set([...owned].map((name) => name.slice(3)));
  const names = await links.interfaces().catch(() => []);
  const unowned = names.filter((name) => /^pb[vtw]/.test(name) && !suffixes.has(name.slice(3)));
  if (unowned.length > 0) await links.ip.run(unowned.map((name) => `link delete dev ${name}`));
  return unowned.length;
}
