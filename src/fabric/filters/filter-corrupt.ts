/**
 * Damages a quarter of the frame, in its middle, with the given chance in percent. Which bytes and which pattern are those of the
 * implementation in GNS3, so that its users see the same damage; the pattern continues from frame to frame.
 */
import type { FilterMaker } from './filter.ts';

const pattern = [0x64, 0x13, 0x88, 0x40, 0x1f, 0xa0, 0xaa, 0x55];

export const corrupt: FilterMaker = (values, { random }) => {
  let position = 0;
  return {
    get position() {
      return position;
    },
    set position(next) {
      position = next & 7;
    },
    pass(buffer, start, end) {
      if (!random.chance(Number(values[0]))) return true;
      const length = end - start;
      const count = length >> 2;
      const first = start + (length >> 1) - (count >> 1) + 1;
      for (let at = first; at < first + count; at += 1) {
        buffer[at] = (buffer[at] as number) ^ (pattern[position] as number);
        position = (position + 1) & 7;
      }
      return true;
    },
  };
};
