/**
 * The rules of `tc` that redirect frames, as arguments: the compute makes those that are always there, the fabric the others. A host end of a container's veth has at most two: the one with the higher
 * preference (the lower number) is there while its link is carried by the kernel, the other one leads to its TAP interface.
 *
 * u32 with a mask of nothing matches every frame, and is in every kernel that has `tc` at all. A frame that is redirected is taken
 * from the host: nothing else of it sees the frame.
 */

/** Of the names of host ends, of their TAP interfaces, and of those of a test. */
export const hostEndPrefix = 'pbv';
export const ownTapPrefix = 'pbt';
export const testPrefix = 'pbs';

/** Whether a server made the interface for its own use; one that a user named may begin the same. */
export function isOwnInterface(name: string): boolean {
  return /^(pb[vt][0-9a-z]{12}|pbs[0-9a-f]{8}[ab])$/.test(name);
}

const fastPreference = 1;
const slowPreference = 2;
const everything = 'protocol all u32 match u32 0 0';
/** Numbers of shared actions are of the whole host: the first half byte keeps them apart from those that are counted up from 1. */
const actionBase = 0x50000000;
const actionMask = 0x0fffffff;

/** Makes rules possible at an interface. */
export function takeRules(at: string): string {
  return `qdisc replace dev ${at} clsact`;
}

/** What comes in at `from` leaves at `to`. */
export function redirect(from: string, to: string): string {
  return `filter add dev ${from} ingress pref ${slowPreference} ${everything} action mirred egress redirect dev ${to}`;
}

/** The number of the action that redirects what comes in at an interface of this index; no other interface gets that index later. */
export function actionOf(interfaceIndex: number): number {
  return actionBase + (interfaceIndex & actionMask);
}

/** Makes the action, or directs it to another interface. Its counters stay. */
export function shareAction(number: number, to: string): string {
  return `actions replace action mirred egress redirect dev ${to} index ${number}`;
}

export function removeAction(number: number): string {
  return `actions del action mirred index ${number}`;
}

/**
 * What comes in at `from` goes where the action says, ahead of the rule that leads to the TAP interface. A rule that is already there
 * is to be removed first: hash tables of u32 are numbered across preferences, so a rule cannot be replaced by its number.
 */
export function useAction(from: string, number: number): string {
  return `filter add dev ${from} ingress pref ${fastPreference} ${everything} action mirred index ${number}`;
}

export function removeFast(from: string): string {
  return `filter del dev ${from} ingress pref ${fastPreference}`;
}
