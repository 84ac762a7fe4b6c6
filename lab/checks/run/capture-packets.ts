/** Captures the packets of a link during an action, and counts the packets that match. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { LinkCapture } from '../../../src/schema/capture.ts';
import type { Link } from '../../../src/schema/link.ts';
import type { LinkStats } from '../../../src/schema/link-stats.ts';
import {
  fileHeaderBytes,
  formatVersion,
  linkTypes,
  microsecondMagic,
  nanosecondMagic,
  recordHeaderBytes,
  snapLength,
} from '../../../src/schema/pcap.ts';
import type { CaptureLimits, HostCommand } from '../api/check-api.ts';
import type { CapturedPackets } from '../definition/results.ts';
import type { LabSite } from './lab-site.ts';

interface CaptureFinding extends CapturedPackets {
  /** The capture file, with all packets. */
  readonly pcap: Buffer;
  /** The first packets that match, as tcpdump prints them. */
  readonly text: string;
  /** Frames that passed and are not in the file. */
  readonly missed: number;
}

class CaptureError extends Error {
  override readonly name = 'CaptureError';
}

interface CaptureWish {
  readonly link: Link;
  readonly filter: string | undefined;
  readonly side: 'before' | 'after';
}

/** A longer capture is an error. */
const ownLimits: CaptureLimits = { bytes: 256 * 2 ** 20, tcpdump: { program: 'tcpdump', args: [] }, isPrinted: true };
const shownPackets = 20;
const missingTcpdump = 'packets are filtered by tcpdump, which cannot be run here. Install the package tcpdump';

/** Captures while `work` runs. @throws CaptureError, RequestError, and the error of `work` */
export async function capturePackets(
  site: LabSite,
  { link, filter, side }: CaptureWish,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<CaptureFinding> {
  const { bytes: max_bytes, tcpdump, isPrinted } = site.api.captures ?? ownLimits;
  await filterPackets(emptyCapture, filter, tcpdump);
  const captures = `/links/${link.link_id}/captures`;
  const { capture_id, capture_file_name } = await site.request<LinkCapture>('POST', captures, { side, max_bytes });
  const ending = new AbortController();
  let missed = 0;
  let pcap: Promise<Buffer>;
  try {
    const bytes = await site.api.stream(`${site.path}${captures}/${capture_id}/pcap`, AbortSignal.any([signal, ending.signal]));
    pcap = buffer(bytes);
    pcap.catch(() => undefined);
    await work();
    const stats = await site.request<LinkStats>('GET', `/links/${link.link_id}/stats`);
    const figures = stats.captures.find((one) => one.capture_id === capture_id);
    if (!figures)
      throw new CaptureError(`the capture ${capture_file_name} ended before its steps: was a node of the link stopped?`);
    if (figures.ended !== null) throw new CaptureError(`the capture ended before its steps: ${figures.ended}`);
    missed = figures.missed_frames;
  } catch (error) {
    ending.abort();
    throw error;
  } finally {
    await site.request('DELETE', `${captures}/${capture_id}`).catch(() => undefined);
  }
  const whole = await pcap;
  const matching = await filterPackets(whole, filter, tcpdump);
  return { ...countPackets(matching), pcap: whole, missed, text: isPrinted ? await printPackets(matching) : '' };
}

/** Header of a pcap file without packets: microseconds, Ethernet. */
const emptyCapture = Buffer.alloc(fileHeaderBytes);
emptyCapture.writeUInt32LE(microsecondMagic, 0);
emptyCapture.writeUInt16LE(formatVersion.major, 4);
emptyCapture.writeUInt16LE(formatVersion.minor, 6);
emptyCapture.writeUInt32LE(snapLength, 16);
emptyCapture.writeUInt32LE(linkTypes.DLT_EN10MB, 20);

/** Filters the packets. An invalid filter is found before anything is captured, by a capture without packets. */
async function filterPackets(pcap: Buffer, filter: string | undefined, tcpdump: HostCommand): Promise<Buffer> {
  return filter === undefined ? pcap : runTcpdump(['-r', '-', '-w', '-', '--', filter], pcap, tcpdump);
}

/** Prints the first packets as tcpdump does; empty where tcpdump fails. */
export async function printPackets(pcap: Buffer, most = shownPackets): Promise<string> {
  try {
    return (await runTcpdump(['-r', '-', '-nn', '-e', '-c', String(most)], pcap)).toString('utf8');
  } catch {
    // The text is for users only: the packets were counted.
    return '';
  }
}

/** Runs tcpdump. @throws CaptureError */
async function runTcpdump(args: readonly string[], input: Buffer, command = ownLimits.tcpdump): Promise<Buffer> {
  const { program, args: words, env, filter } = command;
  const pipes: 'pipe'[] = filter ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'];
  const child = spawn(program, [...words, ...args], { stdio: pipes, ...(env && { env }) }) as ChildProcessWithoutNullStreams;
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (cause) => reject(new CaptureError(missingTcpdump, { cause })));
    child.once('close', resolve);
  });
  const [stdin, , , filterPipe] = child.stdio as unknown as (Writable | undefined)[];
  // A program may exit before it has read everything.
  for (const pipe of [stdin, filterPipe]) pipe?.on('error', () => undefined);
  filterPipe?.end(filter);
  stdin?.end(input);
  const [code, output, errors] = await Promise.all([ended, buffer(child.stdout), text(child.stderr)]);
  if (code === 0) return output;
  // Exit codes of prlimit(1), which runs it where it is confined.
  if (code === 126 || code === 127) throw new CaptureError(missingTcpdump);
  const reason = errors.split('\n').findLast((line) => line.startsWith('tcpdump: ')) ?? `it ended with ${code}`;
  throw new CaptureError(`the filter cannot be used: ${reason.replace('tcpdump: ', '')}`);
}

const addresses = { start: 6, end: 12 } as const;

/**
 * Counts the packets of a pcap file in the byte order of its header. @see
 * https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html
 */
export function countPackets(pcap: Buffer): CapturedPackets {
  const isLittle = pcap.length >= fileHeaderBytes && [microsecondMagic, nanosecondMagic].includes(pcap.readUInt32LE(0));
  const senders = new Set<string>();
  let packets = 0;
  for (let at = fileHeaderBytes; at + recordHeaderBytes <= pcap.length; ) {
    const length = isLittle ? pcap.readUInt32LE(at + 8) : pcap.readUInt32BE(at + 8);
    const frame = pcap.subarray(at + recordHeaderBytes, at + recordHeaderBytes + length);
    if (frame.length < length) break;
    packets += 1;
    if (length >= addresses.end) senders.add(frame.toString('hex', addresses.start, addresses.end));
    at += recordHeaderBytes + length;
  }
  return { packets, senders: senders.size };
}
