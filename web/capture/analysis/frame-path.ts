/** Where else a frame was captured: searches the other capture files of the project, each as it arrives. */
import type { CaptureFile } from '../../../src/schema/capture.ts';
import { ethernetLink } from '../decode/decode.ts';
import { Slices } from '../packet-store.ts';
import { type Packet, PcapParser } from '../pcap.ts';
import { contentOf, type FrameContent, isSame } from './same-frame.ts';

export interface Sighting {
  /** Name of the capture file. */
  readonly file: string;
  readonly packet: number;
  readonly timeMs: number;
  readonly hops: number | undefined;
  /** Equal frames in this capture, such as repeated ARP requests. */
  readonly copies: number;
}

export interface FramePath {
  /** Captures that show the frame, in the order of time. */
  readonly sightings: readonly Sighting[];
  /** Captures that could not be read. */
  readonly unread: number;
  /** Some were too large to be searched completely. */
  readonly isLimited: boolean;
}

/** Read of each capture file. */
const mostBytes = 256 * 1024 * 1024;
/** Frames that follow or precede each other by more are not the same one. */
const longestMs = 60_000;

export interface Search {
  readonly api: { stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> };
  /** Returns the path of a capture file in the API. */
  readonly pathOf: (name: string) => string;
  readonly files: readonly CaptureFile[];
  /** The capture that shows the packet; undefined if it has no file. */
  readonly ownFile: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number) => void;
}

/** Undefined: the packet is truncated, so that it cannot be compared. @throws DOMException when the signal aborts it */
export async function findFrame(packet: Packet, search: Search): Promise<FramePath | undefined> {
  const wanted = contentOf(packet.bytes, packet.length);
  if (!wanted) return undefined;
  const own: Sighting = { file: search.ownFile ?? '', packet: packet.number, timeMs: packet.timeMs, hops: wanted.hops, copies: 1 };
  const sightings = [own];
  let [unread, isLimited] = [0, false];
  for (const [done, { name }] of search.files.filter(({ name }) => name !== search.ownFile).entries()) {
    search.onProgress(done);
    try {
      const found = await searchFile({ packet, wanted }, name, search);
      if (found.sighting) sightings.push(found.sighting);
      isLimited ||= found.isLimited;
    } catch (error) {
      search.signal.throwIfAborted();
      // A file that is no capture, or that was deleted meanwhile.
      if (!(error instanceof Error)) throw error;
      unread += 1;
    }
  }
  return { sightings: sightings.sort((one, other) => one.timeMs - other.timeMs), unread, isLimited };
}

async function searchFile(
  { packet, wanted }: { readonly packet: Packet; readonly wanted: FrameContent },
  name: string,
  { api, pathOf, signal }: Search,
): Promise<{ readonly sighting: Sighting | undefined; readonly isLimited: boolean }> {
  const abort = new AbortController();
  const body = await api.stream(pathOf(name), AbortSignal.any([signal, abort.signal]));
  const parser = new PcapParser();
  const slices = new Slices();
  let nearest: Sighting | undefined;
  let bytes = 0;
  for await (const chunk of body) {
    parser.push(chunk);
    bytes += chunk.length;
    for (let other = parser.next(); other; other = parser.next()) {
      const hops = parser.linkType === ethernetLink ? hopsIfSame(other, packet, wanted) : 'different';
      if (hops !== 'different')
        nearest = nearer(nearest, { file: name, packet: other.number, timeMs: other.timeMs, hops, copies: 1 }, packet);
      if (slices.isOver()) await slices.turn();
    }
    if (bytes < mostBytes) continue;
    abort.abort();
    return { sighting: nearest, isLimited: true };
  }
  return { sighting: nearest, isLimited: false };
}

function hopsIfSame(other: Packet, packet: Packet, wanted: FrameContent): number | undefined | 'different' {
  if (Math.abs(other.timeMs - packet.timeMs) > longestMs) return 'different';
  const content = contentOf(other.bytes, other.length);
  return content && isSame(content, wanted) ? content.hops : 'different';
}

function nearer(known: Sighting | undefined, found: Sighting, { timeMs }: Packet): Sighting {
  if (!known) return found;
  const copies = known.copies + 1;
  return Math.abs(found.timeMs - timeMs) < Math.abs(known.timeMs - timeMs) ? { ...found, copies } : { ...known, copies };
}
