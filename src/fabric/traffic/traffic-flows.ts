/** The flows of the process, by their ids. A flow stays until it is removed, for its figures; the oldest ones that ended make room. */
import { mostTrafficFlows } from '../../schema/traffic.ts';
import type { TrafficFigures, TrafficSpec } from '../protocol.ts';
import type { Switches } from '../switches/switches.ts';
import { TrafficFlow } from './traffic-flow.ts';

export class TrafficFlows {
  readonly #switches: Switches;
  readonly #flows = new Map<string, TrafficFlow>();
  #last = 0;

  constructor(switches: Switches) {
    this.#switches = switches;
  }

  /** A flow that exists keeps running: the request may have been repeated. Null: there are `mostTrafficFlows` that have not ended. */
  start(spec: TrafficSpec): TrafficFigures | null {
    const present = this.#flows.get(spec.id);
    if (present) return present.figures();
    if (this.#flows.size >= mostTrafficFlows && !this.#dropEnded()) return null;
    this.#last += 1;
    const flow = new TrafficFlow(this.#switches, spec, this.#last);
    this.#flows.set(spec.id, flow);
    return flow.figures();
  }

  /** Null: there is none, perhaps because the fabric was restarted. */
  read(id: string): TrafficFigures | null {
    return this.#flows.get(id)?.figures() ?? null;
  }

  remove(id: string): void {
    this.#flows.get(id)?.close();
    this.#flows.delete(id);
  }

  close(): void {
    for (const id of [...this.#flows.keys()]) this.remove(id);
  }

  #dropEnded(): boolean {
    const ended = [...this.#flows].find(([, flow]) => flow.isOver);
    if (ended) this.remove(ended[0]);
    return ended !== undefined;
  }
}
