/** An IPv4 station at a port of a switch inside the fabric: answers ARP, finds its next hop, sends and receives frames. */
import { randomBytes } from 'node:crypto';
import { frameLength, headerBytes } from '../frames.ts';
import type { SwitchPort } from '../switches/port-switch.ts';
import { firstStationPort, type Switches } from '../switches/switches.ts';
import { arpFrame, readArp, type StationAddress } from './traffic-frames.ts';

interface StationSpec {
  readonly switch: string;
  readonly vlan: number;
  /** IPv4 addresses. `nextHop`: the router, or the other station of the same network. */
  readonly address: string;
  readonly nextHop: string;
}

const askMs = 200;

export class TrafficStation {
  readonly own: StationAddress;
  readonly #port: SwitchPort;
  readonly #nextHop: Buffer;
  readonly #onFrame: (frame: Buffer) => void;
  #nextMac: Buffer | undefined;
  #asking: NodeJS.Timeout | undefined;

  /** `number` distinguishes the stations of the fabric. */
  constructor(switches: Switches, spec: StationSpec, number: number, onFrame: (frame: Buffer) => void) {
    // Locally administered.
    this.own = { mac: Buffer.concat([Buffer.from([2]), randomBytes(5)]), ip: ipBytes(spec.address) };
    this.#nextHop = ipBytes(spec.nextHop);
    this.#onFrame = onFrame;
    const settings = { medium: 'ethernet', mode: 'access', vlan: spec.vlan, tagType: 0x8100 } as const;
    const owner = {
      received: (buffer: Buffer, start: number, end: number) => this.#received(buffer, start, end),
      drained: () => undefined,
    };
    this.#port = switches.plug({ type: 'switch', switch: spec.switch, port: firstStationPort + number, settings }, owner);
    this.#asking = setInterval(() => this.#ask(), askMs);
    this.#ask();
  }

  /** MAC address of the next hop; undefined until it has answered. */
  get nextMac(): Buffer | undefined {
    return this.#nextMac;
  }

  send(frame: Buffer): void {
    this.#port.send(frame, 0, frame.length);
  }

  close(): void {
    clearInterval(this.#asking);
    this.#port.close();
  }

  #ask(): void {
    this.send(arpFrame(this.own, this.#nextHop));
  }

  #received(buffer: Buffer, start: number, end: number): boolean {
    let next = start;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      this.#frame(buffer.subarray(at + headerBytes, next));
    }
    return true;
  }

  #frame(frame: Buffer): void {
    const arp = readArp(frame);
    if (!arp) {
      this.#onFrame(frame);
      return;
    }
    if (arp.senderIp.equals(this.#nextHop)) {
      this.#nextMac = arp.senderMac;
      clearInterval(this.#asking);
    }
    if (arp.isRequest && arp.targetIp.equals(this.own.ip)) this.send(arpFrame(this.own, arp.senderIp, arp.senderMac));
  }
}

function ipBytes(text: string): Buffer {
  return Buffer.from(text.split('.').map(Number));
}
