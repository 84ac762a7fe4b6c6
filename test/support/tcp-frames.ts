/** Frames with TCP, as a capture holds them. Checksums are made up. */

/** A segment between 10.0.0.1 and 10.0.0.2. */
export interface Segment {
  readonly from: 1 | 2;
  readonly sequence: number;
  readonly data?: string;
  readonly syn?: true;
  readonly ack?: true;
  readonly ports?: readonly [number, number];
}

/** An Ethernet frame with IPv4 and TCP between 10.0.0.1 and 10.0.0.2. */
export function tcpFrame(
  { from, sequence, data = '', syn, ack, ports = [4000, 80] }: Segment,
  { ttl = 64, tag = false, macs = 1 } = {},
): Buffer<ArrayBuffer> {
  const payload = Buffer.from(data);
  const head = Buffer.from([0, 0, 0, 0, 0, macs, 0, 0, 0, 0, 0, macs + 1]);
  const ip = Buffer.alloc(20);
  ip[0] = 0x45;
  ip.writeUInt16BE(40 + payload.length, 2);
  ip.writeUInt16BE(sequence & 0xffff, 4);
  ip[8] = ttl;
  ip[9] = 6;
  ip.writeUInt16BE(ttl * 7, 10);
  const [source, destination] = from === 1 ? [1, 2] : [2, 1];
  ip.set([10, 0, 0, source, 10, 0, 0, destination], 12);
  const tcp = Buffer.alloc(20);
  tcp.writeUInt16BE(ports[from === 1 ? 0 : 1], 0);
  tcp.writeUInt16BE(ports[from === 1 ? 1 : 0], 2);
  tcp.writeUInt32BE(sequence >>> 0, 4);
  tcp[12] = 0x50;
  tcp[13] = (syn ? 2 : 0) | (ack ? 16 : 0);
  return Buffer.concat([head, Buffer.from(tag ? [0x81, 0, 0, 20] : []), Buffer.from([8, 0]), ip, tcp, payload]);
}
