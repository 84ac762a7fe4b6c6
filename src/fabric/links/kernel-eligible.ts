/** Decides which links the kernel may carry. */
import type { HostEnds } from '../kernel-paths/kernel-paths.ts';
import type { PlaceName } from '../ports/interface-place.ts';
import type { LinkSpec, PortSpec } from '../protocol.ts';

export interface EligibleEnds {
  readonly place: PlaceName;
  readonly ends: HostEnds;
}

/**
 * The ends of a link that joins two containers or machines and does nothing to its frames, not even look at them; undefined for any other.
 * What is not known here is taken to do something.
 */
export function kernelEndsOf({ id: _id, a, b, ...effects }: LinkSpec): EligibleEnds | undefined {
  const [from, to] = [endOf(a), endOf(b)];
  if (from === undefined || to === undefined || from.place !== to.place) return undefined;
  return Object.values(effects).some(acts) ? undefined : { place: from.place, ends: [from.name, to.name] };
}

function endOf(spec: PortSpec): { readonly place: PlaceName; readonly name: string } | undefined {
  if (spec.type !== 'tap' || spec.hostEnd === undefined || spec.kernelPath === false) return undefined;
  return { place: spec.inLinkNamespace ? 'links' : 'host', name: spec.hostEnd };
}

/** Lists and objects that are empty do nothing. */
function acts(effect: unknown): boolean {
  if (typeof effect === 'object' && effect !== null) return Object.keys(effect).length > 0;
  return effect !== undefined && effect !== false;
}
