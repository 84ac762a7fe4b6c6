/**
 * Extracts the plain kernel from a bzImage. QEMU starts a plain x86 kernel directly (PVH), which saves the guest its own
 * decompression: half a second under TCG.
 *
 * Layout of a bzImage: Documentation/arch/x86/boot.rst, fields `setup_sects`, `payload_offset`, `payload_length`.
 */
const setupSectorsAt = 0x1f1;
const magicAt = 0x202;
const payloadOffsetAt = 0x248;
const payloadLengthAt = 0x24c;
/** First bytes of the older LZ4 frame format, which `lz4 -l` writes and Debian's cloud kernels use. */
const lz4Magic = 0x184c2102;
const elfMagic = 0x464c457f;

/** The plain kernel, or undefined for another compression: then the bzImage itself must be booted. */
export function unpackKernel(bzImage: Buffer): Buffer | undefined {
  if (bzImage.length < 0x250 || bzImage.toString('latin1', magicAt, magicAt + 4) !== 'HdrS') return undefined;
  const setupSectors = bzImage[setupSectorsAt] || 4;
  const start = (setupSectors + 1) * 512 + bzImage.readUInt32LE(payloadOffsetAt);
  const end = start + bzImage.readUInt32LE(payloadLengthAt);
  if (end > bzImage.length || bzImage.readUInt32LE(start) !== lz4Magic) return undefined;
  // The kernel's build appends the unpacked size to the payload.
  const kernel = unpackLz4(bzImage.subarray(start + 4, end - 4), bzImage.readUInt32LE(end - 4));
  return kernel?.readUInt32LE(0) === elfMagic ? kernel : undefined;
}

/** Decompresses a sequence of blocks, each preceded by its compressed size (4 bytes, little-endian). Undefined for damaged data. */
export function unpackLz4(blocks: Buffer, sizeBytes: number): Buffer | undefined {
  const out = Buffer.allocUnsafe(sizeBytes);
  let written = 0;
  for (let at = 0; at + 4 <= blocks.length; ) {
    const length = blocks.readUInt32LE(at);
    const block = blocks.subarray(at + 4, at + 4 + length);
    if (block.length < length) return undefined;
    written = unpackBlock(block, out, written);
    if (written > sizeBytes) return undefined;
    at += 4 + length;
  }
  return written === sizeBytes ? out : undefined;
}

/** Unpacks a LZ4 block (lz4_Block_format.md): literals, then a copy of `length` bytes from `distance` bytes before, repeated. */
function unpackBlock(block: Buffer, out: Buffer, from: number): number {
  let at = 0;
  let written = from;
  const extended = (nibble: number) => {
    let length = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; length += byte) byte = block[at++] ?? 0;
    return length;
  };
  while (at < block.length) {
    const token = block[at++] ?? 0;
    const literals = extended(token >> 4);
    block.copy(out, written, at, at + literals);
    at += literals;
    written += literals;
    if (at >= block.length) break; // the last sequence has literals only
    const distance = (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8);
    at += 2;
    const length = extended(token & 15) + 4;
    if (distance === 0 || distance > written) return Number.POSITIVE_INFINITY;
    for (let left = length; left > 0; ) {
      // A copy may overlap its output: it then repeats the last `distance` bytes.
      const step = Math.min(left, distance);
      out.copyWithin(written, written - distance, written - distance + step);
      written += step;
      left -= step;
    }
  }
  return written;
}
