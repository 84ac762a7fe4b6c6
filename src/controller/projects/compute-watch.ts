/**
 * Keeps projects open while a compute is lost, for as long as it takes (ADR 19). The nodes of the compute are shown as not usable, and
 * everything else works. Nodes and links are made again as soon as the compute answers.
 */
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { KnownProject } from './project.ts';
import type { Registry } from './registry.ts';

export interface WatchedProjects {
  all(): Iterable<KnownProject>;
  find(projectId: string): KnownProject | undefined;
}

export interface ComputeWatchOptions {
  readonly projects: WatchedProjects;
  readonly registry: Pick<Registry, 'get'>;
  readonly log: Log;
  /** Called when the compute answers again, before the project's nodes are made there. Never rejects. */
  readonly onReturn: (live: LiveProject, compute: RegisteredCompute) => Promise<void>;
  /** Its nodes are there again. */
  readonly onBack: (compute: RegisteredCompute) => Promise<void>;
}

export class ComputeWatch {
  readonly #options: ComputeWatchOptions;
  readonly #wasConnected = new WeakMap<RegisteredCompute, boolean>();
  #hasBegun = false;

  constructor(options: ComputeWatchOptions) {
    this.#options = options;
  }

  /** All projects are known now. */
  begin(computes: Iterable<RegisteredCompute>): void {
    this.#hasBegun = true;
    for (const compute of computes) this.changed(compute);
  }

  /** Something of the state of its transport changed, or it has just been registered. */
  changed(compute: RegisteredCompute): void {
    const { connected } = compute.transport.state;
    if (!this.#hasBegun || compute.isLocal || this.#wasConnected.get(compute) === connected) return;
    this.#wasConnected.set(compute, connected);
    const followed = connected ? this.#back(compute) : this.#lost(compute);
    followed.catch((error: unknown) => this.#options.log.warn({ err: error }, `${compute.record.name} is lost again`));
  }

  /** A project that is being opened follows when it is open. */
  async #lost(compute: RegisteredCompute): Promise<void> {
    const open = [...this.#options.projects.all()].filter((project) => project.isOpen);
    await forEachBounded(open, open.length, async (project) => {
      const live = await project.findLive();
      if (live && !compute.transport.state.connected) setLost(live, compute);
    });
  }

  async #back(compute: RegisteredCompute): Promise<void> {
    const open = [...this.#options.projects.all()].filter((project) => project.isOpen);
    await forEachBounded(open, concurrency, (project) => project.change((live) => this.#recover(live, compute)));
    await this.#options.onBack(compute);
    await this.#closeThere(compute);
  }

  async #recover(live: LiveProject, compute: RegisteredCompute): Promise<void> {
    await this.#options.onReturn(live, compute);
    await recoverNodes(live, compute);
  }

  /** Projects that were closed while it was away run on there. */
  async #closeThere(compute: RegisteredCompute): Promise<void> {
    const { projects, registry } = this.#options;
    const known = await compute.transport.call('GET /v2/compute/projects');
    for (const { project_id } of known) {
      const project = projects.find(project_id);
      // A project that is registered as open, but is closed, could not be read: its nodes are left alone.
      if (!project || project.isOpen || registry.get(project_id)?.opened) continue;
      await compute.transport.call('POST /v2/compute/projects/{project_id}/close', { path: { project_id } });
    }
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

async function recoverNodes(live: LiveProject, compute: RegisteredCompute): Promise<void> {
  const nodes = [...live.nodes.all()].filter((node) => node.entry.compute_id === compute.id && node.problem !== undefined);
  if (nodes.length === 0) return;
  live.forgetOn(compute);
  for (const node of nodes) node.compute = compute;
  await forEachBounded(nodes, concurrency, (node) => live.nodes.open(node, 'node.updated'));
  await live.linkRecovery.reconnect(compute);
  // A stock GNS3 compute has no list of captures.
  await live.captures.reconcile(compute).catch(() => undefined);
}
