/** Decodes a frame. */
import { linkTypes } from '../../../src/schema/pcap.ts';
import { Decoding } from './decoding.ts';
import { decodeEthernet } from './ethernet.ts';
import { View } from './view.ts';

export const ethernetLink = linkTypes.DLT_EN10MB;

/** Never throws: of a truncated or invalid frame it decodes as much as possible. */
export function decode(bytes: Uint8Array, linkType: number = ethernetLink): Decoding {
  const out = new Decoding();
  if (linkType !== ethernetLink) {
    out.add({ name: `DLT ${linkType}`, at: 0, length: bytes.length, fields: [] }, { info: `${bytes.length} bytes` });
    return out;
  }
  try {
    decodeEthernet(new View(bytes), 0, out);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    out.isCut = true;
  }
  return out;
}
