/**
 * Keeps projects open while a compute is lost, for as long as it takes (ADR 19). The nodes of the compute are shown as not usable, and
 * everything else works. Nodes and links are made again as soon as the compute answers.
 */
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import type { Leftovers } from './leftovers.ts';
import type { KnownProject } from './project.ts';

interface WatchedProjects {
  all(): Iterable<KnownProject>;
  find(projectId: string): KnownProject | undefined;
}

export class ComputeWatch {
  readonly #projects: WatchedProjects;
  readonly leftovers: Leftovers;
  readonly #log: Log;
  /** The compute's nodes are there again. */
  readonly #onBack: (compute: RegisteredCompute) => Promise<void>;
  readonly #wasConnected = new WeakMap<RegisteredCompute, boolean>();
  #hasBegun = false;
  #local: RegisteredCompute | undefined;

  constructor(projects: WatchedProjects, leftovers: Leftovers, log: Log, onBack: (compute: RegisteredCompute) => Promise<void>) {
    this.#projects = projects;
    this.leftovers = leftovers;
    this.#log = log;
    this.#onBack = onBack;
  }

  /** All projects are known now. */
  begin(computes: Iterable<RegisteredCompute>): void {
    this.#hasBegun = true;
    for (const compute of computes) {
      if (compute.isLocal) this.#local = compute;
      else this.changed(compute);
    }
    if (this.#local) void this.leftovers.look(this.#local);
  }

  /** Something of the state of its transport changed, or it has just been registered. */
  changed(compute: RegisteredCompute): void {
    const { connected } = compute.transport.state;
    if (!this.#hasBegun || compute.isLocal || this.#wasConnected.get(compute) === connected) return;
    this.#wasConnected.set(compute, connected);
    const followed = connected ? this.#back(compute) : this.#lost(compute);
    followed.catch((error: unknown) => this.#log.warn({ err: error }, `${compute.record.name} is lost again`));
  }

  /** A project that is being opened follows when it is open. */
  async #lost(compute: RegisteredCompute): Promise<void> {
    const open = [...this.#projects.all()].filter((project) => project.isOpen);
    await forEachBounded(open, open.length, async (project) => {
      const live = await project.findLive();
      if (!live) return;
      if (!compute.transport.state.connected) setLost(live, compute);
      // Nodes that were found before the loss may be gone, as the compute was back before the project was open.
      else await project.change((now) => this.#recover(now, compute, { areAll: true }));
    });
  }

  async #back(compute: RegisteredCompute): Promise<void> {
    const open = [...this.#projects.all()].filter((project) => project.isOpen);
    await forEachBounded(open, concurrency, (project) => project.change((live) => this.#recover(live, compute)));
    await this.#onBack(compute);
    await this.leftovers.returned(compute);
    // Nodes that this server has sent there since may be left on its own compute.
    if (this.#local) await this.leftovers.look(this.#local);
  }

  /** `areAll`: also nodes that are not known to be lost. */
  async #recover(live: LiveProject, compute: RegisteredCompute, { areAll = false } = {}): Promise<void> {
    const isOn = ({ entry, problem }: OpenNode) => entry.compute_id === compute.id && (areAll || problem !== undefined);
    await recoverNodes(live, compute, [...live.nodes.all()].filter(isOn));
  }
}

function setLost(live: LiveProject, compute: RegisteredCompute): void {
  const { name } = compute.record;
  const reason = compute.transport.state.lastError;
  const problem = `The compute ${name} is not connected${reason === null ? '' : `: ${reason}`}`;
  live.forgetOn(compute);
  const nodes = [...live.nodes.all()].filter((node) => node.compute === compute);
  if (nodes.length === 0) return;
  live.notify('log.error', { message: `${problem}. Its nodes cannot be used until it is back` });
  for (const node of nodes) live.nodes.setProblem(node, { problem });
}

async function recoverNodes(live: LiveProject, compute: RegisteredCompute, nodes: readonly OpenNode[]): Promise<void> {
  if (nodes.length === 0) return;
  live.forgetOn(compute);
  for (const node of nodes) node.compute = compute;
  await forEachBounded(nodes, concurrency, (node) => live.nodes.open(node, 'node.updated'));
  // A stock GNS3 compute has no list of captures.
  await live.captures.reconcile(compute).catch(() => undefined);
}
