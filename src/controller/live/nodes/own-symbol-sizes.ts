/**
 * Sizes of nodes with symbols of users. Old project files have none, and only the folder of symbols says how large these are: such a node was
 * given the standard size when its file was read.
 */
import type { Symbols } from '../../catalog/symbols.ts';
import type { Size } from '../../model/symbol.ts';
import { builtInSize } from '../../model/symbol-sizes.ts';
import type { NodeEntry } from '../../model/topology.ts';

/** Replaces the entries whose size is the standard one and whose symbol is a user's; a symbol that is gone changes nothing. */
export async function takeOwnSymbolSizes(nodes: Map<string, NodeEntry>, symbols: Pick<Symbols, 'sizeOfNode'>): Promise<void> {
  const known = new Map<string, Promise<Size>>();
  for (const [id, node] of nodes) {
    const { symbol, width, height } = node;
    const standard = builtInSize(symbol);
    if (symbol.startsWith(':') || width !== standard.width || height !== standard.height) continue;
    const found = known.get(symbol) ?? symbols.sizeOfNode(symbol);
    known.set(symbol, found);
    const size = await found;
    if (size.width !== width || size.height !== height)
      nodes.set(id, Object.freeze({ ...node, width: size.width, height: size.height }));
  }
}
