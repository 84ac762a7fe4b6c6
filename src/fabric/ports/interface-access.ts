/** How a port reads from and writes to an interface of this host. */
import type { PortSpec } from '../protocol.ts';

/** Frames in memory, `buffer[start, end)`, each with its length in front. */
export interface FrameRange {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** What was done with the first frames of a range; the object is used again. */
export interface Written {
  /** 0, or an errno, negative. */
  readonly result: number;
  readonly frames: number;
  /** Where the next frame begins. */
  readonly next: number;
}

export interface InterfaceAccess {
  readonly name: string;
  /** The kernel counts frames that nothing has read. */
  readonly hasQueue: boolean;
  /** A descriptor, or an errno, negative. */
  open(): number;
  /** One frame to `buffer` from `at` on. Its length, or an errno, negative. */
  read(descriptor: number, target: { buffer: Buffer; at: number; room: number }): number;
  /** The first frame of a range that has one, or several. */
  write(descriptor: number, range: FrameRange): Written;
  /** The specification says something else that does not make it another port. */
  change?(spec: PortSpec): void;
}
