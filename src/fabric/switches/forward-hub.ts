/**
 * Every frame leaves by every other port. A hub needs no addresses; it remembers senders only to notice frames that return by another port,
 * and looks at the first frame of each read for it.
 */
import { countFrames, endOfFrames, frameLength, headerBytes } from '../frames.ts';
import { AddressTable, groupBit } from './address-table.ts';
import type { SwitchPort } from './port-switch.ts';
import type { StormBound } from './storm-bound.ts';
import type { Forwarding, SwitchPorts } from './switches.ts';

/** Length of both addresses. */
const addressBytes = 12;

export class HubForwarding implements Forwarding {
  readonly #ports: SwitchPorts;
  readonly #clock: () => number;
  readonly #bound: StormBound;
  readonly #senders = new AddressTable();

  constructor(ports: SwitchPorts, clock: () => number, bound: StormBound) {
    this.#ports = ports;
    this.#clock = clock;
    this.#bound = bound;
  }

  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number {
    const frames = countFrames(buffer, start, end);
    let [admitted, until] = [frames, end];
    const nowMs = this.#clock();
    if (this.#hasReturned(from, buffer, start, nowMs)) from.floods.onReturned(frames, nowMs);
    if (nowMs <= from.floods.loopsUntilMs) {
      admitted = this.#bound.admit(frames);
      if (admitted < frames) {
        from.drop('storm', frames - admitted);
        until = endOfFrames(buffer, start, admitted);
      }
    }
    if (admitted > 0) for (const port of this.#ports.all) if (port !== from) port.queue.append(buffer, start, until, admitted);
    return frames;
  }

  portChanged({ number }: SwitchPort): void {
    this.#senders.forgetPort(number);
  }

  /** Whether the sender of this frame was last seen behind another port. */
  #hasReturned(from: SwitchPort, buffer: Buffer, start: number, nowMs: number): boolean {
    if (frameLength(buffer, start) < addressBytes) return false;
    const source = buffer.readUInt16BE(start + headerBytes + 6);
    if ((source & groupBit) !== 0) return false;
    return this.#senders.learn(source, buffer.readInt32BE(start + headerBytes + 8), from.number, nowMs);
  }
}
