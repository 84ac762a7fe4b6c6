/**
 * The frames' relays: each linked port of a router has a socat between the fabric's datagrams and those of its NIO. socat opens the datagram
 * socket on the host's loopback, then becomes a shell in the network namespace of Dynamips, which inherits the socket.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import type { Child } from '../../process/child.ts';
import { quoteWords } from '../host/confinement/shell-text.ts';
import { requireProgram } from '../host/find-program.ts';
import type { Host } from '../host/host.ts';
import type { RunAs } from '../host/run-as.ts';
import { type PortService, whenReady } from '../port-processes/port-processes.ts';
import { identityWords } from './confined.ts';

/** A router's ports as single numbers: WICs of three bays end at port 49. */
const portsOfSlot = 64;
export const portKey = (slot: number, port: number) => slot * portsOfSlot + port;
export const portOf = (key: number) => ({ slot: Math.floor(key / portsOfSlot), port: key % portsOfSlot });

/** UDP ports on the host's loopback: the relay's, and the fabric's. */
export interface RelayFacts {
  readonly key: number;
  readonly local: number;
  readonly fabric: number;
}

const firstInnerPort = 10_000;
/** UDP ports in the network namespace: of the NIO, and of the relay. */
export function innerUdp(key: number): { nio: number; relay: number } {
  return { nio: firstInnerPort + 2 * key, relay: firstInnerPort + 2 * key + 1 };
}

/** A frame is at most one datagram: 65,535 bytes less the headers of IPv4 and UDP. */
const maxDatagramBytes = '65507';

interface RelayPlace {
  readonly host: Host;
  readonly runtimeDirectory: string;
  /** A process in the namespaces of Dynamips, as the user that made them. */
  readonly pid: number;
}

export const framesScript = 'frames';

/**
 * Read by `sh` with the datagram socket as its standard input; its arguments are the two inner ports. socat ends when a datagram is refused,
 * as the fabric or the router is restarting, and is started again; meanwhile datagrams wait in the socket.
 */
export async function relayScript(runAs: RunAs | undefined): Promise<string> {
  const socat = await requireProgram('socat', 'socat');
  const words = ['setpriv', ...identityWords(runAs), '--no-new-privs', '--', socat, '-b', maxDatagramBytes, 'FD:0'];
  const inner = '"UDP4-DATAGRAM:127.0.0.1:$1,bind=127.0.0.1:$2"';
  return `while :; do ${quoteWords(words)} ${inner} >/dev/null 2>&1; sleep 0.05 || exit; done\n`;
}

export function relayService({ host, runtimeDirectory, pid }: RelayPlace): PortService<RelayFacts> {
  const { udpPorts } = host;
  return {
    async open(key, before) {
      if (before && udpPorts.reserve(before.local)) {
        if (udpPorts.reserve(before.fabric)) return before;
        udpPorts.release(before.local);
      }
      return { key, ...(await takeBoth(udpPorts)) };
    },
    retake({ local, fabric }) {
      udpPorts.reserve(local);
      udpPorts.reserve(fabric);
    },
    close({ local, fabric }) {
      udpPorts.release(local);
      udpPorts.release(fabric);
    },
    async command({ key, local, fabric }) {
      const { nio, relay } = innerUdp(key);
      const enter = ['nsenter', ...(isRoot() ? [] : [`--user=/proc/${pid}/ns/user`, '--preserve-credentials'])];
      const shell = [...enter, `--net=/proc/${pid}/ns/net`, 'sh', framesScript, nio, relay].join(' ');
      const datagrams = `UDP4:127.0.0.1:${fabric},bind=127.0.0.1:${local}`;
      const program = await requireProgram('socat', 'socat');
      return { program, args: [datagrams, `EXEC:${shell},nofork`], logFile: join(runtimeDirectory, `relay-${key}.log`) };
    },
    ready: ({ key }, child) => whenReady(child, () => hasUdpPort(child, innerUdp(key).relay)),
    failure: ({ key }, { tail }) => {
      const { slot, port } = portOf(key);
      return fault('dynamips_failed', { reason: `The relay of port ${slot}/${port} could not be started: ${tail}` });
    },
    spec: ({ local, fabric }) => {
      return { type: 'udp', lport: fabric, rhost: '127.0.0.1', rport: local, bind: '127.0.0.1', strict: true };
    },
  };
}

const isRoot = () => process.geteuid?.() === 0;

/** @throws ports_exhausted with nothing taken */
async function takeBoth(pool: PortPool): Promise<{ local: number; fabric: number }> {
  const local = await pool.take();
  const fabric = local === undefined ? undefined : await pool.take();
  if (local !== undefined && fabric !== undefined) return { local, fabric };
  if (local !== undefined) pool.release(local);
  throw fault('ports_exhausted', { what: 'UDP', first: pool.range.first, last: pool.range.last });
}

/** Whether this port is open in the network namespace of the process. @see proc(5), /proc/PID/net/udp */
async function hasUdpPort({ pid }: Child, port: number): Promise<boolean> {
  const entry = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return (await readFile(`/proc/${pid}/net/udp`, 'latin1').catch(() => '')).includes(entry);
}
