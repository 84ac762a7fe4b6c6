/** The route by which a PC answers probes with numbers, without its console. */
import { fault } from '../../api/faults.ts';
import { computeRoute } from '../../api/route.ts';
import { type PcProbe, type ProbeAnswer, pcProbe } from '../../fabric/protocol.ts';
import { NodeProbe, NodeProbeAnswer } from '../../schema/pc-probe.ts';
import type { NodeAccess } from '../driver.ts';
import type { Host } from '../host/host.ts';

const key = 'POST /v2/compute/projects/{project_id}/vpcs/nodes/{node_id}/probe' as const;
const usual = { count: 5, intervalMs: 1000, hops: 8, timeoutMs: 1000 };
/** A packet waits so long for the address of its neighbour. */
const neighbourMs = 4000;
/** All questions about a name, to all servers. */
const lookupMs = 60_000;

export function probeRoute({ pcs }: Host, nodes: NodeAccess) {
  const spec = { summary: 'Let a running PC ping, connect, trace or look up, and answer with numbers', own: true } as const;
  return computeRoute(key, { ...spec, body: NodeProbe, reply: NodeProbeAnswer }, async ({ path, body, signal }) => {
    const { nodeId, name } = nodes.get(path);
    const probe = probeOf(body);
    const problem = pcProbe.problem(probe, body.type);
    if (problem !== undefined) throw fault('invalid_request', { reason: problem });
    const answer = await pcs.probePc(nodeId, probe, { limitMs: limitOf(body), signal });
    if (answer === null) throw fault('node_not_started', { name });
    return presented(body, answer);
  });
}

/** Converts a probe to the fabric's request. Undefined members are left out. */
function probeOf({ type, interval_ms, timeout_ms, ...given }: NodeProbe): PcProbe {
  const { to, count, hops } = given;
  const more = { ...given, ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }) };
  if (type === 'resolve') return { ...without(more, 'to'), type, name: to } as PcProbe;
  if (type === 'trace') return { ...more, type, hops: hops ?? usual.hops } as PcProbe;
  if (type !== 'ping') return { ...more, type } as PcProbe;
  return { ...more, type, count: count ?? usual.count, intervalMs: interval_ms ?? usual.intervalMs } as PcProbe;
}

function without<T extends object, K extends keyof T>(from: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = from;
  return rest;
}

function limitOf({ type, count = usual.count, hops = usual.hops, ...times }: NodeProbe): number {
  const { interval_ms = usual.intervalMs, timeout_ms = usual.timeoutMs } = times;
  const packets = type === 'ping' ? count : type === 'trace' ? hops * 3 : 1;
  return lookupMs + packets * (Math.max(interval_ms, timeout_ms) + neighbourMs);
}

function presented({ type, to }: NodeProbe, answer: ProbeAnswer): NodeProbeAnswer {
  const common = {
    type,
    to: 'to' in answer ? (answer.to ?? null) : (to ?? null),
    failure: ('failure' in answer && answer.failure) || null,
  };
  switch (answer.type) {
    case 'ping': {
      const replies = answer.replies.map(({ sequence, ms = null, ttl = null, from = null, error = null }) => ({
        ...{ sequence, ms, ttl, from, error },
      }));
      return { ...common, sent: answer.sent, received: replies.filter(({ ms }) => ms !== null).length, replies };
    }
    case 'tcp':
    case 'udp':
      return { ...common, outcome: answer.outcome, ms: answer.ms ?? null, error: ('error' in answer && answer.error) || null };
    case 'trace':
      return {
        ...common,
        arrived: answer.arrived,
        hops: answer.hops.map(({ hop, from = null, ms = null }) => ({ hop, from, ms })),
      };
    case 'resolve':
      return { ...common, addresses: [...answer.addresses] };
    case 'addresses':
      return { ...common, addresses: [...answer.addresses], ...(answer.mtu !== undefined && { mtu: answer.mtu }) };
    case 'arp':
      return {
        ...common,
        neighbours: answer.entries.map(({ address, mac, remainingMs }) => ({ address, mac, expires_ms: remainingMs })),
      };
    default:
      return common;
  }
}
