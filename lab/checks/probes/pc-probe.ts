/** Asks a node for its own probes over the HTTP API: it answers with numbers, and nothing is typed at its console. */
import type { NodeProbe, NodeProbeAnswer } from '../../../src/schema/pc-probe.ts';
import type { Probe } from '../definition/steps.ts';
import type { ProbeFinding } from './node-probe.ts';

/** Time limit for answers to connections and names. */
const answerMs = 3000;

/** Undefined: a PC has no such probe of its own. */
export function ownProbeOf(probe: Probe): NodeProbe | undefined {
  switch (probe.verb) {
    case 'ping': {
      const { to, count, intervalMs, timeoutMs, size } = probe.settings;
      return { type: 'ping', to, count, interval_ms: Math.round(intervalMs), timeout_ms: Math.round(timeoutMs), size };
    }
    case 'tcp':
      return { type: 'tcp', to: probe.to, port: probe.port, timeout_ms: answerMs };
    case 'dns':
      return { type: 'resolve', to: probe.host };
    case 'traceroute':
      return { type: 'trace', to: probe.to, hops: probe.hops };
    case 'neighbour':
      return probe.protocol === 'arp' ? { type: 'arp' } : undefined;
    default:
      return undefined;
  }
}

/** Judges the answer to `ownProbeOf`. */
export function judgeOwnProbe(probe: Probe, answer: NodeProbeAnswer): ProbeFinding {
  const found = (problems: readonly string[]) => ({ problems, evidence: describeProbe(answer) });
  const { received = 0, replies = [], hops = [], addresses = [], neighbours = [] } = answer;
  switch (probe.verb) {
    case 'ping': {
      const times = replies.flatMap(({ ms }) => ms ?? []);
      return { ...found(probe.judge({ sent: probe.settings.count, received, times })), arrived: received };
    }
    case 'tcp':
      return found(probe.judge({ isOpen: answer.outcome === 'open' }));
    case 'dns':
      return found(probe.judge({ addresses }));
    case 'traceroute':
      return found(probe.judge({ hops: hops.flatMap(({ from }) => from ?? []) }));
    case 'neighbour':
      return found(probe.judge({ rows: neighbours.map(({ address, mac }) => ({ address: [address], mac: [mac] })) }));
    default:
      throw new Error(`${probe.verb} is no probe of a PC`);
  }
}

const failures: Readonly<Record<NonNullable<NodeProbeAnswer['failure']>, (to: string) => string>> = {
  no_address: () => 'the PC has no address',
  no_gateway: (to) => `the PC has no gateway for ${to}`,
  unreachable: (to) => `host (${to}) not reachable`,
  unresolved: (to) => `${to} cannot be resolved`,
  ended: () => 'the PC has ended',
  busy: () => 'the PC is busy with other probes',
};

/** The answer as lines for people. */
export function describeProbe({ type, to, failure, ...answer }: NodeProbeAnswer): string {
  const time = (ms: number | null | undefined) => (ms === null || ms === undefined ? '' : ` ${ms.toFixed(3)} ms`);
  const { sent, received, replies = [], outcome, hops = [], addresses, neighbours = [] } = answer;
  const lines = [
    ...(failure === null ? [] : [failures[failure](to ?? 'the host')]),
    ...replies.map(
      ({ sequence, ms, from, error }) =>
        `${sequence}: ${error ?? (ms === null ? 'no answer' : 'answered')}${from ? ` by ${from}` : ''}${time(ms)}`,
    ),
    ...(sent === undefined ? [] : [`ping of ${to ?? 'an unknown address'}: ${sent} sent, ${received} received`]),
    ...(outcome === undefined ? [] : [`${type} to ${to}: ${outcome}${time(answer.ms)}`]),
    ...hops.map(({ hop, from, ms }) => `${hop}: ${from ?? 'no answer'}${time(ms)}`),
    ...(addresses === undefined ? [] : [`addresses: ${addresses.join(', ') || 'none'}`]),
    ...neighbours.map(({ address, mac }) => `${address} is at ${mac}`),
  ];
  return lines.join('\n');
}
