/** `ping`: its options, and the lines that it prints. */

import { isIp6, readAddress } from './addresses.ts';
import type { PcCommand } from './commands.ts';
import type { SendFailure } from './host.ts';
import { type PingEvent, type PingPosition, type PingSpec, PingTask } from './ping-task.ts';
import { type PcJob, type PcShell, shellTimer } from './shell.ts';
import type { TargetEvent } from './target-task.ts';
import { helpTexts } from './texts.ts';

const defaults: Omit<PingSpec, 'to'> = {
  ...{ mode: 'icmp', count: 5, size: 64, ttl: 64, sport: 0, dport: 7, flags: 0, intervalMs: 1000, timeoutMs: 1000 },
};
/** Largest data of a datagram of 65,535 bytes with headers of IPv4 and UDP; larger sizes become this. */
const mostData = 65_507;
const numbers = {
  '-c': 'count',
  '-l': 'size',
  '-T': 'ttl',
  '-s': 'sport',
  '-p': 'dport',
  '-i': 'intervalMs',
  '-w': 'timeoutMs',
} as const;
const most = {
  count: 2 ** 31,
  size: mostData,
  ttl: 255,
  sport: 65_535,
  dport: 65_535,
  intervalMs: 86_400_000,
  timeoutMs: 86_400_000,
};
const flagLetters = 'FSRPAUEC';

export const ping: PcCommand = (shell, words) => {
  const [to, ...rest] = words;
  if (to === undefined) {
    shell.print(helpTexts.ping ?? '');
    return 'done';
  }
  const spec = readOptions(to, rest);
  if (!spec) {
    shell.print('Invalid options\n');
    return 'done';
  }
  // A count of zero that was typed; until Ctrl-C is `-t`.
  if (spec.count === 0 && !rest.includes('-t')) return 'done';
  pinging(shell, spec);
  return 'started';
};

/** Undefined: an option is not known, or its value is wrong. */
export function readOptions(to: string, words: readonly string[]): PingSpec | undefined {
  const spec: { -readonly [K in keyof PingSpec]: PingSpec[K] } = { ...defaults, to };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const value = words[at + 1];
    const name = numbers[word as keyof typeof numbers];
    const mode =
      { '-1': 'icmp', '-2': 'udp', '-3': 'tcp' }[word] ??
      (word === '-P' ? ({ 17: 'udp', 6: 'tcp' }[value ?? ''] ?? 'icmp') : undefined);
    if (mode !== undefined) spec.mode = mode as PingSpec['mode'];
    else if (word === '-t') spec.count = 0;
    else if (word === '-f') spec.flags = readFlags(value ?? '');
    else if (name === undefined) return undefined;
    if (name !== undefined && value !== undefined) {
      if (!/^\d{1,12}$/.test(value)) return undefined;
      spec[name] = Math.min(Number(value), most[name]);
    }
    if (word === '-P' || word === '-f' || name !== undefined) at += 1;
    if (word === '-f' && spec.flags === 0) return undefined;
  }
  if (words.includes('-t')) spec.count = 0;
  return { ...spec, ttl: spec.ttl || 64, mode: spec.mode === 'tcp' && spec.flags > 0 ? 'flags' : spec.mode };
}

function readFlags(letters: string): number {
  const bits = Array.from(letters.toUpperCase(), (letter) => flagLetters.indexOf(letter));
  return bits.includes(-1) ? 0 : bits.reduce((flags, bit) => flags | (1 << bit), 0);
}

export function pinging(shell: PcShell, spec: PingSpec, position?: PingPosition): void {
  const report = (event: PingEvent | TargetEvent) => {
    shell.print(describePing(spec, event));
    const isLast = ['end', 'unresolved', 'unreachable', 'failed'].includes(event.kind);
    if (isLast) shell.finish();
  };
  const task = new PingTask({ host: shell.host, key: shellTimer, spec }, report);
  const job: PcJob = { interrupt: () => task.close(), state: () => ({ kind: 'ping', spec, position: task.position() }) };
  shell.setJob(job);
  if (position?.to) task.restore(position);
  else {
    if (isIp6(readAddress(spec.to) ?? '')) shell.print('\n');
    task.start(spec.to);
  }
}

function describePing(spec: PingSpec, event: PingEvent | TargetEvent): string {
  if (event.kind === 'reply' || event.kind === 'timeout' || event.kind === 'reset' || event.kind === 'error')
    return `${describeOutcome(spec, event)}\n`;
  return describeTarget(spec.to, event);
}

function describeOutcome(spec: PingSpec, event: PingEvent): string {
  const name = { icmp: 'icmp', udp: 'udp', tcp: 'tcp', flags: 'tcp' }[spec.mode];
  const to = readAddress(spec.to) ?? spec.to;
  const six = event.kind === 'error' ? isIp6(event.error.from) : isIp6(event.kind === 'reply' ? event.from : to);
  const sequence = `${name}${six ? '6' : ''}_seq=${event.sequence}`;
  if (event.kind === 'error') {
    const { from, ttl, type, code, text } = event.error;
    return `*${from} ${sequence} ttl=${ttl} time=${event.ms.toFixed(3)} ms (ICMP type:${type}, code:${code}, ${text})`;
  }
  if (event.stage !== undefined) {
    const stage = `${event.stage.padEnd(9)} ${spec.dport}@${to}`;
    if (event.kind !== 'reply') return `${stage} ${event.kind === 'reset' ? 'RST returned' : 'timeout'}`;
    return `${stage} seq=${event.sequence} ttl=${event.ttl} time=${event.ms.toFixed(3)} ms`;
  }
  return event.kind === 'reply'
    ? `${event.from} ${sequence} ttl=${event.ttl} time=${event.ms.toFixed(3)} ms`
    : `${to} ${sequence} timeout`;
}

/** Lines about a target that is not reached. */
export function describeTarget(to: string, event: TargetEvent | { readonly kind: string }): string {
  if (event.kind === 'resolved' && 'name' in event) return `${event.name} resolved to ${event.address}\n`;
  if (event.kind === 'unresolved') return `Cannot resolve ${to}\n`;
  if (event.kind === 'unreachable') return `host (${to}) not reachable\n`;
  if (event.kind === 'failed' && 'failure' in event) return describeFailure(to, event.failure);
  return '';
}

function describeFailure(to: string, failure: SendFailure): string {
  return failure === 'no_gateway'
    ? 'No gateway found\n'
    : `host (${to}) not reachable: this PC has no address, set one with "ip"\n`;
}
