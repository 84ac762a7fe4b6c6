/** Project of the compute: a folder and the nodes in it. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import { Gate } from '../../lib/gate.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { savedStatesName } from '../../schema/folders.ts';
import type { Context, ProjectView } from '../context.ts';
import { KeptFolders } from '../host/kept-folders.ts';
import { ReservedPorts } from '../host/reserved-ports.ts';
import { SavedStates } from '../host/saved-states.ts';
import type { ComputeNode } from '../nodes/node.ts';
import type { ProjectRecord } from '../store.ts';

/** Side by side, as machines take their time to shut down; in parts, as all that wait for one thing continue in the same turn of the event loop. */
const closedAtOnce = 500;

export class ComputeProject implements ProjectView {
  readonly context: Context;
  readonly nodes = new Map<string, ComputeNode>();
  readonly reservedPorts: ReservedPorts;
  readonly keptFolders = new KeptFolders();
  readonly savedStates = new SavedStates(() => join(this.path, 'project-files', savedStatesName));
  holdsMachines = false;
  /** Gate of the project: a change of the project, its nodes or its folder passes it, closing the project holds it. */
  readonly #gate = new Gate();
  #record: ProjectRecord;
  #closed = false;

  constructor(context: Context, record: ProjectRecord) {
    this.context = context;
    this.#record = record;
    this.reservedPorts = new ReservedPorts(context.ports.udp);
  }

  get id(): string {
    return this.#record.project_id;
  }
  get path(): string {
    return this.#record.path;
  }
  get name(): string {
    return this.#record.name ?? this.id;
  }
  /** The settings of the project, as they are stored. */
  get record(): ProjectRecord {
    return this.#record;
  }

  /** The project object of the API. */
  present(): Record<string, unknown> {
    const { name, project_id, variables } = this.#record;
    return { name, project_id, variables };
  }

  /** These can be changed, and always are: missing variables are removed. */
  update(settings: Required<Pick<ProjectRecord, 'variables' | 'replicate_link_state'>>): Promise<void> {
    return this.whileThere(async () => {
      const before = this.#record;
      const next = { ...before, ...settings };
      if (isDeepStrictEqual(next, before)) return;
      await this.context.store.setProject(next);
      this.#record = next;
      if (settings.replicate_link_state === before.replicate_link_state) return;
      for (const node of this.nodes.values()) void node.showLinkStates();
    });
  }

  /** Gives a UDP port to a client, for a NIO it is about to make. */
  takeUdpPort(): Promise<number> {
    return this.whileThere(async () => {
      const port = await this.context.ports.takeUdp();
      this.reservedPorts.add(port);
      return port;
    });
  }

  /** Runs what adds to the project or works in its folder: it is not closed or deleted meanwhile. @throws project_not_found */
  whileThere<T>(fn: () => Promise<T>): Promise<T> {
    return this.#gate.pass(() => {
      if (this.#closed) throw fault('project_not_found', { project_id: this.id });
      return fn();
    });
  }

  /**
   * Stops all nodes and gives their ports back; the files stay. A node that cannot be closed stays, and the project with it, but it does not
   * keep the others. @throws why the first one cannot be closed
   */
  close(options?: { now?: boolean }): Promise<void> {
    return this.#gate.hold(async () => {
      const [error] = await forEachBounded([...this.nodes], closedAtOnce, async ([key, node]) => {
        await node.close(options);
        this.nodes.delete(key);
      });
      if (error !== undefined) throw error;
      this.reservedPorts.clear();
      await removeTree(join(this.path, 'tmp'));
      await this.context.store.deleteProject(this.id);
      this.#closed = true;
    });
  }
}
