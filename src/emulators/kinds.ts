/**
 * The kinds of node that exist here, facts only: the controller may import this file, so nothing in it reaches a driver or does I/O.
 * A kind is its folder, one line here and one line in `drivers.ts`; the compiler compares the two lists.
 */
import type { NodeType } from '../schema/node.ts';
import type { Kind } from './kind.ts';
import { qemuKind } from './qemu/kind.ts';
import { vpcsKind } from './vpcs/kind.ts';

const table = {
  qemu: qemuKind,
  vpcs: vpcsKind,
} as const satisfies Partial<Record<NodeType, Kind>>;

export type ImplementedType = keyof typeof table;

export const implementedTypes: readonly ImplementedType[] = Object.freeze(Object.keys(table) as ImplementedType[]);

/** `kinds[type]` is undefined for a type that is known but not implemented. */
export const kinds: Readonly<Partial<Record<NodeType, Kind>>> = table;
