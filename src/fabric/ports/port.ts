/** The interface between a link and its ports. */
import type { RetryTimes } from '../../lib/retry.ts';
import type { PeerCarrier, PeerPath, PortSpec } from '../protocol.ts';
import type { PlaceName } from './interface-place.ts';

/**
 * Times at which a port tries again to connect. Each wait is a tenth of the time since the first failure: short while a guest boots, and a
 * second later on, as a thousand idle ports must cost next to nothing.
 */
export const portRetry: RetryTimes = { firstMs: 20, longestMs: 1000, growth: 1.1 };

/** Receiver of the frames that a port reads. */
export interface PortOwner {
  /**
   * Takes `frames` whole frames, length-prefixed (`frames.ts`), in `buffer[start, end)`; may change them in place. False: the memory
   * is still in use, and the port must neither change it nor read on until `resume`.
   */
  received(buffer: Buffer, start: number, end: number, frames: number): boolean;
  /** The memory of the last `send` that answered false is free, or was given up. */
  drained(): void;
}

/** Frames that came in at a TAP interface and were lost there. */
export interface TapLosses {
  readonly name: string;
  readonly place: PlaceName;
  /** Frames lost in the interface's queue since the port was made. `total`: all that the kernel has counted there. */
  lost(total: number): number;
}

export interface FabricPort {
  /** Whether frames can be sent now. */
  readonly connected: boolean;
  /** Why the port cannot be used, where the client can fix it. */
  readonly problem: string | undefined;
  /** Carrier of frames to the other compute, where the port leads to one of ours. `path`: that of the stream, while there is one. */
  readonly peer?: { readonly carrier: PeerCarrier; readonly path: PeerPath | undefined };
  /** Frames of those it was given to send that were lost at once, by cause, since the port was made. */
  readonly refused?: Readonly<Record<string, number>> | undefined;
  /** Losses at the TAP interface of a port on one. */
  readonly tap?: TapLosses;
  /** Settles after the first attempt; never rejects. */
  readonly opened: Promise<void>;
  /** Tries again at once if it waits to try again. */
  nudge(): void;
  /** Frames that were too long to be sent, until the reader of this counter resets it to 0. */
  oversized: number;
  /**
   * Sends the frames in `buffer[start, end)`; only while `connected`. False: the memory is still being written from and must stay as
   * it is, and nothing more may be sent, until `drained`.
   */
  send(buffer: Buffer, start: number, end: number): boolean;
  /** Reads on after `received` answered false. */
  resume(): void;
  /** The specification says something else that does not make it another port. */
  change?(spec: PortSpec): void;
  close(): void;
}
