/**
 * Finds the path of packets through a lab, as far as the file tells: the node that has an address, and the links of the only
 * shortest path to it. VLANs and routes are ignored: a check that expects no answer at all is not judged by its path (`chance.ts`).
 */
import type { Lab, LabLink, LabNode } from '../../file/lab.ts';

/** A link, with the direction in which packets pass it. */
export interface PathLink {
  readonly link: LabLink;
  readonly direction: 'ab' | 'ba';
}

/** Finds the node whose configuration or files give it this address; undefined: none, or several. */
export function nodeOfAddress(lab: Pick<Lab, 'nodes'>, address: string): string | undefined {
  const text = address.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // Matches "ip 10.0.0.3/24", "address 10.0.0.3", "ip address 10.0.0.3/24", "ips=10.0.0.3/24".
  const given = new RegExp(`\\b(?:ip|address|addr add|ips=|inet)[ =]*(?:dev \\S+ )?${text}(?![0-9.])`);
  const found = lab.nodes.filter((node) => textsOf(node).some((one) => given.test(one)));
  return found.length === 1 ? found[0]?.name : undefined;
}

function textsOf({ config, files, properties }: LabNode): string[] {
  const words = Object.values(properties).filter((value): value is string => typeof value === 'string');
  return [...(config === undefined ? [] : [config]), ...files.values(), ...words];
}

/** Returns the links from one node to another; a sentence where there is no single shortest path. */
export function pathBetween(links: readonly LabLink[], from: string, to: string): PathLink[] | string {
  const reached = new Map<string, { distance: number; ways: number; last?: PathLink }>([[from, { distance: 0, ways: 1 }]]);
  for (const name of reached.keys()) {
    const here = reached.get(name) as { distance: number; ways: number };
    for (const step of stepsFrom(links, name)) {
      const next = farEnd(step);
      const known = reached.get(next);
      if (!known) reached.set(next, { distance: here.distance + 1, ways: here.ways, last: step });
      else if (known.distance === here.distance + 1) known.ways += here.ways;
    }
  }
  const end = reached.get(to);
  if (!end) return `no link leads from ${from} to ${to}`;
  if (end.ways > 1) return `several ways of the same length lead from ${from} to ${to}`;
  const path: PathLink[] = [];
  for (let at = end; at.last; at = reached.get(nearEnd(at.last)) as typeof end) path.unshift(at.last);
  return path;
}

function stepsFrom(links: readonly LabLink[], name: string): PathLink[] {
  return links.flatMap((link): PathLink[] => {
    if (link.ends[0].node === name) return [{ link, direction: 'ab' }];
    return link.ends[1].node === name ? [{ link, direction: 'ba' }] : [];
  });
}

const nearEnd = ({ link, direction }: PathLink) => link.ends[direction === 'ab' ? 0 : 1].node;
const farEnd = ({ link, direction }: PathLink) => link.ends[direction === 'ab' ? 1 : 0].node;

/** Returns the path in the opposite direction. */
export function reversed(path: readonly PathLink[]): PathLink[] {
  return path.map(({ link, direction }): PathLink => ({ link, direction: direction === 'ab' ? 'ba' : 'ab' })).reverse();
}
