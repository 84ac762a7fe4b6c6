/** Parses the output of a platform's ping, traceroute and similar commands. */
import type { ConsolePlatform } from '../console/platforms.ts';
import type { DnsResult, HttpResult, IperfResult, PingResult, TcpResult, TracerouteResult } from '../definition/results.ts';

type Described<Verb extends keyof ConsolePlatform> = NonNullable<ConsolePlatform[Verb]>;

/** Parses ping output. `sent`: the requested number of packets, used unless the output has a summary. */
export function readPingOutput({ reply, summary }: Described<'ping'>, output: string, sent: number): PingResult {
  const found = summary === undefined ? undefined : new RegExp(summary, 'm').exec(output)?.groups;
  if (found) {
    const times = found.rtt === undefined ? [] : [Number(found.rtt)];
    return { sent: Number(found.sent ?? sent), received: Number(found.received ?? 0), times };
  }
  const times = groups(reply, output).map(Number);
  return { sent, received: times.length, times };
}

export function readTcpOutput({ open }: Described<'tcp'>, output: string): TcpResult {
  return { isOpen: new RegExp(open, 'm').test(output) };
}

/** Parses an HTTP status; after redirections the last one counts. */
export function readHttpOutput({ status }: Described<'http'>, output: string): HttpResult {
  const found = groups(status, output).at(-1);
  return { status: found === undefined ? undefined : Number(found), text: output };
}

export function readDnsOutput({ address, after }: Described<'dns'>, output: string): DnsResult {
  const start = after === undefined ? -1 : output.search(new RegExp(after, 'm'));
  return { addresses: [...new Set(groups(address, start < 0 ? output : output.slice(start)))] };
}

export function readTracerouteOutput({ hop }: Described<'traceroute'>, output: string): TracerouteResult {
  return { hops: groups(hop, output) };
}

export function readIperfOutput({ rate }: Described<'iperf'>, output: string): IperfResult {
  const found = groups(rate, output).at(-1);
  return { rate: found === undefined ? undefined : Number(found) };
}

/** Returns the first group of each match. */
function groups(pattern: string, output: string): string[] {
  return Array.from(output.matchAll(new RegExp(pattern, 'gm')), (match) => match[1] ?? '');
}
