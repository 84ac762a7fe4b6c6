/** Answers the probes of verdicts and agents by the same tasks that run the commands of a console. */
import { isIp6 } from './addresses.ts';
import type { PcHost } from './host.ts';
import { Lookup } from './lookup.ts';
import type { PingReply, ProbeAnswer, ProbeFailure, TraceHop } from './pc-options.ts';
import type { PcProbe } from './pc-shapes.ts';
import { type PingEvent, type PingSpec, PingTask } from './ping-task.ts';
import type { TargetEvent } from './target-task.ts';
import { TraceTask } from './trace-task.ts';

/** Most probes at the same time. */
export const mostProbes = 64;
const usualTimeoutMs = 1000;
const usual: Omit<PingSpec, 'to'> = {
  ...{ mode: 'icmp', count: 1, size: 64, ttl: 64, sport: 0, dport: 7, flags: 0, intervalMs: 1000, timeoutMs: usualTimeoutMs },
};

type PingRequest = Extract<PcProbe, { type: 'ping' | 'tcp' | 'udp' }>;
interface ProbeParts {
  readonly resolve: (answer: ProbeAnswer) => void;
  /** Takes how the probe is ended before it has an answer. */
  readonly onEnd: (stop: () => void) => void;
}

export class Probes {
  readonly #host: PcHost;
  #count = 0;
  /** Ends of probes that run, by their keys. */
  readonly #ends = new Map<string, () => void>();

  constructor(host: PcHost) {
    this.#host = host;
  }

  /** `given`: the key by which `end` ends it. */
  start(request: PcProbe, given?: string): Promise<ProbeAnswer> {
    const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
    this.#count += 1;
    const key = given ?? `${this.#count}`;
    const name = `probe${this.#count}`;
    if (request.type === 'arp') {
      const entries = this.#host.neighbours.entries().filter(({ address }) => !isIp6(address));
      resolve({ type: 'arp', entries });
    } else if (request.type === 'addresses')
      resolve({ type: 'addresses', addresses: ownAddresses(this.#host), mtu: this.#host.settings.mtu });
    else if (this.#ends.size >= mostProbes || this.#ends.has(key)) resolve(failedProbe(request, 'busy'));
    else {
      this.#ends.set(key, () => undefined);
      void promise.then(() => this.#ends.delete(key));
      const onEnd = (stop: () => void) => this.#ends.set(key, stop);
      if (request.type === 'trace') this.#trace(request, name, { resolve, onEnd });
      else if (request.type === 'resolve') this.#resolve(request, name, { resolve, onEnd });
      else this.#ping(request, name, { resolve, onEnd });
    }
    return promise;
  }

  end(key: string): void {
    this.#ends.get(key)?.();
  }

  close(): void {
    for (const end of [...this.#ends.values()]) end();
  }

  #ping(request: PingRequest, key: string, { resolve, onEnd }: ProbeParts): void {
    const spec = specOf(request);
    const events: PingEvent[] = [];
    const answer = (failure: ProbeFailure | undefined) =>
      resolve(answerOf(request, { to: task.to, sent: task.sequence, events, failure }));
    const task = new PingTask({ host: this.#host, key, spec }, (event) => {
      if (isPingEvent(event)) events.push(event);
      else if (event.kind !== 'resolved') answer(failureOf(event));
      // The probe asks only whether the target connects.
      if (request.type === 'tcp' && event.kind === 'reply') task.finish({ kind: 'end' });
    });
    onEnd(() => {
      task.close();
      answer('ended');
    });
    task.start(spec.to);
  }

  #trace(request: Extract<PcProbe, { type: 'trace' }>, key: string, { resolve, onEnd }: ProbeParts): void {
    const { to, hops: most, timeoutMs = usualTimeoutMs, protocol: mode = 'icmp' } = request;
    const hops: TraceHop[] = [];
    const answer = (arrived: boolean, failure: ProbeFailure | undefined) =>
      resolve({ type: 'trace', to: task.to, hops, arrived, ...(failure ? { failure } : {}) });
    const task = new TraceTask({ host: this.#host, key, spec: { to, hops: most, timeoutMs, mode } }, (event) => {
      if (event.kind === 'hop') {
        const { hop, from, ms } = event;
        const found = { hop, ...(from === undefined || ms === undefined ? {} : { from, ms }) };
        const known = hops.findIndex((each) => each.hop === hop);
        if (known < 0) hops.push(found);
        else if (hops[known]?.from === undefined) hops[known] = found;
      } else if (event.kind === 'error') hops.push({ hop: event.hop, from: event.error.from, ms: event.ms });
      else if (event.kind !== 'begin' && event.kind !== 'line' && event.kind !== 'resolved')
        answer(event.kind === 'arrived', failureOf(event));
    });
    onEnd(() => {
      task.close();
      answer(false, 'ended');
    });
    task.start(to);
  }

  #resolve({ name }: Extract<PcProbe, { type: 'resolve' }>, key: string, { resolve, onEnd }: ProbeParts): void {
    const host = this.#host;
    const timer = `task ${key} lookup`;
    const end = (addresses: readonly string[], failure: ProbeFailure) => {
      host.clearTask(key);
      host.timers.clear(timer);
      resolve({ type: 'resolve', addresses, ...(addresses.length ? {} : { failure }) });
    };
    const lookup = new Lookup(host, name, timer, (addresses) => end(addresses, 'unresolved'));
    onEnd(() => end([], 'ended'));
    host.setTask(key, { onTimer: () => lookup.onTimer(), onPacket: (packet) => lookup.onPacket(packet) });
    lookup.onTimer();
  }
}

/** Addresses with their prefixes: IPv4, IPv6, link-local. */
function ownAddresses({ settings: { ip4, ip6 }, linkLocal }: PcHost): readonly string[] {
  const own = [ip4, ip6].flatMap((setting) => (setting ? [`${setting.address}/${setting.prefix}`] : []));
  return [...own, `${linkLocal}/64`];
}

function specOf(request: PingRequest): PingSpec {
  const { to, timeoutMs = usualTimeoutMs } = request;
  if (request.type === 'tcp') return { ...usual, to, timeoutMs, mode: 'tcp', dport: request.port };
  if (request.type === 'udp')
    return { ...usual, to, timeoutMs, mode: 'udp', dport: request.port, size: request.size ?? usual.size };
  const { count, intervalMs, size = usual.size, ttl = usual.ttl } = request;
  return { ...usual, to, timeoutMs, count, intervalMs, size, ttl };
}

const isPingEvent = (event: PingEvent | TargetEvent): event is PingEvent =>
  ['reply', 'error', 'timeout', 'reset'].includes(event.kind);

function failureOf(event: TargetEvent | { readonly kind: 'begin' | 'line' | 'arrived' }): ProbeFailure | undefined {
  if (event.kind === 'failed') return event.failure;
  return event.kind === 'unresolved' || event.kind === 'unreachable' ? event.kind : undefined;
}

function answerOf(
  { type }: PingRequest,
  { to, sent, events, failure: why }: { to: string; sent: number; events: readonly PingEvent[]; failure: ProbeFailure | undefined },
): ProbeAnswer {
  const common = { ...(to === '' ? {} : { to }), ...(why ? { failure: why } : {}) };
  if (type === 'ping') return { type, sent, replies: events.map(replyOf), ...common };
  const [first] = events;
  const ms = first && 'ms' in first ? { ms: first.ms } : {};
  if (type === 'tcp') {
    const outcome = ({ reply: 'open', reset: 'refused', timeout: 'timeout', error: 'error' } as const)[first?.kind ?? 'timeout'];
    return { type, outcome, ...ms, ...common };
  }
  const error = first?.kind === 'error' ? { error: first.error.text } : {};
  return {
    type,
    outcome: first?.kind === 'reply' ? 'answered' : first?.kind === 'error' ? 'error' : 'timeout',
    ...ms,
    ...error,
    ...common,
  };
}

function replyOf(event: PingEvent): PingReply {
  const { sequence } = event;
  if (event.kind === 'reply') return { sequence, ms: event.ms, ttl: event.ttl, from: event.from };
  return event.kind === 'error' ? { sequence, error: event.error.text, from: event.error.from } : { sequence };
}

/** The answer to a probe that was not begun. */
export function failedProbe({ type }: PcProbe, failure: ProbeFailure): ProbeAnswer {
  if (type === 'arp') return { type, entries: [] };
  if (type === 'addresses') return { type, addresses: [] };
  if (type === 'ping') return { type, sent: 0, replies: [], failure };
  if (type === 'trace') return { type, hops: [], arrived: false, failure };
  return type === 'resolve' ? { type, addresses: [], failure } : { type, outcome: 'timeout', failure };
}
