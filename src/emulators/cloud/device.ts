/** Interfaces and TAP interfaces of this host as ports of a cloud. */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { PortSpec } from '../../fabric/protocol.ts';
import { isOwnInterface } from '../../fabric/redirection.ts';
import { runTool } from '../../process/tool.ts';
import type { NodeView } from '../driver.ts';
import { requireProgram } from '../host/find-program.ts';
import type { Host } from '../host/host.ts';
import { type Device, findDevice, isAllowed, isDeviceName } from '../port-processes/interfaces.ts';
import { openSocat, ownTapName, packetDevice, type SocatFacts, tapDevice } from '../port-processes/socat.ts';
import { makeTap } from '../port-processes/veth.ts';
import type { DevicePort } from './properties.ts';

const ipLimitMs = 5000;
/** MTU of TAP interfaces as the kernel makes them. */
const tapMtu = 1500;

type OpenDevice = SocatFacts & { type: 'device'; needs?: string; bridge?: string };

/** Held by the fabric: no process, and nothing of it but a TAP interface outlives the fabric. */
export interface HeldDevice {
  readonly type: 'held';
  /** Name of the device. */
  readonly interface: string;
  readonly port: PortSpec;
  /** The interface was made for this port. */
  readonly isOwn: boolean;
}

/** @throws interface_unavailable, tool_missing, ports_exhausted with nothing taken */
export async function openDevice(
  host: Host,
  node: NodeView,
  { type, interface: name, port_number }: DevicePort,
): Promise<OpenDevice | HeldDevice> {
  if (!isAllowed(name, host.settings.Server.allowed_interfaces)) {
    throw unavailable(name, 'it is not in allowed_interfaces of [Server] in the configuration of this compute');
  }
  if (!isDeviceName(name)) throw unavailable(name, 'this is no name of an interface of Linux');
  if (isOwnInterface(name)) throw unavailable(name, 'it belongs to another node');
  // The fabric has the privileges of the server. One of an earlier version says that it can hold interfaces also without them.
  if (process.geteuid?.() === 0 && (await host.fabric.capabilities()).taps)
    return holdDevice(host, node, { type, interface: name, port_number });
  const logFile = join(node.runtimeDirectory, `port-${port_number}.log`);
  const tap = { mtu: tapMtu, capability: 'CAP_NET_ADMIN', logFile } as const;
  if (type === 'tap') return { type: 'device', ...(await openSocat(host, { ...tap, device: tapDevice(name), interface: name })) };
  const { index, mtu, isBridge } = await requireUp(name);
  if (isBridge) {
    const own = ownTapName(node.nodeId, port_number);
    const facts = await openSocat(host, { ...tap, device: tapDevice(own), interface: own });
    return { type: 'device', ...facts, needs: name, bridge: name };
  }
  const packet = { device: packetDevice(name, index), interface: name, mtu, capability: 'CAP_NET_RAW', logFile } as const;
  return { type: 'device', ...(await openSocat(host, packet)), needs: name };
}

type WantedDevice = Pick<DevicePort, 'type' | 'interface' | 'port_number'>;

async function holdDevice(host: Host, node: NodeView, { type, interface: name, port_number }: WantedDevice): Promise<HeldDevice> {
  const owner = host.settings.runtimeDirectory;
  if (type === 'tap') {
    const device = await findDevice(name);
    if (device) await prepareTap(name, device);
    else await makeTap(name, { owner });
    return { type: 'held', interface: name, port: { type: 'tap', name, merges: true }, isOwn: device === undefined };
  }
  if (!(await requireUp(name)).isBridge) {
    return { type: 'held', interface: name, port: { type: 'packet', interface: name }, isOwn: false };
  }
  const own = ownTapName(node.nodeId, port_number);
  await makeTap(own, { owner, bridge: name });
  return { type: 'held', interface: own, port: { type: 'tap', name: own, merges: true }, isOwn: true };
}

/** Brings up a TAP interface that another program made. @throws interface_unavailable, tool_missing */
async function prepareTap(name: string, { isUp, isTap }: Device): Promise<void> {
  if (!isTap) throw unavailable(name, 'it is no TAP interface');
  if (isUp) return;
  const ip = await requireProgram('ip', 'iproute2');
  const { code, reason } = await runTool(ip, ['link', 'set', 'dev', name, 'up'], { timeoutMs: ipLimitMs });
  if (code !== 0) throw unavailable(name, reason);
}

/** False for a TAP interface of ours that is gone, as it is after a boot of the host. */
export async function isPresent(facts: { readonly type: string } | HeldDevice): Promise<boolean> {
  return !('isOwn' in facts && facts.isOwn) || (await findDevice(facts.interface)) !== undefined;
}

/** @throws interface_unavailable */
export async function requireUp(name: string): Promise<Device> {
  const device = await findDevice(name);
  if (!device) throw unavailable(name, 'this host has no such interface');
  if (!device.isUp) throw unavailable(name, `it is down (bring it up: ip link set dev ${name} up)`);
  return device;
}

/** Makes a TAP interface a port of a bridge. @throws interface_unavailable, tool_missing */
export async function joinBridge({ interface: tap }: SocatFacts, bridge: string): Promise<void> {
  const ip = await requireProgram('ip', 'iproute2');
  const { code, reason } = await runTool(ip, ['link', 'set', 'dev', tap, 'master', bridge], { timeoutMs: ipLimitMs });
  if (code !== 0) throw unavailable(bridge, reason);
}

export function tapTaken(name: string): Error {
  return unavailable(
    name,
    'another port of a cloud is this TAP interface. Join the two by a bridge of the host, or name another one',
  );
}

function unavailable(name: string, reason: string): Error {
  return fault('interface_unavailable', { interface: name, reason });
}
