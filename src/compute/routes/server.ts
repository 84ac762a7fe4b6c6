/** Routes by which a controller manages the compute as a whole. */
import { isOwnAgent } from '../../api/own-agent.ts';
import { computeRoute, Stream } from '../../api/route.ts';
import { listInterfaces } from '../../emulators/port-processes/interfaces.ts';
import { named } from '../../schema/common.ts';
import { Capabilities, linkFeatures } from '../../schema/compute.ts';
import { Finding } from '../../schema/finding.ts';
import { ComputeFidelity, HostStatistics, NetworkInterface, TakenPorts } from '../../schema/host.ts';
import type { Settings } from '../../schema/settings.ts';
import { Type } from '../../schema/type.ts';
import { debugText } from '../host/debug-text.ts';
import { hostSize } from '../host/host-size.ts';
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
