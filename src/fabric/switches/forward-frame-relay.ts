/**
 * Frame relay: a frame's first two bytes say its circuit (DLCI), which each port numbers in its own way. Frames of circuits that were not
 * set up are lost, and counted. Source: ITU-T Q.922 §3.3, address of two octets; the other bits (C/R, FECN, BECN, DE) stay.
 */

import { frameLength, headerBytes } from '../frames.ts';
import type { FrameRelayCircuit } from '../protocol.ts';
import { type CircuitState, StatusAnswers } from './frame-relay-status.ts';
import type { SwitchPort } from './port-switch.ts';
import type { Forwarding, SwitchPorts } from './switches.ts';

/** DLCI of the conversation with the switch itself. */
const statusDlci = 0;

interface PortCircuits {
  readonly circuits: ReadonlyMap<number, FrameRelayCircuit>;
  readonly answers: StatusAnswers;
}

export class FrameRelayForwarding implements Forwarding {
  readonly #ports: SwitchPorts;
  /** Circuits of each port, by the port's number; its circuits by DLCI. */
  readonly #lines = new Map<number, PortCircuits>();

  constructor(ports: SwitchPorts) {
    this.#ports = ports;
  }

  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number {
    const line = this.#lines.get(from.number);
    let frames = 0;
    let next = start;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      frames += 1;
      const dlci = dlciOf(buffer, at + headerBytes, next);
      const circuit = dlci === undefined ? undefined : line?.circuits.get(dlci);
      const to = circuit && this.#ports.find(circuit.toPort);
      if (!circuit || !to) {
        const answer = dlci === statusDlci && line ? line.answers.to(buffer, at, this.#states(line)) : undefined;
        if (answer) from.queue.append(answer, 0, answer.length, 1);
        else from.drop('circuit', 1);
        continue;
      }
      putDlci(buffer, at + headerBytes, circuit.toDlci);
      to.queue.append(buffer, at, next, 1);
    }
    return frames;
  }

  portChanged({ number }: SwitchPort): void {
    const settings = this.#ports.find(number)?.settings;
    if (settings?.medium !== 'frame_relay') {
      this.#lines.delete(number);
      return;
    }
    const circuits = new Map(settings.circuits.map((circuit) => [circuit.dlci, circuit]));
    this.#lines.set(number, { circuits, answers: this.#lines.get(number)?.answers ?? new StatusAnswers() });
  }

  /** A circuit is active while something is joined to its other port. */
  *#states({ circuits }: PortCircuits): Iterable<CircuitState> {
    for (const { dlci, toPort } of circuits.values()) yield { dlci, isActive: this.#ports.find(toPort) !== undefined };
  }
}

/** Undefined when the address is not one of two octets: the last bit of each octet says whether another follows. */
function dlciOf(buffer: Buffer, start: number, end: number): number | undefined {
  const [high, low] = [buffer[start] as number, buffer[start + 1] as number];
  if (end - start < 2 || (high & 1) !== 0 || (low & 1) === 0) return undefined;
  return ((high >> 2) << 4) | (low >> 4);
}

function putDlci(buffer: Buffer, at: number, dlci: number): void {
  buffer[at] = ((dlci >> 4) << 2) | ((buffer[at] as number) & 0x03);
  buffer[at + 1] = ((dlci & 0xf) << 4) | ((buffer[at + 1] as number) & 0x0f);
}
