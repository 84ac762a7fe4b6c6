/** Answers the probes of verdicts and agents by the same tasks that run the commands of a console. */
import type { PcHost } from './host.ts';
import { Lookup } from './lookup.ts';
import type { PingReply, ProbeAnswer, ProbeFailure, TraceHop } from './pc-options.ts';
import type { PcProbe } from './pc-shapes.ts';
import { type PingEvent, type PingSpec, PingTask } from './ping-task.ts';
import type { TargetEvent } from './target-task.ts';
import { TraceTask } from './trace-task.ts';

/** At the same time. */
const mostProbes = 64;
const usualTimeoutMs = 1000;
const usual: Omit<PingSpec, 'to'> = {
  ...{ mode: 'icmp', count: 1, size: 64, ttl: 64, sport: 0, dport: 7, flags: 0, intervalMs: 1000, timeoutMs: usualTimeoutMs },
};

export class Probes {
  readonly #host: PcHost;
  #count = 0;
  #ends = new Set<() => void>();

  constructor(host: PcHost) {
    this.#host = host;
  }

  start(request: PcProbe): Promise<ProbeAnswer> {
    const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
    this.#count += 1;
    const key = `probe${this.#count}`;
    if (request.type === 'arp')
      resolve({ type: 'arp', entries: this.#host.neighbours.entries().filter(({ address }) => !address.includes(':')) });
    else if (request.type === 'addresses') resolve({ type: 'addresses', addresses: this.#addresses() });
    else if (this.#ends.size >= mostProbes) resolve(failed(request, 'busy'));
    else {
      const end = () => resolve(failed(request, 'ended'));
      this.#ends.add(end);
      void promise.then(() => this.#ends.delete(end));
      if (request.type === 'trace') this.#trace(request, key, resolve);
      else if (request.type === 'resolve') this.#resolve(request, key, resolve);
      else this.#ping(request, key, resolve);
    }
    return promise;
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  #ping(request: Extract<PcProbe, { type: 'ping' | 'tcp' | 'udp' }>, key: string, resolve: (answer: ProbeAnswer) => void): void {
    const spec = specOf(request);
    const events: PingEvent[] = [];
    let failure: ProbeFailure | undefined;
    const task = new PingTask({ host: this.#host, key, spec }, (event) => {
      if (isPingEvent(event)) events.push(event);
      else if (event.kind === 'end' || event.kind !== 'resolved') {
        failure = failureOf(event);
        resolve(answerOf(request, { to: task.to, sent: task.sequence, events, failure }));
      }
      // Only whether it connects is asked.
      if (request.type === 'tcp' && event.kind === 'reply') task.finish({ kind: 'end' });
    });
    task.start(spec.to);
  }

  #trace(request: Extract<PcProbe, { type: 'trace' }>, key: string, resolve: (answer: ProbeAnswer) => void): void {
    const { to, hops: most, timeoutMs = usualTimeoutMs, protocol: mode = 'icmp' } = request;
    const hops: TraceHop[] = [];
    const task = new TraceTask({ host: this.#host, key, spec: { to, hops: most, timeoutMs, mode } }, (event) => {
      if (event.kind === 'hop') {
        const { hop, from, ms } = event;
        const known = hops.find((each) => each.hop === hop);
        if (!known) hops.push({ hop, ...(from === undefined || ms === undefined ? {} : { from, ms }) });
        else if (known.from === undefined && from !== undefined)
          hops.splice(hops.indexOf(known), 1, { hop, from, ...(ms === undefined ? {} : { ms }) });
      } else if (event.kind === 'error') hops.push({ hop: event.hop, from: event.error.from, ms: event.ms });
      else if (event.kind !== 'begin' && event.kind !== 'line' && event.kind !== 'resolved') {
        const failure = failureOf(event);
        resolve({ type: 'trace', to: task.to, hops, arrived: event.kind === 'arrived', ...(failure ? { failure } : {}) });
      }
    });
    task.start(to);
  }

  #resolve({ name }: Extract<PcProbe, { type: 'resolve' }>, key: string, resolve: (answer: ProbeAnswer) => void): void {
    const lookup = new Lookup(this.#host, name, `task ${key} lookup`, (addresses) => {
      this.#host.clearTask(key);
      resolve({ type: 'resolve', addresses, ...(addresses.length ? {} : { failure: 'unresolved' as const }) });
    });
    this.#host.setTask(key, { onTimer: () => lookup.onTimer(), onPacket: (packet) => lookup.onPacket(packet) });
    lookup.onTimer();
  }

  #addresses(): Extract<ProbeAnswer, { type: 'addresses' }>['addresses'] {
    const { name, mtu, ip4, ip6, router6, dns, dns6 = [] } = this.#host.settings;
    const gateway6 = ip6?.gateway ?? router6?.address;
    const six = ip6 && { address: ip6.address, prefix: ip6.prefix, ...(gateway6 === undefined ? {} : { gateway: gateway6 }) };
    const { mac, linkLocal } = this.#host;
    return { name, mac, linkLocal, mtu, dns: [...dns, ...dns6], ...(ip4 ? { ip4 } : {}), ...(six ? { ip6: six } : {}) };
  }
}

function specOf(request: Extract<PcProbe, { type: 'ping' | 'tcp' | 'udp' }>): PingSpec {
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
  { type }: Extract<PcProbe, { type: 'ping' | 'tcp' | 'udp' }>,
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

function failed({ type }: Exclude<PcProbe, { type: 'arp' | 'addresses' }>, failure: ProbeFailure): ProbeAnswer {
  if (type === 'ping') return { type, sent: 0, replies: [], failure };
  if (type === 'trace') return { type, hops: [], arrived: false, failure };
  return type === 'resolve' ? { type, addresses: [], failure } : { type, outcome: 'timeout', failure };
}
