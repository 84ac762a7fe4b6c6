/**
 * Reads the times and sizes of the packets of a pcap file, for traffic that repeats them. Source of the format: `schema/pcap.ts`.
 * The file is untrusted: every length is compared with the file's.
 */
import { constants, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isReallyBelow } from '../../../src/lib/inside.ts';
import { fileHeaderBytes, linkTypes, microsecondMagic, nanosecondMagic, recordHeaderBytes } from '../../../src/schema/pcap.ts';
import { longestTrafficMs, mostDatagrams, trafficSizes } from '../../../src/schema/traffic.ts';
import type { ReplayPackets } from '../definition/traffic.ts';

export class ReplayError extends Error {
  override readonly name = 'ReplayError';
}

/** Packets in the form of `TrafficStart`. */
export interface PacketTrain {
  /** Time before each packet, microseconds. */
  readonly gaps_us: number[];
  /** Size of each frame, bytes. */
  readonly sizes: number[];
}

const mostBytes = 64 * 1024 * 1024;
/** Longest record, the limit of libpcap (MAXIMUM_SNAPLEN). */
const longestRecord = 262_144;
const pcapngMagic = 0x0a0d0d0a;
/** Mask of the link type: the upper bits tell whether frames have a checksum. */
const linkTypeBits = 0xffff;

/** Reads the file. `base`: folder of the lab file; `packets.file` must be below it. @throws ReplayError */
export async function readReplay(base: string, { file, forMs }: ReplayPackets): Promise<PacketTrain> {
  const path = resolve(base, file);
  const fail = (problem: string) => new ReplayError(`${file} ${problem}`);
  if (!(await isReallyBelow(resolve(base), path))) throw fail('is outside of the folder of the lab file. Move it there');
  let content: Buffer;
  try {
    // O_NONBLOCK keeps a named pipe from blocking.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = await handle.stat();
    if (!facts.isFile()) throw fail('is not a file');
    if (facts.size > mostBytes)
      throw fail(`has more than ${mostBytes} bytes. Shorten its packets: editcap -s 64 ${file} SHORT.pcap`);
    content = await handle.readFile();
  } catch (error) {
    if (error instanceof ReplayError) throw error;
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message;
    throw fail(`cannot be read: ${reason}`);
  }
  try {
    return trainOf(content, forMs);
  } catch (error) {
    throw fail((error as Error).message);
  }
}

/** Parses a pcap file. `forMs`: later packets are left out; without it there must be none. @throws ReplayError */
export function trainOf(content: Buffer, forMs?: number): PacketTrain {
  const { isLittle, unitsInMicrosecond } = readHeader(content);
  const word = (at: number) => (isLittle ? content.readUInt32LE(at) : content.readUInt32BE(at));
  const gaps_us: number[] = [];
  const sizes: number[] = [];
  let [first, last] = [0, 0];
  for (let at = fileHeaderBytes; at < content.length; ) {
    const number = gaps_us.length + 1;
    if (at + recordHeaderBytes > content.length) throw new ReplayError(`is damaged: it ends within packet ${number}`);
    const [seconds, fraction, kept, length] = [word(at), word(at + 4), word(at + 8), word(at + 12)];
    if (fraction >= unitsInMicrosecond * 1_000_000) throw new ReplayError(`is damaged: packet ${number} has no valid time stamp`);
    if (kept > longestRecord) throw new ReplayError(`is damaged: packet ${number} has ${kept} bytes`);
    at += recordHeaderBytes + kept;
    if (at > content.length) throw new ReplayError(`is damaged: it ends within packet ${number}`);
    const time = seconds * 1_000_000 + fraction / unitsInMicrosecond;
    if (number === 1) first = time;
    // Packets of several interfaces are not always in order.
    const now = Math.max(last, Math.round(time - first));
    if (forMs !== undefined && now > forMs * 1000) break;
    if (now > longestTrafficMs * 1000)
      throw new ReplayError(`${tooMuch(`lasts longer than ${longestTrafficMs / 60_000} minutes`)}`);
    if (number > mostDatagrams) throw new ReplayError(tooMuch(`has more than ${mostDatagrams} packets`));
    gaps_us.push(now - last);
    sizes.push(Math.min(Math.max(length, trafficSizes.minimum), trafficSizes.maximum));
    last = now;
  }
  if (gaps_us.length === 0) throw new ReplayError('has no packets');
  return { gaps_us, sizes };
}

function tooMuch(what: string): string {
  return `${what}. Repeat its beginning only: \`for: 10s\``;
}

/** Reads the header. @throws ReplayError */
function readHeader(content: Buffer): { isLittle: boolean; unitsInMicrosecond: number } {
  if (content.length >= 4 && content.readUInt32LE(0) === pcapngMagic) {
    throw new ReplayError('is a pcapng file. Convert it: editcap -F pcap IN.pcapng OUT.pcap');
  }
  if (content.length < fileHeaderBytes) throw new ReplayError('is not a pcap file');
  const magics = [content.readUInt32LE(0), content.readUInt32BE(0)];
  const side = magics.findIndex((magic) => magic === microsecondMagic || magic === nanosecondMagic);
  if (side < 0) throw new ReplayError('is not a pcap file');
  const isLittle = side === 0;
  const linkType = (isLittle ? content.readUInt32LE(20) : content.readUInt32BE(20)) & linkTypeBits;
  if (linkType !== linkTypes.DLT_EN10MB) throw new ReplayError(`has frames of the link type ${linkType}, not of Ethernet`);
  return { isLittle, unitsInMicrosecond: magics[side] === nanosecondMagic ? 1000 : 1 };
}
