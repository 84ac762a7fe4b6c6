/** Runs a probe at the console of a node, by the commands of its platform. */
import type { CommandShell } from '../console/command-shell.ts';
import { ConsoleError } from '../console/console-connection.ts';
import type { ConsolePlatform } from '../console/platforms.ts';
import type { PingResult } from '../definition/results.ts';
import type { Probe } from '../definition/steps.ts';
import {
  readDnsOutput,
  readHttpOutput,
  readIperfOutput,
  readPingOutput,
  readTcpOutput,
  readTracerouteOutput,
} from './read-output.ts';
import { readTable } from './read-table.ts';

export interface ProbeFinding {
  /** Failures, one sentence each; empty: the expectations hold. */
  readonly problems: readonly string[];
  /** Observed output. */
  readonly evidence: string;
  /** Packets of a ping that arrived. */
  readonly arrived?: number;
}

export interface ProbeSite {
  readonly console: CommandShell;
  readonly platform: ConsolePlatform;
  /** Runs a command at another node. */
  readonly runAt: (node: string, command: (platform: ConsolePlatform) => string) => Promise<void>;
}

/** Error of the lab file: the platform of a node has no command for a probe. */
export class NoCommandError extends Error {
  override readonly name = 'NoCommandError';
}

/** Most pings before those that count: with a loss of 60 % all of them fail once in 300,000 times. */
export const mostResolutions = 25;
export const longestResolutionMs = 6_000;

/** Time limit for answers to connections and names, seconds. */
const answerSeconds = 3;

/** Runs a probe. @throws ConsoleError, NoCommandError */
export async function runProbe(probe: Probe, site: ProbeSite, signal: AbortSignal): Promise<ProbeFinding> {
  if (probe.verb === 'run') {
    const result = await site.console.run(probe.command, signal);
    return { problems: probe.judge(result), evidence: result.output };
  }
  if (probe.verb === 'iperf') {
    await site.runAt(probe.server, (platform) => described(platform, 'iperf').server);
  }
  const command = commandOf(probe, site.platform);
  const { output, exitCode } = await site.console.run(command, signal);
  refuseMissing(probe.verb, exitCode, output);
  const arrived = probe.verb === 'ping' && { arrived: pingResult(probe, site.platform, output).received };
  return { problems: judge(probe, site.platform, output), evidence: output, ...arrived };
}

type PingProbe = Extract<Probe, { verb: 'ping' }>;

/** Pings until the first answer, because not every host retries address resolution, and its loss is not the packets'. */
export async function resolveAddress(probe: PingProbe, site: ProbeSite, signal: AbortSignal): Promise<void> {
  const one = { ...probe, settings: { ...probe.settings, count: 1 } };
  const end = performance.now() + longestResolutionMs;
  for (let tries = 0; tries < mostResolutions && performance.now() < end; tries += 1) {
    const { output, exitCode } = await site.console.run(commandOf(one, site.platform), signal);
    refuseMissing(probe.verb, exitCode, output);
    if (pingResult(one, site.platform, output).received > 0) return;
  }
}

function pingResult({ settings }: PingProbe, platform: ConsolePlatform, output: string): PingResult {
  return readPingOutput(described(platform, 'ping'), output, settings.count);
}

/** Exit code of a shell for a program that it does not find. */
const notFound = 127;

/** Throws for a missing program, which is not a closed port or a lost packet. @throws ConsoleError */
export function refuseMissing(verb: Probe['verb'], exitCode: number | undefined, output: string): void {
  if (exitCode !== notFound) return;
  const line = output.split('\n').findLast((one) => one.includes('not found')) ?? 'its command was not found';
  throw new ConsoleError(
    `${verb} cannot be carried out, as the node lacks the program: ${line.trim()}. Install it, or use another node`,
  );
}

/** Returns the platform's command for a probe. @throws NoCommandError */
export function commandOf(probe: Exclude<Probe, { verb: 'run' }>, platform: ConsolePlatform): string {
  const { command } = probe.verb === 'neighbour' ? neighbourTable(platform, probe.protocol) : described(platform, probe.verb);
  return command.replaceAll(/\{(\w+)\}/g, (_placeholder, name: string) => String(valuesOf(probe)[name] ?? ''));
}

function valuesOf(probe: Exclude<Probe, { verb: 'run' }>): Readonly<Record<string, string | number>> {
  const timeout = { timeout_s: answerSeconds, timeout_ms: answerSeconds * 1000 };
  switch (probe.verb) {
    case 'ping': {
      const { to, count, intervalMs, timeoutMs, size } = probe.settings;
      return {
        ...{ to, count, size, interval_ms: Math.round(intervalMs), interval_s: intervalMs / 1000 },
        ...{ timeout_ms: Math.round(timeoutMs), timeout_s: Math.max(1, Math.ceil(timeoutMs / 1000)) },
      };
    }
    case 'tcp':
      return { ...timeout, to: probe.to, port: probe.port };
    case 'http':
      // Inside single quotes only the single quote itself has a meaning, so the others of a URL need no escape.
      return { ...timeout, url: `'${probe.url.replaceAll("'", '%27')}'` };
    case 'dns': {
      const { host, server } = probe;
      return { ...timeout, host, server: server ?? '', at_server: server === undefined ? '' : `@${server}` };
    }
    case 'traceroute':
      return { ...timeout, to: probe.to, hops: probe.hops };
    case 'route':
      return routeValues(probe.to);
    case 'neighbour':
      return { address: probe.address };
    case 'iperf':
      return { to: probe.to, seconds: probe.seconds };
  }
}

/** Returns a prefix in the forms of all platforms: some take the network and its mask as two words. */
function routeValues(to: string): Readonly<Record<string, string>> {
  const [address = '', bits = '32'] = to === 'default' ? ['0.0.0.0', '0'] : to.split('/');
  const ones = 0xffff_ffff * 2 ** (32 - Number(bits));
  const mask = [24, 16, 8, 0].map((shift) => Math.floor(ones / 2 ** shift) % 256).join('.');
  return { to, network: address, mask };
}

function judge(probe: Exclude<Probe, { verb: 'run' }>, platform: ConsolePlatform, output: string): string[] {
  switch (probe.verb) {
    case 'ping':
      return probe.judge(pingResult(probe, platform, output));
    case 'tcp':
      return probe.judge(readTcpOutput(described(platform, 'tcp'), output));
    case 'http':
      return probe.judge(readHttpOutput(described(platform, 'http'), output));
    case 'dns':
      return probe.judge(readDnsOutput(described(platform, 'dns'), output));
    case 'traceroute':
      return probe.judge(readTracerouteOutput(described(platform, 'traceroute'), output));
    case 'route':
      return probe.judge(readTable(described(platform, 'route'), output));
    case 'neighbour':
      return probe.judge(readTable(neighbourTable(platform, probe.protocol), output));
    case 'iperf':
      return probe.judge(readIperfOutput(described(platform, 'iperf'), output));
  }
}

function neighbourTable(platform: ConsolePlatform, protocol: string) {
  const tables = described(platform, 'neighbour');
  const found = Object.hasOwn(tables, protocol) ? tables[protocol] : undefined;
  if (found) return found;
  throw new NoCommandError(
    `the platform ${platform.name} has no table of neighbours of ${protocol}. It has: ${Object.keys(tables).join(', ')}`,
  );
}

function described<Verb extends Exclude<Probe['verb'], 'run'>>(
  platform: ConsolePlatform,
  verb: Verb,
): NonNullable<ConsolePlatform[Verb]> {
  const found = platform[verb];
  if (found === undefined) throw new NoCommandError(`the platform ${platform.name} has no command for ${verb}`);
  return found;
}
