/** The properties of a cloud node: its ports, and a console elsewhere that clients may open. */
import { Name, nullable, oneOf, strict, TcpPort, Text } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { Properties } from '../driver.ts';
import type { HostInterface } from '../port-processes/interfaces.ts';

const portNumber = Type.Integer({ minimum: 0, description: 'Ignored: ports are numbered in their order' });
export const CloudPort = Type.Union([
  Type.Object({ name: Name(), port_number: portNumber, type: oneOf(['ethernet', 'tap']), interface: Name() }, strict),
  Type.Object(
    { name: Name(), port_number: portNumber, type: oneOf(['udp']), lport: TcpPort, rhost: Name(), rport: TcpPort },
    strict,
  ),
]);
export type DevicePort = { name: string; port_number: number; type: 'ethernet' | 'tap'; interface: string };
export type TunnelPort = { name: string; port_number: number; type: 'udp'; lport: number; rhost: string; rport: number };
export type CloudPort = DevicePort | TunnelPort;

const maxPorts = 1000;
export const cloudFields = {
  ports_mapping: Type.Optional(Type.Array(CloudPort, { maxItems: maxPorts })),
  remote_console_host: Type.Optional(Text()),
  remote_console_port: Type.Optional(nullable(TcpPort)),
  remote_console_type: Type.Optional(oneOf(['telnet', 'ssh', 'vnc', 'spice', 'http', 'https', 'none'])),
  remote_console_http_path: Type.Optional(Text()),
};
const Fields = Type.Object(cloudFields);

export interface CloudProperties {
  readonly ports_mapping: readonly CloudPort[];
  readonly remote_console_host: string;
  readonly remote_console_port: number | null;
  readonly remote_console_type: string;
  readonly remote_console_http_path: string;
}

const defaults = {
  remote_console_host: '',
  remote_console_http_path: '/',
  remote_console_port: 23,
  remote_console_type: 'none',
} as const;

export function asCloud(properties: Properties): CloudProperties {
  return properties as unknown as CloudProperties;
}

/** A new cloud has a port for each ordinary interface of this host, unless the client lists them. */
export function newCloud(input: Properties, interfaces: readonly HostInterface[]): CloudProperties {
  const { interfaces: _shown, ports_mapping = [], ...given } = input as Static<typeof Fields> & { interfaces?: unknown };
  const ports = ports_mapping.length > 0 ? (ports_mapping as CloudPort[]) : defaultPorts(interfaces);
  return { ...defaults, ...withoutReadOnly(given), ports_mapping: numbered(ports) };
}

export function changedCloud(current: CloudProperties, changes: Properties): CloudProperties {
  const { ports_mapping, ...given } = withoutReadOnly(changes) as Partial<CloudProperties>;
  return { ...current, ...given, ...(ports_mapping && { ports_mapping: numbered(ports_mapping) }) };
}

function defaultPorts(interfaces: readonly HostInterface[]): DevicePort[] {
  return interfaces
    .filter(({ special }) => !special)
    .map(({ name, type }, port_number) => ({ interface: name, name, port_number, type }));
}

function numbered(ports: readonly CloudPort[]): CloudPort[] {
  return ports.map((port, port_number) => ({ ...port, port_number }));
}

/** Keys that clients send back as they were sent them. */
function withoutReadOnly(given: Properties): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([key]) => Object.hasOwn(cloudFields, key)));
}
