/**
 * Compiles a step's expectations to functions of its result. Each returns one sentence per failure, and nothing when all
 * expectations hold.
 */

import { isDeepStrictEqual } from 'node:util';
import { type JSONPathQuery, jsonpath } from 'json-p3';
import { type CheckPath, placed } from './check-error.ts';
import { parseJsonOutput } from './json-output.ts';
import { isWithin, type Measure, type Range, readRange } from './quantities.ts';
import type {
  CapturedPackets,
  DnsResult,
  HttpResult,
  IperfResult,
  PingResult,
  RunResult,
  TcpResult,
  TracerouteResult,
} from './results.ts';
import type { StepExpect } from './step-schema.ts';

export type Judge<Result> = (result: Result) => string[];

/** Fields of `expect` by verb. */
export const expectFields = {
  run: ['text', 'not_text', 'match', 'not_match', 'exit_code', 'json'],
  ping: ['loss', 'received', 'rtt', 'rtt_max'],
  tcp: ['open'],
  http: ['status', 'body'],
  dns: ['address', 'resolves'],
  traceroute: ['via', 'not_via', 'reached'],
  iperf: ['rate'],
  route: ['present', 'via', 'interface', 'protocol', 'metric'],
  neighbour: ['present', 'state', 'interface'],
  capture: ['packets', 'senders'],
  traffic: ['loss', 'received', 'delay', 'delay_p99', 'delay_max', 'gap', 'reordered'],
} as const satisfies Record<string, readonly (keyof StepExpect)[]>;
export type ProbeVerb = keyof typeof expectFields;

const reader = (expect: StepExpect, path: CheckPath) => ({
  range: (field: keyof StepExpect, measure: Measure, byDefault?: string): Range | undefined => {
    const given = expect[field] as string | number | undefined;
    const text = given ?? byDefault;
    return text === undefined ? undefined : placed([...path, field], () => readRange(text, measure));
  },
  pattern: (field: keyof StepExpect): RegExp | undefined => {
    const given = expect[field] as string | undefined;
    return given === undefined ? undefined : placed([...path, field], () => new RegExp(given, 'm'));
  },
});

export const outside = (what: string, range: Range | undefined, value: number | undefined, unit = ''): string[] => {
  if (!range || (value !== undefined && isWithin(range, value))) return [];
  return [`${what} is ${value === undefined ? 'unknown' : `${round(value)}${unit}`}, expected ${range.text}`];
};

export function rangeOf(expect: StepExpect, path: CheckPath, field: keyof StepExpect, measure: Measure): Range | undefined {
  return reader(expect, path).range(field, measure);
}

/** Compiles the expectations of `run`. The exit code is compared where the platform reports one. */
export function judgeRun(expect: StepExpect, path: CheckPath): Judge<RunResult> {
  const { text, not_text, exit_code = 0 } = expect;
  const { pattern } = reader(expect, path);
  const [match, notMatch] = [pattern('match'), pattern('not_match')];
  const json = expect.json && judgeJson(expect.json, [...path, 'json']);
  return ({ output, exitCode }) => [
    ...(text !== undefined && !output.includes(text) ? [`the output lacks ${quote(text)}`] : []),
    ...(not_text !== undefined && output.includes(not_text) ? [`the output contains ${quote(not_text)}`] : []),
    ...(match && !match.test(output) ? [`the output does not match ${match}`] : []),
    ...(notMatch?.test(output) ? [`the output matches ${notMatch}`] : []),
    ...(exitCode !== undefined && exitCode !== exit_code ? [`the exit code is ${exitCode}, expected ${exit_code}`] : []),
    ...(exitCode === undefined && expect.exit_code !== undefined ? ['the platform reports no exit codes'] : []),
    ...(json?.(output) ?? []),
  ];
}

function judgeJson({ path: query, equals, matches }: NonNullable<StepExpect['json']>, path: CheckPath): Judge<string> {
  const compiled: JSONPathQuery = placed([...path, 'path'], () => jsonpath.compile(query));
  const pattern = matches === undefined ? undefined : placed([...path, 'matches'], () => new RegExp(matches));
  return (output) => {
    const value = parseJsonOutput(output);
    if (value === undefined) return ['the output is not JSON'];
    const values = compiled.query(value.json).values();
    const isRight = (one: unknown) =>
      (equals === undefined || isDeepStrictEqual(one, equals)) &&
      (pattern?.test(typeof one === 'string' ? one : JSON.stringify(one)) ?? true);
    if (values.some(isRight)) return [];
    if (values.length === 0) return [`${query} selects nothing`];
    const wanted = [...(equals === undefined ? [] : [JSON.stringify(equals)]), ...(pattern ? [String(pattern)] : [])].join(' and ');
    return [`${query} is ${JSON.stringify(values).slice(1, -1).slice(0, 200)}, expected ${wanted}`];
  };
}

export function judgePing(expect: StepExpect, path: CheckPath): Judge<PingResult> {
  const { range } = reader(expect, path);
  const isLossGiven = expect.loss !== undefined || expect.received === undefined;
  const loss = isLossGiven ? range('loss', 'percent', '0%') : undefined;
  const [received, rtt, longest] = [range('received', 'count'), range('rtt', 'time'), range('rtt_max', 'time')];
  return (result) => {
    const times = result.times.toSorted((one, other) => one - other);
    const lost = result.sent === 0 ? 100 : (100 * (result.sent - Math.min(result.sent, result.received))) / result.sent;
    return [
      ...outside('loss', loss, lost, '%'),
      ...outside('the number of answers', received, result.received),
      ...outside('the median round trip', rtt, times[Math.floor(times.length / 2)], 'ms'),
      ...outside('the longest round trip', longest, times.at(-1), 'ms'),
    ];
  };
}

/** Numbers of arrived packets that a step accepts. */
export interface CountRanges {
  /** Percent. */
  readonly loss: Range | undefined;
  readonly received: Range | undefined;
  /** Whether the step judges times as well, which requires an arrival. */
  readonly needsOne: boolean;
}

/** Returns the ranges by which `judgePing` and `judgeTraffic` judge counts. */
export function countRanges(expect: StepExpect, path: CheckPath): CountRanges {
  const { range } = reader(expect, path);
  const isLossGiven = expect.loss !== undefined || expect.received === undefined;
  const times = ['rtt', 'rtt_max', 'delay', 'delay_p99', 'delay_max'] as const;
  return {
    loss: isLossGiven ? range('loss', 'percent', '0%') : undefined,
    received: range('received', 'count'),
    needsOne: times.some((field) => expect[field] !== undefined),
  };
}

export function judgeTcp({ open = true }: StepExpect): Judge<TcpResult> {
  return ({ isOpen }) => (isOpen === open ? [] : [isOpen ? 'the port accepts connections' : 'the port accepts no connections']);
}

export function judgeHttp(expect: StepExpect, path: CheckPath): Judge<HttpResult> {
  const { range, pattern } = reader(expect, path);
  const [status, body] = [range('status', 'count', '200'), pattern('body')];
  return ({ status: found, text }) => {
    if (found === undefined) return ['there was no answer'];
    return [...outside('the status', status, found), ...(body && !body.test(text) ? [`the answer does not match ${body}`] : [])];
  };
}

export function judgeDns({ address, resolves = true }: StepExpect): Judge<DnsResult> {
  return ({ addresses }) => {
    if (!resolves) return addresses.length > 0 ? [`the name has the address ${addresses.join(', ')}`] : [];
    if (addresses.length === 0) return ['the name has no address'];
    return address === undefined || addresses.includes(address)
      ? []
      : [`the address is ${addresses.join(', ')}, expected ${address}`];
  };
}

export function judgeTraceroute({ via = [], not_via, reached = true }: StepExpect, to: string): Judge<TracerouteResult> {
  return ({ hops }) => {
    let at = 0;
    const missing = via.find((hop) => {
      at = hops.indexOf(hop, at) + 1;
      return at === 0;
    });
    const route = hops.join(', ') || 'empty';
    return [
      ...(missing === undefined ? [] : [`${missing} is not on the route in this order: ${route}`]),
      ...(not_via !== undefined && hops.includes(not_via) ? [`${not_via} is on the route: ${route}`] : []),
      ...(hops.includes(to) === reached ? [] : [`${to} was ${reached ? 'not ' : ''}reached: ${route}`]),
    ];
  };
}

export function judgeIperf(expect: StepExpect, path: CheckPath): Judge<IperfResult> {
  const rate = reader(expect, path).range('rate', 'rate', '> 0');
  return (result) => outside('the rate', rate, result.rate, 'kbit');
}

export function judgeCapture(expect: StepExpect, path: CheckPath): Judge<CapturedPackets> {
  const { range } = reader(expect, path);
  const packets = range('packets', 'count', expect.senders === undefined ? '>= 1' : undefined);
  const senders = range('senders', 'count');
  return (found) => [
    ...outside('the number of matching packets', packets, found.packets),
    ...outside('the number of their senders', senders, found.senders),
  ];
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}
