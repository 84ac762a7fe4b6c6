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
/** What more there is, TCP sends again. */
export const maxFileBytes = 256 * 1024 * 1024;

/** Returns how many. The frames are those that wait now. @throws errors of the system */
export async function writeFrames(path: string, directions: readonly (Direction | undefined)[]): Promise<number> {
  const parts: Buffer[] = [];
  let [frames, bytes] = [0, 0];
  for (const [index, direction] of directions.entries()) {
    for (const { remainingMs, frame } of direction?.waiting() ?? []) {
      if (bytes + recordBytes + frame.length > maxFileBytes) break;
      const record = Buffer.allocUnsafe(recordBytes + frame.length);
      record.writeUInt32BE(index);
      record.writeDoubleBE(remainingMs, 4);
      frame.copy(record, recordBytes);
      parts.push(record);
      bytes += record.length;
      frames += 1;
    }
  }
  await using file = await open(path, 'w', 0o600);
  if (parts.length > 0) await file.writev(parts);
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
