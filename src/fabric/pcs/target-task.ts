/** A task that has a host to reach: its name is looked up first, and its packets may wait for the neighbour's address. */
import { readAddress } from './addresses.ts';
import type { PcHost, PcTask, SendFailure } from './host.ts';
import type { IcmpError } from './icmp.ts';
import { Lookup } from './lookup.ts';
import type { Packet } from './packet.ts';

/** Events on the way to the target. All but `resolved` end the task. */
export type TargetEvent =
  | { readonly kind: 'resolved'; readonly name: string; readonly address: string }
  | { readonly kind: 'unresolved' | 'unreachable' | 'end' }
  | { readonly kind: 'failed'; readonly failure: SendFailure };

export abstract class TargetTask<Event> implements PcTask {
  readonly host: PcHost;
  /** Key of the task and of its timers at the host. */
  readonly key: string;
  readonly report: (event: Event | TargetEvent) => void;
  /** Address of the target; empty until it is known. */
  to = '';
  sentAt = 0;
  #lookup: Lookup | undefined;
  #isEnded = false;

  constructor(host: PcHost, key: string, report: (event: Event | TargetEvent) => void) {
    this.host = host;
    this.key = key;
    this.report = report;
  }

  start(target: string): void {
    this.host.setTask(this.key, this);
    const address = readAddress(target);
    if (address !== undefined) {
      this.to = address;
      this.begin();
      return;
    }
    const lookup = new Lookup(this.host, target, this.timer('lookup'), ([found]) => {
      this.#lookup = undefined;
      if (found === undefined) {
        this.finish({ kind: 'unresolved' });
        return;
      }
      this.to = found;
      this.report({ kind: 'resolved', name: lookup.name, address: found });
      this.begin();
    });
    this.#lookup = lookup;
    lookup.onTimer();
  }

  abstract begin(): void;
  abstract onEvent(timer: string): void;
  abstract takes(packet: Packet): boolean;

  onPacket(packet: Packet): boolean {
    return this.#lookup ? this.#lookup.onPacket(packet) : this.takes(packet);
  }

  onTimer(name: string): void {
    if (name === 'lookup') this.#lookup?.onTimer();
    else this.onEvent(name);
  }

  onIcmpError?(error: IcmpError): boolean;

  /** Milliseconds since the last packet was sent. */
  get elapsedMs(): number {
    return Math.max(this.host.timers.now() - this.sentAt, 0.001);
  }

  timer(name: string): string {
    return `task ${this.key} ${name}`;
  }

  /** Reports the event, and nothing after it. */
  finish(event: Event | TargetEvent): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.close();
    this.report(event);
  }

  close(): void {
    this.host.clearTask(this.key);
    for (const name of ['lookup', 'timeout', 'next']) this.host.timers.clear(this.timer(name));
  }
}
