/**
 * Ports to which the frames of a link are sent as well, both directions in one. A queue stands before each, bounded and dropped at its tail
 * as that of a switch: a mirror that is slow, or not there, delays no frame of the link. What comes from the port is dropped.
 */
import type { Tap } from '../captures/link-captures.ts';
import { countFrames } from '../frames.ts';
import type { FabricPort } from '../ports/port.ts';
import type { MirrorSpec, MirrorStats } from '../protocol.ts';
import { EgressQueue } from '../switches/egress-queue.ts';
import type { FlushTurns } from '../switches/flush-turns.ts';
import { withRefused } from './host-counts.ts';
import { openPort, type PortTools } from './open-port.ts';

export interface MirrorTools extends PortTools {
  readonly mirrorTurns: FlushTurns;
}

class Mirror implements Tap {
  readonly id: string;
  readonly port: FabricPort;
  readonly #queue: EgressQueue;
  #sent = 0;
  #noPeer = 0;
  #oversized = 0;

  constructor({ id, port }: MirrorSpec, tools: MirrorTools) {
    this.id = id;
    this.#queue = new EgressQueue((buffer, start, end, frames) => this.#deliver(buffer, start, end, frames), tools.mirrorTurns);
    this.port = openPort(port, { received: () => true, drained: () => this.#queue.resume() }, tools);
  }

  take(buffer: Buffer, start: number, end: number): void {
    this.#queue.append(buffer, start, end, countFrames(buffer, start, end));
  }

  stats(): MirrorStats {
    const { queued, droppedFull } = this.#queue;
    const causes = { queue_full: droppedFull, no_peer: this.#noPeer, oversized: this.#oversized };
    const dropped = Object.fromEntries(Object.entries(causes).filter(([, frames]) => frames > 0));
    return withRefused({ id: this.id, connected: this.port.connected, sent: this.#sent, queued, dropped }, this.port);
  }

  close(): void {
    this.#queue.close();
    this.port.close();
  }

  #deliver(buffer: Buffer, start: number, end: number, frames: number): boolean {
    const { port } = this;
    if (!port.connected) {
      this.#noPeer += frames;
      return true;
    }
    const isFree = port.send(buffer, start, end);
    this.#sent += frames - port.oversized;
    this.#oversized += port.oversized;
    port.oversized = 0;
    return isFree;
  }
}

export class LinkMirrors {
  readonly #tools: MirrorTools;
  readonly #open = new Map<string, Mirror>();

  constructor(tools: MirrorTools) {
    this.#tools = tools;
  }

  get taps(): readonly Tap[] {
    return [...this.#open.values()];
  }

  /** Why a port cannot be used, where the client can fix it. */
  get problem(): string | undefined {
    for (const { port } of this.#open.values()) if (port.problem !== undefined) return port.problem;
    return undefined;
  }

  /** Closes those that are not wanted any more, so that a link can have their ports. */
  keep(wanted: readonly MirrorSpec[]): void {
    const keys = new Set(wanted.map(keyOf));
    for (const [key, mirror] of this.#open) {
      if (keys.has(key)) continue;
      this.#open.delete(key);
      mirror.close();
    }
  }

  /** Exactly these. Settles when their ports have been tried. */
  async apply(wanted: readonly MirrorSpec[]): Promise<void> {
    this.keep(wanted);
    for (const spec of wanted) {
      const key = keyOf(spec);
      const present = this.#open.get(key);
      present?.port.nudge();
      if (!present) this.#open.set(key, new Mirror(spec, this.#tools));
    }
    await Promise.all(Array.from(this.#open.values(), ({ port }) => port.opened));
  }

  stats(): MirrorStats[] {
    return Array.from(this.#open.values(), (mirror) => mirror.stats());
  }
}

/** Key of a mirror: specifications with the same key are the same mirror. */
function keyOf({ id, port }: MirrorSpec): string {
  return JSON.stringify([id, port]);
}
