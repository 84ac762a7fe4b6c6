/**
 * ATM: each frame is a cell, whose path and channel (VPI, VCI) each port numbers in its own way. A circuit is a channel, or a whole
 * path, whose channels keep their numbers. Cells of circuits that were not set up are lost, and counted. Sources: ITU-T I.361 §2.2, the
 * header at a user's interface; I.432.1 §4.3.2, its check sum.
 */
import { frameLength, headerBytes } from '../frames.ts';
import type { AtmCircuit } from '../protocol.ts';
import type { SwitchPort } from './port-switch.ts';
import type { Forwarding, SwitchPorts } from './switches.ts';

const cellBytes = 53;

export class AtmForwarding implements Forwarding {
  readonly #ports: SwitchPorts;
  /** Number of a port to its circuits, by path and channel. */
  readonly #circuits = new Map<number, ReadonlyMap<string, AtmCircuit>>();

  constructor(ports: SwitchPorts) {
    this.#ports = ports;
  }

  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number {
    const circuits = this.#circuits.get(from.number);
    let frames = 0;
    let next = start;
    for (let at = start; at < end; at = next) {
      const length = frameLength(buffer, at);
      next = at + headerBytes + length;
      frames += 1;
      const cell = at + headerBytes;
      const header = length === cellBytes ? buffer.readUInt32BE(cell) : 0;
      const [vpi, vci] = [(header >>> 20) & 0xff, (header >>> 4) & 0xffff];
      const circuit = length === cellBytes ? (circuits?.get(keyOf(vpi, vci)) ?? circuits?.get(keyOf(vpi))) : undefined;
      const to = circuit && this.#ports.find(circuit.toPort);
      if (!circuit || !to) {
        from.drop('circuit', 1);
        continue;
      }
      const flags = header & 0xf000_000f;
      buffer.writeUInt32BE((flags | (circuit.toVpi << 20) | ((circuit.toVci ?? vci) << 4)) >>> 0, cell);
      buffer[cell + 4] = headerCheck(buffer, cell);
      to.queue.append(buffer, at, next, 1);
    }
    return frames;
  }

  portChanged({ number }: SwitchPort): void {
    const settings = this.#ports.find(number)?.settings;
    if (settings?.medium === 'atm')
      this.#circuits.set(number, new Map(settings.circuits.map((circuit) => [keyOf(circuit.vpi, circuit.vci), circuit])));
    else this.#circuits.delete(number);
  }
}

function keyOf(vpi: number, vci?: number): string {
  return vci === undefined ? `${vpi}` : `${vpi}/${vci}`;
}

/** Remainder of the first four octets by x^8 + x^2 + x + 1, plus 01010101. */
export function headerCheck(buffer: Uint8Array, at: number): number {
  let rest = 0;
  for (let index = 0; index < 4; index++) {
    rest ^= buffer[at + index] as number;
    for (let bit = 0; bit < 8; bit++) rest = rest & 0x80 ? ((rest << 1) ^ 0x07) & 0xff : rest << 1;
  }
  return rest ^ 0x55;
}
