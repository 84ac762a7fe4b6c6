/** The first message of a SPICE client. */

/** A link message of the main channel (spice-protocol: magic, version 2.2, size, header without capabilities). */
export function linkOfSpice(): Uint8Array<ArrayBuffer> {
  const link = Buffer.alloc(16 + 18);
  link.write('REDQ', 'latin1');
  link.writeUInt32LE(2, 4);
  link.writeUInt32LE(2, 8);
  link.writeUInt32LE(18, 12);
  link.writeUInt8(1, 20);
  link.writeUInt32LE(18, 30);
  return Uint8Array.from(link);
}
