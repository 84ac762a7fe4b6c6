/**
 * The verbs of cloud. Each connected port is on its own: interfaces, TAP interfaces and UDP tunnels are the fabric's to open; where it
 * cannot, an interface or TAP interface has a socat. What one of them lacks is reported when it is connected, and leaves the others alone.
 */
import { lookup } from 'node:dns/promises';
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import type { Driver, Emulator, NodePlace, NodeView, Properties } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { type HostInterface, listInterfaces } from '../port-processes/interfaces.ts';
import { type KeptPort, PortProcesses, type PortService } from '../port-processes/port-processes.ts';
import { portsEmulator } from '../port-processes/ports-emulator.ts';
import {
  closeSocat,
  retakeSocat,
  type SocatFacts,
  socatCommand,
  socatFailure,
  socatPort,
  whenSocatReady,
} from '../port-processes/socat.ts';
import { removeInterfaces } from '../port-processes/veth.ts';
import { type HeldDevice, isPresent, joinBridge, openDevice, requireUp, tapTaken } from './device.ts';
import { cloudKind } from './kind.ts';
import { asCloud, type CloudPort, changedCloud, newCloud, type TunnelPort } from './properties.ts';

interface TunnelFacts {
  readonly type: 'udp';
  readonly lport: number;
  readonly rhost: string;
  readonly rport: number;
}
interface DeviceFacts extends SocatFacts {
  readonly type: 'device';
  /** The interface that must be up; undefined for a TAP interface, which socat makes. */
  readonly needs?: string;
  /** The bridge that the TAP interface joins. */
  readonly bridge?: string;
}
type CloudFacts = TunnelFacts | DeviceFacts | HeldDevice;

export function cloudDriver(host: Host): Driver {
  const interfaces = new KnownInterfaces(host);
  const taps = new Set<string>();
  const emulator = (node: NodeView): { ports: PortProcesses<CloudFacts>; emulator: Emulator } => {
    let { properties } = node;
    const place = { cwd: node.directory, runDirectory: host.settings.runtimeDirectory, warn: node.warn };
    const ports = new PortProcesses(
      cloudService(host, taps, node, () => properties),
      place,
    );
    const changed = (next: Properties) => {
      properties = next;
    };
    return { ports, emulator: portsEmulator(ports, changed) };
  };
  return {
    kind: cloudKind,
    async create(input, place) {
      const cloud = newCloud(input, await interfaces.read());
      warnOfTakenPorts(host, cloud.ports_mapping, place);
      return { ...cloud };
    },
    async update(current, changes, place) {
      const { connected } = place;
      const before = asCloud(current);
      const after = changedCloud(before, changes);
      if (connected && !isDeepStrictEqual(before.ports_mapping, after.ports_mapping)) {
        throw fault('ports_connected', { kind: cloudKind.title });
      }
      const changed = after.ports_mapping.filter((port) => !before.ports_mapping.some((one) => isDeepStrictEqual(one, port)));
      warnOfTakenPorts(host, changed, place);
      return { ...after };
    },
    present: (properties) => ({
      ...properties,
      interfaces: interfaces.known().map(({ name, type, special }) => ({ name, type, special })),
    }),
    async start(node) {
      await interfaces.read();
      return emulator(node).emulator;
    },
    async adopt(node, record) {
      await interfaces.read();
      const adopted = emulator(node);
      const { ports = {} } = record as { ports?: Record<string, KeptPort<CloudFacts>> };
      const present = await Promise.all(Object.values(ports).map(({ facts }) => isPresent(facts)));
      await adopted.ports.adopt(Object.fromEntries(Object.entries(ports).filter((_port, index) => present[index])));
      return adopted.emulator;
    },
  };
}

/** `taps`: names of the TAP interfaces that are ports of clouds, as each can be one only. */
function cloudService(host: Host, taps: Set<string>, node: NodeView, properties: () => Properties): PortService<CloudFacts> {
  const { udpPorts } = host;
  return {
    async open(number) {
      const port = asCloud(properties()).ports_mapping[number];
      if (!port) throw fault('adapter_missing', { ...missing(node, properties()), port_number: number });
      if (port.type === 'udp') return openTunnel(host, port);
      if (port.type !== 'tap') return openDevice(host, node, port);
      // The check comes before anything waits: two ports may be opened at once.
      if (taps.has(port.interface)) throw tapTaken(port.interface);
      taps.add(port.interface);
      return openDevice(host, node, port).catch((error: unknown) => {
        taps.delete(port.interface);
        throw error;
      });
    },
    retake(facts) {
      const tap = tapOf(facts);
      if (tap !== undefined) taps.add(tap);
      if (facts.type === 'udp') udpPorts.reserve(facts.lport);
      else if (facts.type === 'device') retakeSocat(host, facts);
    },
    async close(facts) {
      if (facts.type === 'udp') udpPorts.release(facts.lport);
      else if (facts.type === 'device') closeSocat(host, facts);
      else if (facts.isOwn) await removeInterfaces([facts.interface]);
      const tap = tapOf(facts);
      if (tap !== undefined) taps.delete(tap);
    },
    async command(facts) {
      if (facts.type !== 'device') return undefined;
      if (facts.needs !== undefined) await requireUp(facts.needs);
      return socatCommand(facts);
    },
    async ready(facts, child) {
      if (facts.type !== 'device') return undefined;
      const outcome = await whenSocatReady(facts, child);
      if (!outcome && facts.bridge !== undefined) await joinBridge(facts, facts.bridge);
      return outcome;
    },
    failure: (facts, outcome) => (facts.type === 'device' ? socatFailure(facts, outcome) : new Error(outcome.tail)),
    spec(facts) {
      if (facts.type === 'udp') return { ...facts, strict: true };
      return facts.type === 'held' ? facts.port : socatPort(facts);
    },
  };
}

/** The TAP interface that a port is; undefined where it has a packet socket beside other users of an interface. */
function tapOf(facts: CloudFacts): string | undefined {
  if (facts.type === 'held') return facts.port.type === 'tap' ? facts.interface : undefined;
  return facts.type === 'device' && facts.needs === undefined ? facts.interface : undefined;
}

/** The port at which frames come in belongs to the tunnel for as long as it is connected. */
async function openTunnel({ udpPorts }: Host, { lport, rhost, rport }: TunnelPort): Promise<TunnelFacts> {
  await lookup(rhost, { family: 4 }).catch((cause: Error) => {
    throw fault('host_unknown', { host: rhost, reason: cause.message }, { cause });
  });
  if (!udpPorts.reserve(lport)) throw fault('udp_port_taken', { lport });
  return { type: 'udp', lport, rhost, rport };
}

/** Warns of tunnels whose port is another node's now: they cannot be linked until that is deleted, or they have other ports. */
function warnOfTakenPorts({ udpPorts }: Host, ports: readonly CloudPort[], { name = 'The cloud', warn }: NodePlace): void {
  for (const port of ports) {
    if (port.type !== 'udp' || !udpPorts.has(port.lport)) continue;
    warn?.(`${name} cannot use UDP port ${port.lport} for ${port.name} now: another node has it. Choose another port`);
  }
}

function missing({ name }: NodeView, properties: Properties) {
  return { adapter_number: 0, name, count: asCloud(properties).ports_mapping.length };
}

/** The interfaces of this host as clients are shown them. Shown at once as they were last read, and read again for the next time. */
class KnownInterfaces {
  readonly #host: Host;
  #list: readonly HostInterface[] = [];
  #reading: Promise<readonly HostInterface[]> | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  known(): readonly HostInterface[] {
    this.read().catch(() => undefined);
    return this.#list;
  }

  read(): Promise<readonly HostInterface[]> {
    this.#reading ??= listInterfaces(this.#host.settings.Server.allowed_interfaces)
      .then((list) => {
        this.#list = list;
        return list;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }
}
