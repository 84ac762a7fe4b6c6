/**
 * The switches of the process. A switch is there while a link ends at one of its ports: nothing but those ports' specifications says
 * what it is, so links and switches cannot disagree, and saying the links again says the switches again.
 */

import type { PortOwner } from '../ports/port.ts';
import type { AddressEntry, SwitchPortSettings, SwitchStats } from '../protocol.ts';
import { EgressQueue } from './egress-queue.ts';
import { FlushTurns } from './flush-turns.ts';
import { AtmForwarding } from './forward-atm.ts';
import { EthernetForwarding } from './forward-ethernet.ts';
import { FrameRelayForwarding } from './forward-frame-relay.ts';
import { HubForwarding } from './forward-hub.ts';
import { type ForwardingSwitch, SwitchPort, type SwitchPortSpec } from './port-switch.ts';
import { StormBound } from './storm-bound.ts';

/** Forwards the frames of a kind of switch. */
export interface Forwarding {
  /** @see ForwardingSwitch.forward */
  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number;
  /** The port is new, has other settings, or is gone: what is known of it no longer holds. */
  portChanged?(port: SwitchPort): void;
  addresses?(): AddressEntry[];
  forgetAddresses?(): void;
  learnAddresses?(entries: readonly AddressEntry[]): void;
}

/** The ports that are plugged, in the order in which they were. */
export interface SwitchPorts {
  readonly all: readonly SwitchPort[];
  find(number: number): SwitchPort | undefined;
}

/** Milliseconds, from anywhere. */
type Clock = () => number;

type MakeForwarding = (ports: SwitchPorts, clock: Clock, bound: StormBound) => Forwarding;

const forwardings: Record<SwitchPortSettings['medium'], MakeForwarding> = {
  ethernet: (ports, clock, bound) => new EthernetForwarding(ports, clock, bound),
  hub: (ports, clock, bound) => new HubForwarding(ports, clock, bound),
  frame_relay: (ports) => new FrameRelayForwarding(ports),
  atm: (ports) => new AtmForwarding(ports),
};

/** Ports of nodes have lower numbers. Those from here on are of stations of traffic, which are shown nowhere. */
export const firstStationPort = 2 ** 30;

export class Switches {
  readonly #bound = new StormBound();
  readonly #turns = new FlushTurns((tookMs) => this.#bound.onTurn(tookMs));
  readonly #switches = new Map<string, Switch>();
  readonly #clock: Clock;

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
  }

  plug(spec: SwitchPortSpec, owner: PortOwner): SwitchPort {
    const present = this.#switches.get(spec.switch);
    const make = (ports: SwitchPorts) => forwardings[spec.settings.medium](ports, this.#clock, this.#bound);
    const found = present ?? new Switch(spec.switch, make, () => this.#switches.delete(spec.switch));
    this.#switches.set(spec.switch, found);
    const deliver = (buffer: Buffer, start: number, end: number, frames: number) => owner.received(buffer, start, end, frames);
    return found.plug(spec, new EgressQueue(deliver, this.#turns));
  }

  stats(ids?: readonly string[]): SwitchStats[] {
    const switches = ids ? ids.map((id) => this.#switches.get(id)) : [...this.#switches.values()];
    return switches.flatMap((one) => (one ? [one.stats()] : []));
  }

  /** Addresses that a switch has learned; none for a switch that does not exist, or learns none. */
  addresses(id: string): AddressEntry[] {
    const entries = this.#switches.get(id)?.forwarding.addresses?.() ?? [];
    return entries.filter(({ port }) => port < firstStationPort);
  }

  forgetAddresses(id: string): void {
    this.#switches.get(id)?.forwarding.forgetAddresses?.();
  }

  learnAddresses(id: string, entries: readonly AddressEntry[]): void {
    this.#switches.get(id)?.forwarding.learnAddresses?.(entries);
  }
}

class Switch implements ForwardingSwitch, SwitchPorts {
  readonly id: string;
  readonly forwarding: Forwarding;
  readonly all: SwitchPort[] = [];
  readonly #byNumber = new Map<number, SwitchPort>();
  readonly #onEmpty: () => void;

  constructor(id: string, make: (ports: SwitchPorts) => Forwarding, onEmpty: () => void) {
    this.id = id;
    this.forwarding = make(this);
    this.#onEmpty = onEmpty;
  }

  /** Plugs a port, which takes the place of another at its number. */
  plug(spec: SwitchPortSpec, queue: EgressQueue): SwitchPort {
    const port = new SwitchPort(this, spec, queue);
    const before = this.#byNumber.get(port.number);
    this.#byNumber.set(port.number, port);
    this.all.push(port);
    before?.close();
    this.forwarding.portChanged?.(port);
    return port;
  }

  unplug(port: SwitchPort): void {
    const index = this.all.indexOf(port);
    if (index < 0) return;
    this.all.splice(index, 1);
    if (this.#byNumber.get(port.number) === port) this.#byNumber.delete(port.number);
    this.forwarding.portChanged?.(port);
    if (this.all.length === 0) this.#onEmpty();
  }

  settingsChanged(port: SwitchPort): void {
    this.forwarding.portChanged?.(port);
  }

  find(number: number): SwitchPort | undefined {
    return this.#byNumber.get(number);
  }

  forward(from: SwitchPort, buffer: Buffer, start: number, end: number): number {
    return this.forwarding.forward(from, buffer, start, end);
  }

  stats(): SwitchStats {
    return { id: this.id, ports: this.all.filter(({ number }) => number < firstStationPort).map((port) => port.stats()) };
  }
}
