/**
 * socat between a network device of this host and a port of the fabric: each frame is one datagram on the loopback. What it does to
 * the device ends with it: promiscuity belongs to its socket, and a TAP interface to its file.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism, endianness } from 'node:os';
import { fault } from '../../api/faults.ts';
import type { PortSpec } from '../../fabric/protocol.ts';
import { ownTapPrefix } from '../../fabric/redirection.ts';
import type { Child, Outcome } from '../../process/child.ts';
import { runTool } from '../../process/tool.ts';
import { requireProgram } from '../host/find-program.ts';
import type { Host } from '../host/host.ts';
import { type PortCommand, whenReady } from './port-processes.ts';

/** Facts of a socat process that stay the same at each start. */
export interface SocatFacts {
  readonly program: string;
  /** socat's address of the device. */
  readonly device: string;
  /** Name of the device, for people. */
  readonly interface: string;
  /** Datagram ports: socat's, and the fabric's. */
  readonly local: number;
  readonly fabric: number;
  /** Bytes. */
  readonly mtu: number;
  readonly capability: 'CAP_NET_RAW' | 'CAP_NET_ADMIN';
  /** Path of the log, below the runtime folder: a socat without an owner is found by it. */
  readonly logFile: string;
}

/** 65,535 less the headers of IPv4 and UDP: a longer frame would end socat. */
const maxDatagramBytes = 65_507;

/** Takes the two datagram ports. @throws `tool_missing`, `ports_exhausted` with nothing taken */
export async function openSocat(
  host: Host,
  wanted: Pick<SocatFacts, 'device' | 'interface' | 'mtu' | 'capability' | 'logFile'>,
): Promise<SocatFacts> {
  const program = await requireProgram('socat', 'socat');
  const { udpPorts } = host;
  const local = await udpPorts.take();
  const fabric = local === undefined ? undefined : await udpPorts.take();
  if (local === undefined || fabric === undefined) {
    if (local !== undefined) udpPorts.release(local);
    throw fault('ports_exhausted', { what: 'UDP', first: udpPorts.range.first, last: udpPorts.range.last });
  }
  return { program, ...wanted, local, fabric };
}

export function retakeSocat({ udpPorts }: Host, { local, fabric }: SocatFacts): void {
  udpPorts.reserve(local);
  udpPorts.reserve(fabric);
}

export function closeSocat({ udpPorts }: Host, { local, fabric }: SocatFacts): void {
  udpPorts.release(local);
  udpPorts.release(fabric);
}

export function socatCommand({ program, device, local, fabric, logFile }: SocatFacts): PortCommand {
  const datagrams = `UDP4-DATAGRAM:127.0.0.1:${fabric},bind=127.0.0.1:${local}`;
  return { program, args: ['-lf', logFile, '-b', String(maxDatagramBytes), device, datagrams], logFile };
}

/** socat opens the device first: once its datagram port is open, both are. */
export async function whenSocatReady({ local }: SocatFacts, child: Child): Promise<Outcome | undefined> {
  const entry = `0100007F:${local.toString(16).toUpperCase().padStart(4, '0')}`;
  const outcome = await whenReady(child, async () => (await readFile('/proc/net/udp', 'latin1')).includes(entry));
  if (!outcome) await beRealTime(child.pid);
  return outcome;
}

const chrtLimitMs = 1000;

/**
 * Gives the process real-time priority like the fabric's (`raisePriority`). Each frame wakes socat, and waiting for the processor behind
 * emulators costs far more than the work. Without the privilege its priority stays unchanged.
 */
async function beRealTime(pid: number): Promise<void> {
  if (availableParallelism() > 1) await runTool('chrt', ['--rr', '--pid', '1', String(pid)], { timeoutMs: chrtLimitMs });
}

export function socatFailure({ interface: name, capability }: SocatFacts, { tail }: Outcome): Error {
  if (!/not permitted|permission denied/i.test(tail)) return fault('interface_unavailable', { interface: name, reason: tail });
  const remedy = `start the server as root, or run: setcap cap_net_raw,cap_net_admin+ep "$(command -v socat)"`;
  return fault('capability_missing', { what: `The interface "${name}"`, capability, remedy });
}

export function socatPort({ local, fabric, mtu }: SocatFacts): PortSpec {
  return { type: 'udp', lport: fabric, rhost: '127.0.0.1', rport: local, bind: '127.0.0.1', strict: true, mtu };
}

/** All frames of an interface, also those for other stations than this host. */
export function packetDevice(name: string, index: number): string {
  return `INTERFACE:${name},setsockopt-bin=${solPacket}:${packetAddMembership}:x${promiscuous(index)}`;
}

/** A TAP interface: the one that is there, or one that ends with socat. */
export function tapDevice(name: string): string {
  return `TUN,tun-type=tap,tun-name=${name},iff-no-pi,iff-up`;
}

/** A name of a TAP interface of ours: 15 characters. */
export function ownTapName(nodeId: string, port: number): string {
  return `${ownTapPrefix}${ownName(nodeId, port)}`;
}

const ownNameCharacters = 12;

/** Part of the names of a port's interfaces: the same for the same port, and hardly ever for another one. */
export function ownName(nodeId: string, port: number): string {
  const digest = createHash('sha256').update(`${nodeId}/${port}`).digest();
  return digest.readBigUInt64BE().toString(36).padStart(ownNameCharacters, '0').slice(0, ownNameCharacters);
}

/** @see packet(7), linux/if_packet.h: `struct packet_mreq { int ifindex; unsigned short type, alen; unsigned char address[8]; }` */
const solPacket = 263;
const packetAddMembership = 1;
const promiscuousType = 1;
function promiscuous(index: number): string {
  const request = Buffer.alloc(16);
  const isLittle = endianness() === 'LE';
  if (isLittle) request.writeInt32LE(index, 0);
  else request.writeInt32BE(index, 0);
  if (isLittle) request.writeUInt16LE(promiscuousType, 4);
  else request.writeUInt16BE(promiscuousType, 4);
  return request.toString('hex');
}
