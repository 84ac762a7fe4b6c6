/** Reads classic pcap, as tests want to see it; anything that is not whole is an error. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from '../../src/lib/node-http.ts';

export interface PcapFrame {
  /** Seconds since 1970. */
  readonly time: number;
  /** Length on the link. */
  readonly length: number;
  readonly data: Buffer;
}

export interface Pcap {
  readonly magic: number;
  readonly version: string;
  readonly snapLength: number;
  readonly linkType: number;
  readonly frames: PcapFrame[];
}

export function parsePcap(bytes: Buffer): Pcap {
  assert.ok(bytes.length >= 24, `${bytes.length} bytes are no pcap header`);
  const magic = bytes.readUInt32LE(0);
  const perSecond = magic === 0xa1b23c4d ? 1e9 : 1e6;
  const frames: PcapFrame[] = [];
  for (let at = 24; at < bytes.length; ) {
    assert.ok(at + 16 <= bytes.length, 'a record is torn');
    const [seconds, fraction, kept, length] = [0, 4, 8, 12].map((field) => bytes.readUInt32LE(at + field)) as [
      number,
      number,
      number,
      number,
    ];
    assert.ok(fraction < perSecond && kept <= 65_535 && kept <= length, 'a record is not sound');
    assert.ok(at + 16 + kept <= bytes.length, 'a frame is torn');
    frames.push({ time: seconds + fraction / perSecond, length, data: bytes.subarray(at + 16, at + 16 + kept) });
    at += 16 + kept;
  }
  return {
    magic,
    version: `${bytes.readUInt16LE(4)}.${bytes.readUInt16LE(6)}`,
    snapLength: bytes.readUInt32LE(16),
    linkType: bytes.readUInt32LE(20),
    frames,
  };
}

export interface PcapStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  bytes(): Buffer;
  /** Resolves when the server has ended the stream, rejects when it was cut. */
  readonly ended: Promise<void>;
  /** Stops reading for a while, as a slow reader does. */
  readonly message: IncomingMessage;
  close(): void;
}

/** Asks for a capture's stream and keeps what comes. */
export async function openPcap(url: string): Promise<PcapStream> {
  const outgoing = request(url, { agent: false });
  outgoing.end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    message.once('end', resolve);
    message.once('error', reject);
  });
  ended.catch(() => undefined);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    bytes: () => Buffer.concat(chunks),
    ended,
    message,
    close: () => outgoing.destroy(),
  };
}

/** The complete records at the start of the received bytes. */
export function wholeFrames(bytes: Buffer): PcapFrame[] {
  let end = 24;
  while (end + 16 <= bytes.length && end + 16 + bytes.readUInt32LE(end + 8) <= bytes.length)
    end += 16 + bytes.readUInt32LE(end + 8);
  return bytes.length < 24 ? [] : parsePcap(bytes.subarray(0, end)).frames;
}

/** Whether it is an IPv4 packet with an ICMP message in it. */
export function isPing({ data }: PcapFrame): boolean {
  return data.length >= 34 && data.readUInt16BE(12) === 0x0800 && data[23] === 1;
}
