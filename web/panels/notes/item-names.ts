/** Nodes and links of a project by their names, for the buttons of its notes. */
import { computed, type ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ProjectState } from '../../state/project.ts';

/** Longer texts name nothing. Characters. */
const longestName = 200;

export class ItemNames {
  /** Ids of nodes by name. */
  readonly nodes: ReadonlySignal<ReadonlyMap<string, string>>;
  /** Ids of the links between two nodes, by both ids in either order. */
  readonly #links: ReadonlySignal<ReadonlyMap<string, readonly string[]>>;

  constructor({ nodes, links }: ProjectState) {
    this.nodes = computed(() => new Map(nodes.all.value.map(({ name, node_id }) => [name, node_id])));
    this.#links = computed(() => {
      const found = new Map<string, string[]>();
      for (const { link_id, nodes: ends } of links.all.value) {
        const [one, other] = ends.map(({ node_id }) => node_id);
        for (const key of new Set([`${one} ${other}`, `${other} ${one}`])) {
          const ids = found.get(key);
          if (ids) ids.push(link_id);
          else found.set(key, [link_id]);
        }
      }
      return found;
    });
  }

  /** Ids of the node, or of the links between two nodes (`PC1-SW1`), that the text names; empty: none. */
  find(text: string): readonly string[] {
    if (text.length > longestName) return [];
    const nodes = this.nodes.value;
    const node = nodes.get(text);
    if (node !== undefined) return [node];
    // Names may have hyphens, too.
    for (let at = text.indexOf('-'); at >= 0; at = text.indexOf('-', at + 1)) {
      const ends = [text.slice(0, at), text.slice(at + 1)].map((name) => nodes.get(name.trim()));
      const ids = this.#links.value.get(ends.join(' '));
      if (ids) return ids;
    }
    return [];
  }
}

export const ItemNamesContext = createContext<ItemNames | undefined>(undefined);

export function useItemNames(): ItemNames {
  const names = useContext(ItemNamesContext);
  if (!names) throw new Error('a button of notes stands outside of them');
  return names;
}
