/** Storm control of an Ethernet switch: how many frames to all stations, to groups and to unknown stations a port floods in a second. */
import type { EthernetSettings } from '../protocol.ts';
import { groupBit } from './address-table.ts';

type StormControl = NonNullable<EthernetSettings['stormControl']>;

/** Interval in which frames are counted, as switches with storm control do. Milliseconds. */
const intervalMs = 1000;
/** First two bytes of the broadcast address. No other group address in use begins with them. */
const toAll = 0xffff;

/** Time for which a port counts as one of a loop after a frame has returned there. */
const loopsForMs = 1000;

/** A run of frames that a port is to flood. */
interface Flood {
  /** First two bytes of the address. */
  readonly destination: number;
  readonly frames: number;
  readonly nowMs: number;
}

/** Frames that a port has flooded in the present interval, by kind. */
class FloodedFrames {
  sinceMs = Number.NEGATIVE_INFINITY;
  broadcast = 0;
  multicast = 0;
  unknownUnicast = 0;
}

/** Counters of the frames that came in at a port to be flooded. */
export class PortFloods {
  /** Frames whose sender was last seen behind another port. */
  returned = 0;
  /** Flooded frames of this port are bounded until then, by the clock of the switches. */
  loopsUntilMs = Number.NEGATIVE_INFINITY;
  /** Made with the first limited frame. */
  #flooded: FloodedFrames | undefined;

  onReturned(frames: number, nowMs: number): void {
    this.returned += frames;
    this.loopsUntilMs = nowMs + loopsForMs;
  }

  /** Returns how many frames of a run may be flooded. */
  admit(limits: StormControl, { destination, frames, nowMs }: Flood): number {
    const kind = destination === toAll ? 'broadcast' : (destination & groupBit) === 0 ? 'unknownUnicast' : 'multicast';
    const limit = limits[kind];
    if (limit === undefined) return frames;
    this.#flooded ??= new FloodedFrames();
    const flooded = this.#flooded;
    if (nowMs - flooded.sinceMs >= intervalMs) {
      flooded.sinceMs = nowMs;
      flooded.broadcast = 0;
      flooded.multicast = 0;
      flooded.unknownUnicast = 0;
    }
    const admitted = Math.max(0, Math.min(frames, limit - flooded[kind]));
    flooded[kind] += admitted;
    return admitted;
  }
}
