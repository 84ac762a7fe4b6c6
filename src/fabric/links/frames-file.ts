/**
 * The frames of held links as a file: for each the number of its direction, the milliseconds until it leaves, and the frame with its
 * length before it. All numbers big-endian.
 */
import { open } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { readRegularFile } from '../../lib/regular-file.ts';
import { frameLength, headerBytes, maxFrameBytes } from '../frames.ts';
import type { Direction } from './direction.ts';

/** A whole number of 32 bits, a floating-point number of 64 bits. */
const recordBytes = 12;
const largestRecord = recordBytes + headerBytes + maxFrameBytes;
/** Bytes written at once: some milliseconds of small frames. */
const blockBytes = 256 * 1024;
/** Largest file. Frames beyond it are lost, and TCP sends them again. */
export const maxFileBytes = 256 * 1024 * 1024;

/** Returns how many. The directions are held; what comes meanwhile may be among them. @throws errors of the system */
export async function writeFrames(path: string, directions: readonly (Direction | undefined)[]): Promise<number> {
  const block = Buffer.allocUnsafeSlow(blockBytes);
  let [frames, bytes, used] = [0, 0, 0];
  await using file = await open(path, 'w', 0o600);
  for (const [index, direction] of directions.entries()) {
    for (const { remainingMs, frame } of direction?.waiting() ?? []) {
      const length = recordBytes + frame.length;
      if (bytes + length > maxFileBytes) break;
      block.writeUInt32BE(index, used);
      block.writeDoubleBE(remainingMs, used + 4);
      frame.copy(block, used + recordBytes);
      used += length;
      bytes += length;
      frames += 1;
      if (used <= blockBytes - largestRecord) continue;
      // Other links get their turn.
      await file.writeFile(block.subarray(0, used));
      used = 0;
    }
  }
  await file.writeFile(block.subarray(0, used));
  return frames;
}

/** Adds them to held directions. Returns how many. @throws for a file of another form; frames before the damage were added then */
export async function readFrames(path: string, directions: readonly (Direction | undefined)[]): Promise<number> {
  const content = await readRegularFile(path, maxFileBytes);
  let frames = 0;
  for (let at = 0; at < content.length; frames++) {
    const start = at + recordBytes;
    const length = start + headerBytes <= content.length ? frameLength(content, start) : 0;
    const end = start + headerBytes + length;
    const remainingMs = length === 0 ? Number.NaN : content.readDoubleBE(at + 4);
    if (!(remainingMs >= 0 && remainingMs <= longestMs) || length > maxFrameBytes || end > content.length)
      throw new Error(`${path} is damaged at byte ${at}`);
    directions[content.readUInt32BE(at)]?.restore(content.subarray(start, end), remainingMs);
    at = end;
    if (frames % framesPerTurn === framesPerTurn - 1) await turn();
  }
  return frames;
}

/** A delay is at most an hour. */
const longestMs = 3_600_000;
const framesPerTurn = 1024;
