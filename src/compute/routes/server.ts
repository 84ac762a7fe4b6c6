/** Routes by which a controller manages the compute as a whole. */
import { readFile } from 'node:fs/promises';
import { arch, cpus, freemem, networkInterfaces, release, totalmem, type } from 'node:os';
import { isOwnAgent } from '../../api/own-agent.ts';
import { computeRoute, Stream } from '../../api/route.ts';
import { listInterfaces } from '../../emulators/port-processes/interfaces.ts';
import { named } from '../../schema/common.ts';
import { Capabilities, linkFeatures } from '../../schema/compute.ts';
import { Finding } from '../../schema/finding.ts';
import { ComputeFidelity, HostStatistics, NetworkInterface, TakenPorts } from '../../schema/host.ts';
import type { Settings } from '../../schema/settings.ts';
import { Type } from '../../schema/type.ts';
import { hostSize } from '../host/host-size.ts';
import type { Ports } from '../host/ports.ts';
import type { ComputeRouteContext } from './route-context.ts';

const ServerVersion = Type.Object({ version: Type.String(), local: Type.Boolean() }, named('ServerVersion'));

export function serverRoutes({ context, fabric, figures, findings, host, version }: ComputeRouteContext) {
  const { settings, ports, drivers } = context;
  const { Server } = settings;
  return [
    computeRoute('GET /v2/compute/version', { summary: 'Version of the server', reply: ServerVersion }, () => ({
      version,
      local: Server.local,
    })),
    computeRoute(
      'GET /v2/compute/capabilities',
      { summary: 'What kinds of nodes this compute can make', reply: Capabilities },
      async ({ userAgent }) => ({
        version,
        platform: process.platform,
        node_types: [...drivers.keys()],
        ...(isOwnAgent(userAgent) && { ...ownCapabilities(Server), machine_taps: await host.linkNamespace.isLikely() }),
      }),
    ),
    computeRoute(
      'GET /v2/compute/doctor',
      { summary: 'What of this host can be used, and what is missing; kept for a minute', reply: Type.Array(Finding), own: true },
      () => findings(),
    ),
    computeRoute(
      'GET /v2/compute/fidelity',
      { summary: 'How late the fabric of this host is, and what the hypervisor withholds', reply: ComputeFidelity, own: true },
      async () => {
        const [{ pid = null, late = null }, { total, stolen }] = await Promise.all([fabric.load(), figures.processorTime()]);
        return { fabric_pid: pid, loop_late: late, cpu_ticks: total, stolen_ticks: stolen };
      },
    ),
    computeRoute('GET /v2/compute/statistics', { summary: 'How busy this host is', reply: HostStatistics }, () => figures.all()),
    computeRoute(
      'GET /v2/compute/network/ports',
      { summary: 'Port ranges, and the ports that are taken', reply: TakenPorts },
      () => ({
        console_port_range: [Server.console_start_port_range, Server.console_end_port_range],
        console_ports: ports.tcp.taken(),
        udp_port_range: [Server.udp_start_port_range, Server.udp_end_port_range],
        udp_ports: ports.udp.taken(),
      }),
    ),
    computeRoute(
      'GET /v2/compute/debug',
      { summary: 'What this host is and which ports are taken, as text', replyType: 'text/plain' },
      async () => {
        const text = await debugText(version, ports);
        return new Stream('text/plain; charset=utf-8', Buffer.from(text));
      },
    ),
    computeRoute(
      'GET /v2/compute/network/interfaces',
      { summary: 'Network interfaces of this host', reply: Type.Array(NetworkInterface) },
      () => listInterfaces(Server.allowed_interfaces),
    ),
  ];
}

/** Capabilities for controllers of ours. */
function ownCapabilities({ link_streams, link_encryption }: Settings['Server']) {
  return {
    number_ranges: true,
    live_moves: true,
    sealed_moves: true,
    node_runs: true,
    incarnations: true,
    image_transfers: true,
    resources: hostSize(),
    link_features: [...linkFeatures],
    link_streams,
    ...(isEncryption(link_encryption) && { link_encryption }),
  };
}

function isEncryption(text: string): text is 'preferred' | 'required' {
  return text === 'preferred' || text === 'required';
}

/** Describes this host for a person who diagnoses it, as plain text. */
async function debugText(version: string, ports: Ports): Promise<string> {
  const [tcp, udp] = await Promise.all([boundPorts('tcp'), boundPorts('udp')]);
  const times = cpus().map(({ times: { user, sys, idle } }, index) => `  cpu${index}: user ${user}, system ${sys}, idle ${idle}`);
  const addresses = Object.entries(networkInterfaces()).map(
    ([name, all]) => `  ${name}: ${(all ?? []).map(({ address }) => address).join(', ')}`,
  );
  const stateOf = (port: number, bound: ReadonlySet<number> | undefined) =>
    `  ${port}: ${bound === undefined ? 'unknown' : bound.has(port) ? 'bound' : 'not bound'}`;
  return [
    `Version: ${version}`,
    `System: ${type()} ${release()} ${arch()}, Node ${process.version}`,
    `Memory, bytes: ${totalmem()} in all, ${freemem()} free`,
    'Processor times, ms:',
    ...times,
    'Network interfaces:',
    ...addresses,
    'TCP ports that are taken:',
    ...ports.tcp.taken().map((port) => stateOf(port, tcp)),
    'UDP ports that are taken:',
    ...ports.udp.taken().map((port) => stateOf(port, udp)),
    '',
  ].join('\n');
}

/**
 * Ports to which a socket of this host is bound; undefined where the system does not report them.
 * @see proc(5), /proc/net/tcp: the second column is address and port, hexadecimal
 */
async function boundPorts(protocol: 'tcp' | 'udp'): Promise<ReadonlySet<number> | undefined> {
  const files = [protocol, `${protocol}6`].map((name) => `/proc/net/${name}`);
  const tables = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')));
  if (tables.every((table) => table === '')) return undefined;
  const lines = tables.flatMap((table) => table.split('\n').slice(1));
  return new Set(lines.map((line) => Number.parseInt(line.trim().split(/\s+/)[1]?.split(':')[1] ?? '', 16)));
}
