/** The sum of the internet's checksums (RFC 1071): of 16-bit words in ones' complement, big-endian. */

/** Sum in ones' complement of `view[from, to)` and `initial`; 0xffff if a correct checksum is within. */
export function onesSum(view: DataView, from: number, to: number, initial = 0): number {
  // Words of 32 bits are read as little-endian, since the order of bytes only swaps those of the sum. Floating-point sums have no carries
  // to look after and are exact up to 2^53; fractions keep them from becoming integers. This is where the time goes.
  let first = 0.5;
  let second = 0.5;
  let at = from;
  for (const stop = to - 15; at < stop; at += 16) {
    first += view.getUint32(at, true) + view.getUint32(at + 4, true);
    second += view.getUint32(at + 8, true) + view.getUint32(at + 12, true);
  }
  const swapped = foldedSum(first + second - 1);
  let sum = ((swapped & 0xff) << 8) + (swapped >>> 8) + initial;
  for (; at + 2 <= to; at += 2) sum += view.getUint16(at);
  if (at < to) sum += view.getUint8(at) << 8;
  return foldedSum(sum);
}

/** Words of 16 bits added, with their carries. */
export function foldedSum(sum: number): number {
  const high = Math.floor(sum / 0x10000);
  let rest = sum - high * 0x10000 + high;
  while (rest > 0xffff) rest = (rest & 0xffff) + (rest >>> 16);
  return rest;
}
