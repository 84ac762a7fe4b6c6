/** The check for a duplicate IPv4 address before it is used: three gratuitous requests of ARP. */
import type { PcHost } from './host.ts';
import { shellTimer } from './shell.ts';

const requests = 3;
/** The pause after each question. The prompt waits for all of them: 0.3 s, where vpcs waits 3 s. A later answer is not seen. */
const pauseMs = 100;
const timer = `task ${shellTimer} next`;

export class AddressCheck {
  readonly #host: PcHost;
  readonly #onDone: (usedBy: string | undefined) => void;
  #left: number;

  constructor(host: PcHost, onDone: (usedBy: string | undefined) => void, left = requests) {
    this.#host = host;
    this.#onDone = onDone;
    this.#left = left;
  }

  get left(): number {
    return this.#left;
  }

  start(address: string): void {
    this.#host.arp.watch(address, (mac) => this.#end(mac));
  }

  /** Sends the next request, or ends. */
  next(address: string): void {
    if (this.#left === 0) {
      this.#end(undefined);
      return;
    }
    this.#left -= 1;
    this.#host.timers.set(timer, pauseMs);
    this.#host.arp.probe(address);
  }

  stop(): void {
    this.#host.timers.clear(timer);
    this.#host.arp.watch(undefined);
  }

  #end(usedBy: string | undefined): void {
    this.stop();
    this.#onDone(usedBy);
  }
}
