/** Tells which lines of the lab file say what: nodes and links, with their ids in the project. */
import type { Lab } from '../file/lab.ts';
import type { Place } from '../file/lab-error.ts';
import type { LabProjectState } from '../state/lab-state.ts';
import type { NodeStep } from './lab-plan.ts';
import { matchLinks } from './plan-links.ts';

export interface ItemLines {
  readonly what: 'node' | 'link';
  readonly name: string;
  /** Id in the project; null for an object that is not there yet. */
  readonly id: string | null;
  /** First line, from 1, and last line. */
  readonly line: number;
  readonly end: number;
}

interface ItemsOf {
  /** Name of the lab file: objects of the files that it includes have no lines in it. */
  readonly file: string;
  readonly state: LabProjectState | undefined;
  readonly steps: readonly NodeStep[];
}

/** Lists the lines of each node and link. Nodes of a range, and their links, share theirs. */
export function itemLines(lab: Lab, { file, state, steps }: ItemsOf): ItemLines[] {
  const ids = new Map((state?.nodes ?? []).map(({ name, node_id }) => [name.replaceAll(' ', ''), node_id]));
  const { assigned } = matchLinks(lab, state, steps);
  const nodes = lab.nodes.map(({ name, place }) => ({ what: 'node' as const, name, id: ids.get(name) ?? null, place }));
  const links = assigned.map(({ link: { ends, place }, present }) => ({
    what: 'link' as const,
    name: ends.map(({ node }) => node).join(' - '),
    id: present?.link_id ?? null,
    place,
  }));
  return [...nodes, ...links].flatMap(({ place, ...item }) => {
    const lines = place?.file === file ? linesOf(place) : undefined;
    return lines ? { ...item, ...lines } : [];
  });
}

const linesOf = ({ line, end = line }: Place): Pick<ItemLines, 'line' | 'end'> => ({ line, end });
