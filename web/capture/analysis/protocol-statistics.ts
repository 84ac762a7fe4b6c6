/** Packets and bytes by protocol, as a tree: a protocol counts with everything inside it. */
import { decode } from '../decode/decode.ts';
import { Slices } from '../packet-store.ts';
import type { Packet } from '../pcap.ts';

export interface ProtocolCount {
  readonly name: string;
  readonly depth: number;
  readonly packets: number;
  /** Bytes on the wire. */
  readonly bytes: number;
  /** Share of all packets, 0 to 1; `byteShare`: of all bytes. */
  readonly packetShare: number;
  readonly byteShare: number;
}

/** Depth limit, as a hostile frame can nest more. Deeper protocols count for the last level. */
const mostDepth = 8;
/** Different protocols inside one. */
const mostInside = 64;

class Branch {
  packets = 0;
  bytes = 0;
  readonly inside = new Map<string, Branch>();

  count(length: number): void {
    this.packets += 1;
    this.bytes += length;
  }
}

export interface CountProgress {
  readonly signal?: AbortSignal;
  readonly onProgress?: (count: number) => void;
}

/** Counts in slices, so that the page stays usable. @throws DOMException when the signal aborts it */
export async function countProtocols(
  packets: readonly Packet[],
  linkType: number,
  { signal, onProgress }: CountProgress = {},
): Promise<readonly ProtocolCount[]> {
  const root = new Branch();
  const slices = new Slices();
  for (const [at, { bytes, length }] of packets.entries()) {
    let branch = root;
    root.count(length);
    for (const { name } of decode(bytes, linkType).layers.slice(0, mostDepth)) {
      branch = insideOf(branch, name);
      branch.count(length);
    }
    if (!slices.isOver()) continue;
    onProgress?.(at);
    await slices.turn();
    signal?.throwIfAborted();
  }
  return [...root.inside].sort(byPackets).flatMap(([name, branch]) => rowsOf(branch, { name, depth: 0, root }));
}

function insideOf(branch: Branch, name: string): Branch {
  const known = branch.inside.get(name);
  if (known || branch.inside.size >= mostInside) return known ?? branch;
  const made = new Branch();
  branch.inside.set(name, made);
  return made;
}

const byPackets = ([, one]: [string, Branch], [, other]: [string, Branch]) => other.packets - one.packets;

function rowsOf(
  branch: Branch,
  { name, depth, root }: { readonly name: string; readonly depth: number; readonly root: Branch },
): ProtocolCount[] {
  const { packets, bytes, inside } = branch;
  const own = {
    name,
    depth,
    packets,
    bytes,
    packetShare: packets / root.packets,
    byteShare: root.bytes > 0 ? bytes / root.bytes : 0,
  };
  const inner = [...inside].sort(byPackets).flatMap(([inner, one]) => rowsOf(one, { name: inner, depth: depth + 1, root }));
  return [own, ...inner];
}
