/** A link's end that is a port of a switch: what the link sends is forwarded there, and what is forwarded to it the link gets. */

import { headerBytes } from '../frames.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';
import type { PortSpec, SwitchPortSettings, SwitchPortStats } from '../protocol.ts';
import type { EgressQueue } from './egress-queue.ts';
import { PortFloods } from './storm-control.ts';
import type { Switches } from './switches.ts';

export type SwitchPortSpec = Extract<PortSpec, { type: 'switch' }>;

/** The switch, as far as its ports know it. */
export interface ForwardingSwitch {
  /** Forwards the frames that came in at a port, and returns how many there were. */
  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number;
  settingsChanged(port: SwitchPort): void;
  unplug(port: SwitchPort): void;
}

export function openSwitchPort(spec: SwitchPortSpec, owner: PortOwner, switches: Switches): FabricPort {
  return switches.plug(spec, owner);
}

const opened = Promise.resolve();

export class SwitchPort implements FabricPort {
  readonly problem = undefined;
  readonly opened = opened;
  connected = true;
  /** Lost frames are counted here, by cause. */
  oversized = 0;
  readonly number: number;
  readonly queue: EgressQueue;
  settings: SwitchPortSettings;
  readonly floods = new PortFloods();
  readonly #switch: ForwardingSwitch;
  #dropped: Record<string, number> | undefined;
  #received = 0;
  #receivedBytes = 0;

  constructor(of: ForwardingSwitch, spec: SwitchPortSpec, queue: EgressQueue) {
    this.#switch = of;
    this.number = spec.port;
    this.settings = spec.settings;
    this.queue = queue;
  }

  nudge(): void {}

  change(spec: PortSpec): void {
    if (spec.type !== 'switch' || JSON.stringify(spec.settings) === JSON.stringify(this.settings)) return;
    this.settings = spec.settings;
    this.#switch.settingsChanged(this);
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    const frames = this.#switch.forward(this, buffer, start, end);
    this.#received += frames;
    this.#receivedBytes += end - start - frames * headerBytes;
    return true;
  }

  resume(): void {
    this.queue.resume();
  }

  /** Frames that came in here and go nowhere. */
  drop(cause: string, frames: number): void {
    this.#dropped ??= {};
    this.#dropped[cause] = (this.#dropped[cause] ?? 0) + frames;
  }

  close(): void {
    this.connected = false;
    this.queue.close();
    this.#switch.unplug(this);
  }

  stats(): SwitchPortStats {
    const { sent, sentBytes, queued, droppedFull, droppedOversized } = this.queue;
    return {
      port: this.number,
      received: this.#received,
      receivedBytes: this.#receivedBytes,
      sent,
      sentBytes,
      queued,
      dropped: {
        ...this.#dropped,
        ...(droppedFull > 0 && { queue_full: droppedFull }),
        ...(droppedOversized > 0 && { oversized: droppedOversized }),
      },
    };
  }
}

/** Frames that have returned at a port of a switch; 0 for other ports. */
export function returnedAt(port: FabricPort | undefined): number {
  return port instanceof SwitchPort ? port.floods.returned : 0;
}

/** VLAN of an access port of a switch; undefined for all other ports. */
export function accessVlan(port: FabricPort | undefined): number | undefined {
  if (!(port instanceof SwitchPort)) return undefined;
  const { settings } = port;
  return settings.medium === 'ethernet' && settings.mode === 'access' ? settings.vlan : undefined;
}
