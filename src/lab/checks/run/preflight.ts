/** Mistakes in checks that only the lab itself shows, found before a node is started. */
import { type CheckStep, isGroup, isProbe, type TrafficRun } from '../definition/steps.ts';
import { commandOf } from '../probes/node-probe.ts';
import { type LabSite, SiteError } from './lab-site.ts';

/** @throws SiteError, NoCommandError */
export function checkSteps(site: LabSite, steps: readonly CheckStep[]): void {
  for (const { what, node = '' } of steps) {
    if ('link' in what) site.link(what.link);
    if (isGroup(what)) checkSteps(site, what.steps);
    else if (isProbe(what)) {
      const platform = site.platform(node);
      if (what.verb !== 'run') commandOf(what, platform);
      if (what.verb === 'iperf') commandOf(what, site.platform(what.server));
    } else if (what.verb === 'config') site.platform(node);
    else if (what.verb === 'traffic') checkStations(site, what);
    else if ('target' in what) site.node(what.target);
  }
}

function checkStations(site: LabSite, { from, to }: TrafficRun): void {
  const [one, other] = [from, to].map(({ at }) => site.node(at));
  if (one?.compute_id !== other?.compute_id) throw new SiteError(`traffic from ${from.at} to ${to.at}: they are on two computes`);
}
