/** Every frame leaves by every other port. */
import { countFrames } from '../frames.ts';
import type { SwitchPort } from './port-switch.ts';
import type { Forwarding, SwitchPorts } from './switches.ts';

export class HubForwarding implements Forwarding {
  readonly #ports: SwitchPorts;

  constructor(ports: SwitchPorts) {
    this.#ports = ports;
  }

  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number {
    const frames = countFrames(buffer, start, end);
    for (const port of this.#ports.all) if (port !== from) port.queue.append(buffer, start, end, frames);
    return frames;
  }
}
