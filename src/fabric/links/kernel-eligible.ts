/** Which links the kernel may carry. */
import type { HostEnds } from '../kernel-paths/kernel-paths.ts';
import type { LinkSpec } from '../protocol.ts';

/**
 * The host ends of a link that joins two containers and does nothing to its frames, not even look at them; undefined for any other. What
 * is not known here is taken to do something.
 */
export function hostEndsOf({ id: _id, a, b, ...effects }: LinkSpec): HostEnds | undefined {
  if (a.type !== 'tap' || b.type !== 'tap' || a.hostEnd === undefined || b.hostEnd === undefined) return undefined;
  return Object.values(effects).some(acts) ? undefined : [a.hostEnd, b.hostEnd];
}

/** Lists and objects that are empty do nothing. */
function acts(effect: unknown): boolean {
  if (typeof effect === 'object' && effect !== null) return Object.keys(effect).length > 0;
  return effect !== undefined && effect !== false;
}
