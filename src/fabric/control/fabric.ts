/** All links of the process. What is asked of it is said in `protocol.ts`; requests come one after the other. */
import { setImmediate as turn } from 'node:timers/promises';
import { CaptureFileLocks } from '../captures/link-captures.ts';
import { BlockPool } from '../delays/delay-line.ts';
import { DelaySchedule } from '../delays/delay-schedule.ts';
import { FabricLink } from '../links/link.ts';
import { Pacing } from '../links/pacing.ts';
import { type Programs, translatePrograms } from '../links/programs.ts';
import { SampleTimes, sampleEveryMs } from '../links/rate-meter.ts';
import type { FabricLinkStats, FabricLoad, LinkFailure, LinkSpec } from '../protocol.ts';
import { linkSpec } from '../requests.ts';
import { Switches } from '../switches/switches.ts';
import { checkShape } from './check-shape.ts';
import { Load } from './load.ts';

/** So many links are checked, changed, or reported, before frames get their turn. */
const linksPerTurn = 32;

interface LinkChange {
  readonly spec: LinkSpec;
  readonly programs: Programs;
}

export class Fabric {
  readonly switches = new Switches();
  readonly #links = new Map<string, FabricLink>();
  readonly #schedule = new DelaySchedule();
  readonly #tools = {
    schedule: this.#schedule,
    pacing: new Pacing(() => this.#schedule.nextMs),
    blocks: new BlockPool(),
    captureFiles: new CaptureFileLocks(),
    switches: this.switches,
    times: new SampleTimes(performance.now()),
  };
  readonly #load = new Load();
  readonly #sampling = setInterval(() => this.#sample(), sampleEveryMs).unref();

  async apply(specs: readonly unknown[]): Promise<LinkFailure[]> {
    const failures: LinkFailure[] = [];
    const changes: LinkChange[] = [];
    for (const [index, spec] of specs.entries()) {
      if (index % linksPerTurn === linksPerTurn - 1) await turn();
      changes.push(...this.#check(spec, failures));
    }
    for (const { spec } of changes) this.#links.get(spec.id)?.unplugChanged(spec);
    for (let first = 0; first < changes.length; first += linksPerTurn) {
      const group = changes.slice(first, first + linksPerTurn);
      await Promise.all(group.map((change) => this.#change(change, failures)));
      await turn();
    }
    await this.#tools.captureFiles.settled();
    return failures;
  }

  /** Settles when what was captured of them is on disk. */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.#links.get(id)?.close();
      this.#links.delete(id);
    }
    await this.#tools.captureFiles.settled();
  }

  async sync(specs: readonly unknown[]): Promise<LinkFailure[]> {
    const wanted = new Set(specs.map(idOf));
    await this.remove([...this.#links.keys()].filter((id) => !wanted.has(id)));
    return this.apply(specs);
  }

  async stats(ids?: readonly string[]): Promise<FabricLinkStats[]> {
    const wanted = ids ?? [...this.#links.keys()];
    const stats: FabricLinkStats[] = [];
    for (const [index, id] of wanted.entries()) {
      if (index % linksPerTurn === linksPerTurn - 1) await turn();
      const link = this.#links.get(id);
      if (link) stats.push(link.stats());
    }
    return stats;
  }

  load(): FabricLoad {
    return this.#load.read(this.#links.size);
  }

  async close(): Promise<void> {
    clearInterval(this.#sampling);
    await this.remove([...this.#links.keys()]);
    await this.#tools.schedule.stop();
  }

  #sample(): void {
    const slot = this.#tools.times.next(performance.now());
    for (const link of this.#links.values()) link.sample(slot);
  }

  #check(given: unknown, failures: LinkFailure[]): LinkChange[] {
    try {
      const spec = checkShape(linkSpec, given, 'link');
      return [{ spec, programs: translatePrograms(spec) }];
    } catch (error) {
      failures.push({ id: idOf(given), error: messageOf(error) });
      return [];
    }
  }

  async #change({ spec, programs }: LinkChange, failures: LinkFailure[]): Promise<void> {
    try {
      const link = this.#links.get(spec.id) ?? new FabricLink(spec.id, this.#tools);
      this.#links.set(spec.id, link);
      await link.update(spec, programs);
      if (link.queues) await this.#tools.schedule.ready();
      if (link.problem !== undefined) failures.push({ id: spec.id, error: link.problem });
    } catch (error) {
      failures.push({ id: spec.id, error: messageOf(error) });
    }
  }
}

function idOf(spec: unknown): string {
  const id = (spec as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
