/**
 * The layout of frames in memory everywhere in the fabric: 4 bytes of length, big-endian, then the frame, one after the other. Stream
 * sockets carry the same format, so a run of frames that needs no filter is written as it was read.
 */

export const headerBytes = 4;
/** Longest frame taken: NET_BUFSIZE of QEMU 7.2 (`include/net/net.h`), 4 KiB more than 64 KiB. Anything longer is not a length. */
export const maxFrameBytes = 4096 + 65536;

/** A frame in memory, `buffer[start, end)` with its length in front; the object is used again for the next one. */
export interface FrameAt {
  buffer: Buffer;
  start: number;
  end: number;
  /** Time of the arrival, ms of `performance.now()`. */
  arrivedMs: number;
}

/** The length field at `at`, which may be any number up to 2^32 - 1. */
export function frameLength(buffer: Uint8Array, at: number): number {
  const high = buffer[at] as number;
  return high * 0x1000000 + (((buffer[at + 1] as number) << 16) | ((buffer[at + 2] as number) << 8) | (buffer[at + 3] as number));
}

export function putFrameLength(buffer: Uint8Array, at: number, length: number): void {
  buffer[at] = length >>> 24;
  buffer[at + 1] = length >>> 16;
  buffer[at + 2] = length >>> 8;
  buffer[at + 3] = length;
}

export function countFrames(buffer: Uint8Array, start: number, end: number): number {
  let frames = 0;
  for (let at = start; at < end; at += headerBytes + frameLength(buffer, at)) frames += 1;
  return frames;
}

/** The end of the first so many frames; there are as many. */
export function endOfFrames(buffer: Uint8Array, start: number, frames: number): number {
  let at = start;
  for (let left = frames; left > 0; left--) at += headerBytes + frameLength(buffer, at);
  return at;
}
