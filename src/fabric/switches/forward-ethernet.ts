/**
 * A learning switch with VLANs (`vlan.ts`). Frames that follow one another with the same addresses and the same tag are of one
 * conversation: what happens to the first happens to all of them, so a busy one costs one look-up for each read.
 */

import { endOfFrames, frameLength, headerBytes } from '../frames.ts';
import type { AddressEntry, EthernetSettings } from '../protocol.ts';
import { AddressTable, groupBit } from './address-table.ts';
import type { SwitchPort } from './port-switch.ts';
import type { StormBound } from './storm-bound.ts';
import type { Forwarding, SwitchPorts } from './switches.ts';
import { type Arrival, asItIs, isTagType, keepOut, passage, retag, untag, vlanOf } from './vlan.ts';

/** Length of both addresses and the type. */
const etherBytes = 14;
/** Length of both addresses, a tag and the type. */
const taggedBytes = 18;

/** Frames of one conversation. */
interface FrameRun {
  readonly from: SwitchPort;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  readonly frames: number;
}

export class EthernetForwarding implements Forwarding {
  readonly #ports: SwitchPorts;
  readonly #clock: () => number;
  readonly #bound: StormBound;
  readonly #table = new AddressTable();

  /** `clock` in milliseconds, from anywhere. */
  constructor(ports: SwitchPorts, clock: () => number, bound: StormBound) {
    this.#ports = ports;
    this.#clock = clock;
    this.#bound = bound;
  }

  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number {
    const nowMs = this.#clock();
    let total = 0;
    let first = start;
    let next = start;
    let frames = 0;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      if (frames > 0 && !isSameConversation(buffer, first, at)) {
        this.#forward({ from, buffer, start: first, end: at, frames }, nowMs);
        first = at;
        frames = 0;
      }
      frames += 1;
      total += 1;
    }
    if (frames > 0) this.#forward({ from, buffer, start: first, end, frames }, nowMs);
    return total;
  }

  portChanged({ number }: SwitchPort): void {
    this.#table.forgetPort(number);
  }

  addresses(): AddressEntry[] {
    return this.#table.list(this.#clock());
  }

  forgetAddresses(): void {
    this.#table.clear();
  }

  learnAddresses(entries: readonly AddressEntry[]): void {
    const nowMs = this.#clock();
    for (const { mac, vlan, port, ageMs } of entries) {
      if (!this.#ports.find(port)) continue;
      const address = Buffer.from(mac.replaceAll(':', ''), 'hex');
      this.#table.learn((vlan << 16) | address.readUInt16BE(0), address.readInt32BE(2), port, nowMs - ageMs);
    }
  }

  #forward(run: FrameRun, nowMs: number): void {
    const cause = this.#send(run, nowMs);
    if (cause !== undefined) run.from.drop(cause, run.frames);
  }

  /** Answers why the frames are lost, if they are. */
  #send(run: FrameRun, nowMs: number): 'runt' | 'vlan' | 'same_port' | undefined {
    const { from, buffer, start } = run;
    const length = frameLength(buffer, start);
    const at = start + headerBytes;
    if (length < etherBytes) return 'runt';
    const tag = length >= taggedBytes && isTagType(buffer.readUInt16BE(at + 12)) ? buffer.readUInt16BE(at + 14) & 0xfff : undefined;
    const settings = from.settings as EthernetSettings;
    const vlan = vlanOf(settings, tag);
    if (vlan === 0) return 'vlan';
    const isTagged = settings.mode === 'dot1q' && tag !== undefined && tag !== 0;
    const arrival: Arrival = { vlan, isTagged, hasPriority: tag === 0, from: settings };
    const high = vlan << 16;
    const source = buffer.readUInt16BE(at + 6);
    const hasMoved = (source & groupBit) === 0 && this.#table.learn(high | source, buffer.readInt32BE(at + 8), from.number, nowMs);
    const destination = buffer.readUInt16BE(at);
    const port = (destination & groupBit) === 0 ? this.#table.find(high | destination, buffer.readInt32BE(at + 2), nowMs) : -1;
    const to = this.#ports.find(port);
    if (to === from) return 'same_port';
    if (to) return pass(run, arrival, to) ? undefined : 'vlan';
    if (hasMoved) from.floods.onReturned(run.frames, nowMs);
    const isPlain = settings.stormControl === undefined && nowMs > from.floods.loopsUntilMs;
    const flood = isPlain ? run : this.#admitted(run, destination, nowMs);
    if (flood.frames > 0) for (const other of this.#ports.all) if (other !== from) pass(flood, arrival, other);
    return undefined;
  }

  /** Returns the frames of a flooded run that the switch's storm control and the bound of storms let pass. */
  #admitted(run: FrameRun, destination: number, nowMs: number): FrameRun {
    const { from } = run;
    const { stormControl } = from.settings as EthernetSettings;
    let { frames } = run;
    if (stormControl) {
      frames = from.floods.admit(stormControl, { destination, frames, nowMs });
      if (frames < run.frames) from.drop('storm_control', run.frames - frames);
    }
    if (nowMs <= from.floods.loopsUntilMs) {
      const admitted = this.#bound.admit(frames);
      if (admitted < frames) from.drop('storm', frames - admitted);
      frames = admitted;
    }
    return frames === run.frames ? run : { ...run, frames, end: endOfFrames(run.buffer, run.start, frames) };
  }
}

/** False when frames of this VLAN do not leave there. */
function pass({ buffer, start, end, frames }: FrameRun, arrival: Arrival, to: SwitchPort): boolean {
  const how = passage(arrival, to.settings as EthernetSettings);
  if (how === keepOut) return false;
  if (how === asItIs) to.queue.append(buffer, start, end, frames);
  else if (how === untag) to.queue.appendUntagged(buffer, start, end);
  else if (how === retag) to.queue.appendRetagged(buffer, start, end, arrival.vlan);
  else to.queue.appendTagged(buffer, start, end, how);
  return true;
}

/** Whether the frames at `one` and `other` are whole and have the same addresses, the same type, and the same tag if that says one. */
function isSameConversation(buffer: Buffer, one: number, other: number): boolean {
  if (frameLength(buffer, one) < taggedBytes || frameLength(buffer, other) < taggedBytes) return false;
  for (let at = headerBytes; at < headerBytes + etherBytes; at++) if (buffer[one + at] !== buffer[other + at]) return false;
  if (!isTagType(buffer.readUInt16BE(one + headerBytes + 12))) return true;
  const tag = headerBytes + etherBytes;
  return buffer[one + tag] === buffer[other + tag] && buffer[one + tag + 1] === buffer[other + tag + 1];
}
