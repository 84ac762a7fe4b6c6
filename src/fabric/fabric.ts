/** All links of the process. What is asked of it is said in `protocol.ts`; requests come one after the other. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Program } from './bpf.ts';
import { checkLink } from './check-link.ts';
import { BlockPool } from './delay-line.ts';
import { DelaySchedule } from './delay-schedule.ts';
import { Link, translatePrograms } from './link.ts';
import { CaptureFiles } from './link-captures.ts';
import type { LinkFailure, LinkSpec, LinkStats } from './protocol.ts';

/** So many links are changed before frames get their turn. */
const linksPerTurn = 32;

interface Change {
  readonly spec: LinkSpec;
  readonly programs: readonly Program[];
}

export class Fabric {
  readonly #links = new Map<string, Link>();
  readonly #tools = { schedule: new DelaySchedule(), blocks: new BlockPool(), captureFiles: new CaptureFiles() };

  async apply(specs: readonly unknown[]): Promise<LinkFailure[]> {
    const failures: LinkFailure[] = [];
    const changes = specs.flatMap((spec) => this.#check(spec, failures));
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

  stats(ids?: readonly string[]): LinkStats[] {
    const links = ids ? ids.map((id) => this.#links.get(id)) : [...this.#links.values()];
    return links.flatMap((link) => (link ? [link.stats()] : []));
  }

  async close(): Promise<void> {
    await this.remove([...this.#links.keys()]);
    await this.#tools.schedule.stop();
  }

  #check(given: unknown, failures: LinkFailure[]): Change[] {
    try {
      const spec = checkLink(given);
      return [{ spec, programs: translatePrograms(spec) }];
    } catch (error) {
      failures.push({ id: idOf(given), error: messageOf(error) });
      return [];
    }
  }

  async #change({ spec, programs }: Change, failures: LinkFailure[]): Promise<void> {
    try {
      const link = this.#links.get(spec.id) ?? new Link(spec.id, this.#tools);
      this.#links.set(spec.id, link);
      await link.update(spec, programs);
      if (link.delays) await this.#tools.schedule.ready();
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
