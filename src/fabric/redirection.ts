/**
 * The rules of `tc` that redirect frames, as arguments: the compute makes those that are always there, the fabric the others. A host end of a container's veth has at most two: the one with the higher
 * preference (the lower number) is there while its link is carried by the kernel, the other one leads to its TAP interface.
 *
 * u32 with a mask of nothing matches every frame, and is in every kernel that has `tc` at all. A frame that is redirected is taken
 * from the host: nothing else of it sees the frame.
 */

/** Prefixes of the names of host ends, of their TAP interfaces, and of the interfaces of a test. */
export const hostEndPrefix = 'pbv';
export const ownTapPrefix = 'pbt';
export const testPrefix = 'pbs';

/** Whether a server made the interface for its own use; one that a user named may begin the same. */
export function isOwnInterface(name: string): boolean {
  return /^(pb[vt][0-9a-z]{12}|pbs[0-9a-f]{8}[ab])$/.test(name);
}

const fastPreference = 1;
const slowPreference = 2;
const keeperPreference = 3;
const everything = 'protocol all u32 match u32 0 0';
/** Numbers of actions that links share are of the whole namespace: the first half byte keeps them apart from those that are counted up from 1. */
export const actionBase = 0x50000000;
export const actionNumbers = 0x10000000;

/** Makes rules possible at an interface. */
export function takeRules(at: string): string {
  return `qdisc replace dev ${at} clsact`;
}

/** Redirects frames that come in at `from` to `to`. */
export function redirect(from: string, to: string): string {
  return `filter add dev ${from} ingress pref ${slowPreference} ${everything} action mirred egress redirect dev ${to}`;
}

/**
 * Makes an action, which must not exist, by a rule that no frame reaches: the one before it takes them all. So the action and its counters stay
 * while no other rule has it. Actions without a rule would take a privilege over the host.
 */
export function keepAction(from: string, to: string, number: number): string {
  return `filter add dev ${from} ingress pref ${keeperPreference} ${everything} action mirred egress redirect dev ${to} index ${number}`;
}

export function removeKeeper(from: string): string {
  return `filter del dev ${from} ingress pref ${keeperPreference}`;
}

/**
 * Hands frames that come in at `from` to the action, ahead of the rule that leads to the TAP interface. A rule that is already there is to
 * be removed first: hash tables of u32 are numbered across preferences, so a rule cannot be replaced by its number.
 */
export function useAction(from: string, number: number): string {
  return `filter add dev ${from} ingress pref ${fastPreference} ${everything} action mirred index ${number}`;
}

export function removeFast(from: string): string {
  return `filter del dev ${from} ingress pref ${fastPreference}`;
}
