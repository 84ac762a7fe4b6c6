/** A link's end that is the Ethernet port of a PC: frames of the link wait for the PC's turn. */
import { countFrames } from '../frames.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';
import type { PortSpec } from '../protocol.ts';
import type { PcFrames } from './pc-frames.ts';
import type { Pcs } from './pcs.ts';

export type PcPortSpec = Extract<PortSpec, { type: 'pc' }>;

/** The PC, as far as its port knows it. */
export interface PortHolder {
  readonly frames: PcFrames;
  /** Frames have arrived, or the port has another state. */
  wake(): void;
  unplug(port: PcPort): void;
}

export function openPcPort(spec: PcPortSpec, owner: PortOwner, pcs: Pcs): FabricPort {
  return pcs.plug(spec.pc, owner);
}

export class PcPort implements FabricPort {
  readonly problem = undefined;
  readonly opened = Promise.resolve();
  readonly refused: Record<string, number> = {};
  oversized = 0;
  /** Undefined while the PC does not exist. */
  #holder: PortHolder | undefined;
  readonly #owner: PortOwner;
  readonly #onClose: () => void;

  constructor(owner: PortOwner, onClose: () => void) {
    this.#owner = owner;
    this.#onClose = onClose;
  }

  get connected(): boolean {
    return this.#holder !== undefined;
  }

  /** The port is that of this PC from now on. */
  join(holder: PortHolder | undefined): void {
    this.#holder?.frames.setLink(undefined);
    this.#holder = holder;
    holder?.frames.setLink(this.#owner);
    holder?.wake();
  }

  nudge(): void {}

  send(buffer: Buffer, start: number, end: number): boolean {
    if (this.#holder?.frames.arrive(buffer, start, end)) this.#holder.wake();
    else this.refused.queue_full = (this.refused.queue_full ?? 0) + countFrames(buffer, start, end);
    return true;
  }

  resume(): void {
    this.#holder?.frames.resume();
  }

  close(): void {
    this.#holder?.unplug(this);
    this.join(undefined);
    this.#onClose();
  }
}
