import { kinds } from '../../emulators/kinds.ts';
import type { NodeType } from '../../schema/node.ts';

/** Properties of a node's type, in creations or updates. */
export function knownProperties(type: NodeType): ReadonlySet<string> {
  const { create, update } = kinds[type] ?? {};
  const schemas = [create, update] as readonly ({ readonly properties?: object } | undefined)[];
  return new Set(schemas.flatMap((schema) => Object.keys(schema?.properties ?? {})));
}
