/** What a controller asks of a compute as a whole. */
import { type Route, route } from '../../api/route.ts';
import { listInterfaces } from '../interfaces.ts';
import type { RouteParts } from './routes.ts';

export function serverRoutes({ context, figures, version }: RouteParts): Route[] {
  const { settings, ports, drivers } = context;
  const { Server } = settings;
  return [
    route('GET /v2/compute/version', { summary: 'Version of the server' }, () => ({ version, local: Server.local })),
    route('GET /v2/compute/capabilities', { summary: 'What kinds of nodes this compute can make' }, () => ({
      version,
      platform: process.platform,
      node_types: [...drivers.keys()],
    })),
    route('GET /v2/compute/statistics', { summary: 'How busy this host is' }, () => figures.all()),
    route('GET /v2/compute/network/ports', { summary: 'Port ranges, and the ports that are taken' }, () => ({
      console_port_range: [Server.console_start_port_range, Server.console_end_port_range],
      console_ports: ports.tcp.taken(),
      udp_port_range: [Server.udp_start_port_range, Server.udp_end_port_range],
      udp_ports: ports.udp.taken(),
    })),
    route('GET /v2/compute/network/interfaces', { summary: 'Network interfaces of this host' }, () =>
      listInterfaces(Server.allowed_interfaces),
    ),
  ];
}
