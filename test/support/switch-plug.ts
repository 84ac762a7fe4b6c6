/** Switches under test, with plugs: frames go in at one plug and come out at others. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { frameLength, headerBytes } from '../../src/fabric/frames.ts';
import type { SwitchPortSettings } from '../../src/fabric/protocol.ts';
import type { SwitchPort, SwitchPortSpec } from '../../src/fabric/switches/port-switch.ts';
import { Switches } from '../../src/fabric/switches/switches.ts';

export class SwitchBed {
  /** Time by the clock of the switches. */
  nowMs = 1000;
  readonly switches = new Switches(() => this.nowMs);

  plug(number: number, settings: SwitchPortSettings, id = 's'): Plug {
    return new Plug(this.switches, { type: 'switch', switch: id, port: number, settings });
  }
}

export const broadcast = 0xffff_ffff_ffff;
export const access = (vlan: number): SwitchPortSettings => ({ medium: 'ethernet', mode: 'access', vlan, tagType: 0 });
export const trunk = (vlan: number): SwitchPortSettings => ({ medium: 'ethernet', mode: 'dot1q', vlan, tagType: 0 });
export const tunnel = (vlan: number, tagType = 0x88a8): SwitchPortSettings => ({ medium: 'ethernet', mode: 'qinq', vlan, tagType });
export const hub: SwitchPortSettings = { medium: 'hub' };

/** A port of a switch, and what comes out of it. */
export class Plug {
  readonly received: string[] = [];
  readonly port: SwitchPort;
  /** Whether what comes out is held, as by a socket that is full. */
  holds = false;

  constructor(switches: Switches, spec: SwitchPortSpec) {
    const received = (buffer: Buffer, start: number, end: number) => {
      for (let at = start; at < end; at += headerBytes + frameLength(buffer, at)) {
        this.received.push(buffer.subarray(at + headerBytes, at + headerBytes + frameLength(buffer, at)).toString('hex'));
      }
      return !this.holds;
    };
    this.port = switches.plug(spec, { received, drained: () => undefined });
  }

  send(...frames: Buffer[]): void {
    const run = Buffer.concat(frames.flatMap((frame) => [lengthOf(frame), frame]));
    assert.ok(this.port.send(run, 0, run.length));
  }

  /** Frames received since the last call. */
  async took(): Promise<string[]> {
    await turn();
    await turn();
    return this.received.splice(0);
  }

  get dropped(): Record<string, number> {
    return this.port.stats().dropped;
  }
}

function lengthOf(frame: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(frame.length);
  return header;
}

/** Tags from the outside in, each type and VLAN. */
export function frame(to: number, from: number, tags: readonly (readonly [number, number])[] = [], text = 'x'): Buffer {
  const head = Buffer.alloc(12);
  head.writeUIntBE(to, 0, 6);
  head.writeUIntBE(from, 6, 6);
  const words = tags.flat().concat(0x0800);
  const middle = Buffer.alloc(words.length * 2);
  for (const [index, word] of words.entries()) middle.writeUInt16BE(word, index * 2);
  return Buffer.concat([head, middle, Buffer.alloc(46, text)]);
}

export const hex = (...frames: Buffer[]) => frames.map((one) => one.toString('hex'));
export const tookAll = (plugs: readonly Plug[]) => Promise.all(plugs.map((plug) => plug.took()));
export const counts = async (plugs: readonly Plug[]) => (await tookAll(plugs)).map((frames) => frames.length);
