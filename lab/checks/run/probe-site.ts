/** Gives a probe access to the console, container or SSH server of its node, and to other nodes. */
import type { CommandShell } from '../console/command-shell.ts';
import { type ProbeSite, refuseMissing } from '../probes/node-probe.ts';
import type { LabSite } from './lab-site.ts';
import type { ShellPlace } from './node-shells.ts';

export function siteOf(site: LabSite, place: ShellPlace, console: CommandShell, signal: AbortSignal): ProbeSite {
  const { node, by } = place;
  return {
    console,
    platform: site.platform(node, by),
    async runAt(other, commandOf) {
      const theirs = site.has(other, by) ? by : 'console';
      const command = commandOf(site.platform(other, theirs));
      const { exitCode, output } = await (other === node
        ? console.run(command, signal)
        : site.useShell({ node: other, by: theirs }, signal, (shell) => shell.run(command, signal)));
      refuseMissing('iperf', exitCode, output);
    },
  };
}
