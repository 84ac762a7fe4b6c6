/** The computes to which an open project was announced: each once, before it gets a node, and none any more while it is being closed. */
import { fault, isFault } from '../../api/faults.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { ProjectEntry } from '../model/topology.ts';

interface AnnouncementOptions {
  /** Absolute path of the project's folder. */
  readonly folder: string;
  readonly computes: Computes;
  readonly log: Log;
  readonly entry: () => ProjectEntry;
  /** Ids of the computes that the project's log names. */
  readonly recorded: ReadonlySet<string>;
  /** Number of the change with which the project was last rewound; 0: never. */
  readonly incarnation: number;
  /** Called when a compute has not answered that it closes the project. */
  readonly notClosedOn: (compute: RegisteredCompute, projectId: string) => void;
  /** Called after the project was announced to a compute, which may have nodes of it already. Never rejects. */
  readonly announced: (compute: RegisteredCompute) => Promise<void>;
}

/** The settings of a project that a compute is sent. */
export function computeSettings(
  { variables, replicate_link_state }: ProjectEntry,
  compute: RegisteredCompute,
): Pick<ProjectEntry, 'variables'> & Partial<Pick<ProjectEntry, 'replicate_link_state'>> {
  return { variables, ...(compute.hasLinkFeature('link_state') && { replicate_link_state }) };
}

export class ComputeAnnouncements {
  readonly #options: AnnouncementOptions;
  /** Undefined: it was announced, and has to be once more. */
  readonly #announced = new Map<RegisteredCompute, Promise<void> | undefined>();
  #isClosing = false;

  constructor(options: AnnouncementOptions) {
    this.#options = options;
  }

  /** @throws `project_closed`, and what the compute answers */
  announceTo(compute: RegisteredCompute): Promise<void> {
    if (this.#isClosing) return Promise.reject(fault('project_closed', { name: this.#options.entry().name }));
    const known = this.#announced.get(compute);
    if (known) return known;
    const announced = this.#announce(compute);
    this.#announced.set(compute, announced);
    announced.catch(() => this.forget(compute));
    return announced;
  }

  /** The compute may have lost its state, or not. */
  forget(compute: RegisteredCompute): void {
    if (this.#announced.has(compute)) this.#announced.set(compute, undefined);
  }

  /** Stops announcing the project: no compute is sent it from now on. */
  end(): void {
    this.#isClosing = true;
  }

  /** Closes the project on all of them, also where its last node was deleted. Never rejects. */
  async close(): Promise<void> {
    const { computes, entry, notClosedOn } = this.#options;
    const { project_id } = entry();
    const path = { project_id };
    const registered = [...this.#announced.keys()].filter((compute) => computes.find(compute.id) === compute);
    await forEachBounded(registered, concurrency, async (compute) => {
      const { isLocal, transport } = compute;
      if (!isLocal && !transport.state.connected) return notClosedOn(compute, project_id);
      await transport.send('POST /v2/compute/projects/{project_id}/close', { path }).catch((error: unknown) => {
        if (!isFault(error, 'project_not_found')) notClosedOn(compute, project_id);
      });
    });
  }

  async #announce(compute: RegisteredCompute): Promise<void> {
    const { computes, folder, log, entry, incarnation, recorded } = this.#options;
    const { isLocal, transport } = compute;
    await transport.connect().catch(() => undefined);
    const number_from = numberFrom(compute, computes.all());
    const { name, project_id } = entry();
    const { variables, ...others } = computeSettings(entry(), compute);
    const body = {
      ...{ name, project_id, ...(isLocal && { path: folder }), ...(variables !== null && { variables }), ...others },
      ...(number_from !== undefined && { number_from }),
      // The folder of the local one is the project's: its nodes are stopped before the project is rewound.
      ...(!isLocal && incarnation > 0 && compute.hasIncarnations && { incarnation }),
    };
    if (!isLocal && !recorded.has(compute.id)) await computes.temporary.use(project_id, compute);
    try {
      await transport.send('POST /v2/compute/projects', { body });
      await this.#options.announced(compute);
    } catch (error) {
      if (!isFault(error)) log.error({ err: error }, 'a compute failed');
      throw error;
    }
  }
}

/**
 * Where the numbers of a compute's nodes begin, of 256, so that those of several computes differ: 0, 128, 64, 192, 32, … Stock
 * GNS3 computes begin at 0. Undefined: the compute has no such choice.
 */
function numberFrom(compute: RegisteredCompute, all: readonly RegisteredCompute[]): number | undefined {
  if (!compute.hasNumberRanges) return undefined;
  const others = all.filter((one) => !one.isStock);
  const position = others.indexOf(compute) + (others.length < all.length ? 1 : 0);
  return Number.parseInt(position.toString(2).padStart(8, '0').slice(-8).split('').reverse().join(''), 2);
}
