import { hex } from './decode/view.ts';

export interface HexByte {
  readonly at: number;
  readonly hex: string;
  /** ASCII text; a dot for each unprintable byte. */
  readonly text: string;
}

const lineBytes = 16;
/** Limit of the bytes shown; of a longer packet only the first ones are. */
const mostBytes = 4096;

export function hexLines(packet: Uint8Array): { readonly at: number; readonly bytes: readonly HexByte[] }[] {
  const shown = packet.subarray(0, mostBytes);
  return Array.from({ length: Math.ceil(shown.length / lineBytes) }, (_, line) => {
    const at = line * lineBytes;
    const bytes = Array.from(shown.subarray(at, at + lineBytes), (byte, place) => ({
      at: at + place,
      hex: hex(byte, 2),
      text: byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    }));
    return { at, bytes };
  });
}
