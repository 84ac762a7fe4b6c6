/** Labs of strangers: what a lab could use of this machine, beside what its server refuses. */
import type { Lab } from '../../lab/file/lab.ts';
import { container, hostInterfaces, uplink } from '../../lab/import/kinds.ts';
import type { NodeType } from '../../src/schema/node.ts';
import { CliUsageError } from '../command.ts';

/** Containers are root of the machine as their engine is; the others are on its networks. */
const reaching: ReadonlySet<NodeType> = new Set([container, uplink, hostInterfaces]);

/** @throws CliUsageError for a node of such a kind, a template, which may be of any kind, and for SSH */
export function refuseReach({ nodes, test }: Lab): void {
  for (const { name, kind } of nodes) {
    if (kind === undefined) throw refused(name, 'made of a template: name its kind');
    if (reaching.has(kind)) throw refused(name, `of kind ${kind}`);
    if (test.nodes.get(name)?.ssh) throw refused(name, 'reached by SSH');
  }
}

function refused(node: string, what: string): CliUsageError {
  return new CliUsageError(
    `${node} is ${what}. With --untrusted a lab has no containers, no uplinks, no templates and no SSH. Leave it out for a lab that you trust`,
  );
}
