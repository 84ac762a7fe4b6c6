/** Lets the fabric send traffic, and waits for its figures. */
import { setTimeout as pause } from 'node:timers/promises';
import type { TrafficFlowFigures } from '../../../src/schema/traffic.ts';
import type { Static } from '../../../src/schema/type.ts';
import type { TrafficRun } from '../definition/steps.ts';
import { gapsOf, type StationChoice, type TrafficPattern, type TrafficResult } from '../definition/traffic.ts';
import { type LabSite, SiteError } from './lab-site.ts';
import { type PacketTrain, readReplay } from './read-replay.ts';

type FlowFigures = Static<typeof TrafficFlowFigures>;
const pollMs = 200;

/** Runs a traffic step. @throws SiteError when a router does not answer; ReplayError; RequestError; the reason of the signal */
export async function runTraffic(site: LabSite, run: TrafficRun, seed: number, signal: AbortSignal): Promise<TrafficResult> {
  const { from, to, packets } = run;
  const train = packets.how === 'replay' ? await readReplay(site.base, packets) : patternTrain(packets, seed);
  const station = ({ address, nextHop, vlan }: StationChoice) => ({ address, next_hop: nextHop, vlan });
  const path = `/nodes/${site.node(from.at).node_id}/traffic`;
  let figures = await site.request<FlowFigures>('POST', path, {
    source: station(from),
    sink: { node_id: site.node(to.at).node_id, ...station(to) },
    ...train,
  });
  const flow = `${path}/${figures.traffic_id}`;
  try {
    while (figures.state === 'resolving' || figures.state === 'running') {
      await pause(pollMs, undefined, { signal });
      figures = await site.request<FlowFigures>('GET', flow);
    }
  } finally {
    await site.request('DELETE', flow).catch(() => undefined);
  }
  if (figures.state === 'failed') throw new SiteError(`traffic could not be sent: ${figures.problem}`);
  const { sent, received, reordered, longest_gap_ms: gap, delay_ms } = figures;
  return { sent, received, reordered, gap, delay: delay_ms ?? undefined };
}

function patternTrain(pattern: TrafficPattern, seed: number): PacketTrain {
  return { gaps_us: gapsOf(pattern, seed), sizes: [pattern.size] };
}

export function trafficText({ sent, received, reordered, gap, delay }: TrafficResult): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const delays = delay ? `delay ${ms(delay.p50)} median, ${ms(delay.p99)} p99, ${ms(delay.worst)} worst` : 'nothing arrived';
  return `${received} of ${sent} packets arrived, ${reordered} reordered; ${delays}; longest gap ${ms(gap)}`;
}
