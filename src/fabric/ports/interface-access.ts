/** Reads from and writes to an interface of this host, for a port. */
import { headerBytes, maxFrameBytes } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import type { InterfacePlace } from './interface-place.ts';
import { maxCutBytes } from './segment-cutter.ts';

/** Most bytes of one read. */
export const roomBytes = Math.max(headerBytes + maxFrameBytes, maxCutBytes);

/** Frames in memory, `buffer[start, end)`, each with its length in front. */
export interface FrameRange {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Result of writing the first frames of a range; the object is used again. */
export interface Written {
  /** 0, or an errno, negative. */
  readonly result: number;
  readonly frames: number;
  /** Where the next frame begins. */
  readonly next: number;
}

/** Result of a read; the object is used again. */
export interface Taken {
  /** 0, or an errno, negative. */
  readonly result: number;
  readonly frames: number;
  /** End of the last frame. */
  readonly end: number;
}

export interface InterfaceAccess {
  readonly name: string;
  readonly place: InterfacePlace;
  /** The kernel counts frames that nothing has read. */
  readonly hasQueue: boolean;
  /** A descriptor, or an errno, negative. Never rejects. */
  open(): number | Promise<number>;
  /** Reads one frame or several into `buffer` at `at`, where `roomBytes` must be free, each with its length in front. */
  read(descriptor: number, buffer: Buffer, at: number): Taken;
  /** The first frame of a range that has one, or several. */
  write(descriptor: number, range: FrameRange): Written;
  /** Called before the descriptor is closed. */
  release?(descriptor: number): void;
  /** The specification says something else that does not make it another port. */
  change?(spec: PortSpec): void;
}
