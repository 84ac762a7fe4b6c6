/** Finds mistakes in checks that only the created lab reveals, before a node is started. */
import { type CheckStep, isGroup, isProbe, type TrafficRun } from '../definition/steps.ts';
import { commandOf } from '../probes/node-probe.ts';
import { type LabSite, SiteError } from './lab-site.ts';
import { readReplay } from './read-replay.ts';

/** Checks the steps. @throws SiteError, NoCommandError, ReplayError */
export async function checkSteps(site: LabSite, steps: readonly CheckStep[]): Promise<void> {
  for (const { what, node = '', by } of steps) {
    if ('link' in what) site.link(what.link);
    if (isGroup(what)) await checkSteps(site, what.steps);
    else if (isProbe(what)) {
      const platform = site.platform(node, by);
      if (by === 'ssh') await site.checkSsh(node);
      if (what.verb !== 'run') commandOf(what, platform);
      if (what.verb === 'iperf') commandOf(what, site.platform(what.server, site.has(what.server, by) ? by : 'console'));
    } else if (what.verb === 'config') site.platform(node);
    else if (what.verb === 'traffic') await checkTraffic(site, what);
    else if ('target' in what) site.node(what.target);
  }
}

async function checkTraffic(site: LabSite, { from, to, packets }: TrafficRun): Promise<void> {
  const [one, other] = [from, to].map(({ at }) => site.node(at));
  if (one?.compute_id !== other?.compute_id) throw new SiteError(`traffic from ${from.at} to ${to.at}: they are on two computes`);
  if (packets.how === 'replay') await readReplay(site.base, packets);
}
