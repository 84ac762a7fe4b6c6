/** Where a probe is carried out: the console of a node, with those of others at hand. */
import type { CommandConsole } from '../console/command-console.ts';
import type { ProbeSite } from '../probes/node-probe.ts';
import type { LabSite } from './lab-site.ts';

export function siteOf(site: LabSite, node: string, console: CommandConsole, signal: AbortSignal): ProbeSite {
  return {
    console,
    platform: site.platform(node),
    async runAt(other, commandOf) {
      const command = commandOf(site.platform(other));
      await (other === node
        ? console.run(command, signal)
        : site.useConsole(other, signal, (theirs) => theirs.run(command, signal)));
    },
  };
}
