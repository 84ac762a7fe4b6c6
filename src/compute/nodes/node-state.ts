/** State of a node: its durable record, its status, and its views for clients and the driver. The operations are in `node.ts`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { Driver, NodeView, Properties } from '../../emulators/driver.ts';
import type { NodeStatus } from '../../schema/node.ts';
import type { ComputeNodeRun, RunEnding, RunFacts } from '../../schema/node-runs.ts';
import type { ComputeNotice, Context, ProjectView } from '../context.ts';
import type { EndRecord, KnownNode, NodeRecord } from '../store.ts';
import { discardMemory } from './discard-memory.ts';
import { checkOfLease } from './leased-machines.ts';
import { type ConsoleChange, nextConsole } from './node-console.ts';

/** A change as a client sends it: what is the compute's own, and the kind's properties. */
export interface NodeChange extends ConsoleChange {
  readonly name?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

export class NodeState {
  readonly context: Context;
  readonly project: ProjectView;
  readonly driver: Driver;
  /** Frozen, replaced on change. */
  record: NodeRecord;
  status: NodeStatus = 'stopped';
  /** Stopped by its compute, and to run again; durable, as part of its run. */
  isInterrupted = false;
  /** Command line of the last start. */
  commandLine: string;
  /** Generation of the current or the last start. */
  generation: number | undefined;
  /** Ending of the last run. */
  #ending: RunEnding | undefined;
  #stored = Promise.resolve();
  readonly #runtimeDirectory: string;

  constructor(context: Context, project: ProjectView, driver: Driver, { record, commandLine, generation, ending }: KnownNode) {
    this.context = context;
    this.project = project;
    this.driver = driver;
    this.record = record;
    this.commandLine = commandLine;
    this.generation = generation;
    this.#ending = ending;
    this.#runtimeDirectory = join(context.settings.runtimeDirectory, 'n', shortName(record.node_id));
  }

  get id(): string {
    return this.record.node_id;
  }
  get name(): string {
    return this.record.name;
  }
  get properties(): Properties {
    return this.record.properties;
  }
  /** The node's own folder; it need not exist. */
  get directory(): string {
    return join(this.project.path, 'project-files', this.driver.kind.folder, this.id);
  }

  /** The node object of the API. */
  present(): Readonly<Record<string, unknown>> {
    const { project_id, node_id, name, console, console_type } = this.record;
    const { can, inFabric, consoleTypes, hasFolder = () => !inFabric || undefined } = this.driver.kind;
    const isFolderShown = hasFolder(this.properties);
    return Object.freeze({
      ...(can.startAnswersNode && { command_line: this.commandLine }),
      ...this.driver.present(this.properties, this.id),
      project_id,
      node_id,
      name,
      status: this.status,
      ...(this.isInterrupted && { interrupted: true }),
      ...(consoleTypes.length > 0 && { console, console_type }),
      ...(isFolderShown !== undefined && { node_directory: isFolderShown ? this.directory : null }),
    });
  }

  /** Facts of the present run or the last one, for a controller of ours. */
  #runFacts(): RunFacts {
    const ending = this.isInterrupted ? 'lost' : this.#ending;
    return {
      ...(this.generation !== undefined && { generation: this.generation }),
      ...(this.status === 'stopped' && ending && { ending }),
    };
  }

  presentRun(): ComputeNodeRun {
    const joined = this.context.wiring.ofNode(this.id).map(({ adapter, port }) => ({ adapter_number: adapter, port_number: port }));
    const ports = joined.length > 0 && { joined_ports: joined };
    return { node_id: this.id, node_type: this.record.node_type, status: this.status, ...this.#runFacts(), ...ports };
  }

  view(carrier: NodeView['carrier']): NodeView {
    const { project_id, name, console, console_type } = this.record;
    return {
      projectId: project_id,
      projectDirectory: this.project.path,
      variables: this.project.record.variables ?? [],
      numbers: { from: this.project.record.number_from ?? 0, lastCommandLine: this.commandLine },
      nodeId: this.id,
      name,
      directory: this.directory,
      runtimeDirectory: this.#runtimeDirectory,
      properties: this.properties,
      console: { type: console_type, port: console, host: this.context.consoleHost },
      carrier,
      requireLease: checkOfLease(this.context.lease, name),
      warn: (message) => this.emit('log.warning', { message }),
    };
  }

  /** Reads the state that was saved for the next start; undefined when there is none. @throws memory_refused */
  async findSavedState(): Promise<unknown> {
    if (!this.driver.memory?.checkState) return undefined;
    try {
      const saved = await this.project.savedStates.find(this.id);
      return saved?.type === this.record.node_type ? JSON.parse(saved.text) : undefined;
    } catch (error) {
      throw fault('memory_refused', { name: this.name, reason: (error as Error).message });
    }
  }

  /** Removes the memory that was saved for the next start, unless it is its template's. @throws errors of the system */
  async discardMemory(): Promise<void> {
    if (this.driver.memory) await discardMemory(this.directory);
    await this.dropState();
  }

  /** A state that was saved for the next start is not used any more. Never rejects. */
  async dropState(): Promise<void> {
    if (!this.driver.memory?.checkState) return;
    await this.project.savedStates.drop(this.id).catch((error: Error) => {
      this.context.log('error', `the saved state of node ${this.name} could not be removed: ${error.message}`);
    });
  }

  /** Records the end of a node's run. `lost`: the node is to run again, and its record stays, which says so. Never rejects. */
  async endRun(ending: RunEnding): Promise<void> {
    this.isInterrupted = ending === 'lost';
    this.#ending = ending;
    const failed = (error: Error) => this.context.log('error', `node ${this.name}: ${error.message}`);
    if (!this.isInterrupted) await this.context.store.endRun(this.id, this.endRecord(ending, this)).catch(failed);
  }

  /** Notes the generation of a start that is about to begin. */
  beginRun(generation: number | undefined): void {
    this.generation = generation;
    this.#ending = undefined;
  }

  endRecord(ending: RunEnding, { commandLine }: { readonly commandLine: string }): EndRecord {
    const { generation } = this;
    return { command_line: commandLine, ...(generation !== undefined && { generation }), ending };
  }

  setStatus(status: NodeStatus, ending?: RunEnding): void {
    this.status = status;
    this.#ending = ending;
    this.emit('node.updated', this.present());
  }

  emit(action: ComputeNotice['action'], event: Readonly<Record<string, unknown>>): void {
    const run = action === 'node.updated' && { run: this.#runFacts() };
    this.context.emit({ action, event, project_id: this.record.project_id, ...run });
  }

  /** Returns the record after a change. A console port may have been reserved for it, so the record must go to `store`. */
  async after(change: NodeChange): Promise<NodeRecord> {
    const before = this.record;
    const connected = this.context.wiring.ofNode(this.id).length > 0;
    const warn = (message: string) => this.emit('log.warning', { message });
    const identity = { nodeId: this.id, projectId: this.project.id, projectDirectory: this.project.path, name: this.name };
    const place = { ...identity, connected, warn };
    const wanted = Object.keys(change.properties ?? {}).length > 0 ? change.properties : undefined;
    const properties = wanted ? await this.driver.update(before.properties, wanted, place) : before.properties;
    const current = { type: before.console_type, port: before.console };
    const { reservesConsole = false } = this.driver.kind;
    const console = reservesConsole
      ? { ...current, type: change.console_type ?? current.type }
      : await nextConsole(this.context.ports, current, change);
    return { ...before, name: change.name ?? before.name, console: console.port, console_type: console.type, properties };
  }

  /** The console's port was found in use by another program: gives another one, durably. */
  async anotherConsolePort(): Promise<number | null> {
    const console = await this.context.ports.takeConsole(this.record.console_type);
    await this.store({ ...this.record, console });
    return console;
  }

  /** The files that have the node's name in them follow it. */
  async renameFiles(from: string): Promise<void> {
    await this.driver.renamed?.(this.directory, from, this.name).catch((error: Error) => {
      this.emit('log.warning', { message: `The files of ${this.name} could not be changed to its new name: ${error.message}` });
    });
  }

  /** Writes the record of a node that was just made. */
  storeNew(): Promise<void> {
    this.#stored = this.context.store.setNode(this.record);
    // `requireStored` tries again.
    this.#stored.catch(() => undefined);
    return this.#stored;
  }

  /** Resolves when the node is durable. @throws storage_failed */
  requireStored(): Promise<void> {
    return this.#stored.catch(() => this.storeNew());
  }

  /** Makes a record the node's, durably. The console port that is not used, the old or the new one, goes back. */
  async store(next: NodeRecord): Promise<void> {
    const before = this.record;
    const unused = (port: number | null) => before.console !== next.console && this.context.ports.releaseConsole(port);
    try {
      await this.context.store.setNode(next);
    } catch (error) {
      unused(next.console);
      throw error;
    }
    this.record = Object.freeze({ ...next, properties: Object.freeze(next.properties) });
    unused(before.console);
  }
}

/** Sockets' paths have at most 107 bytes, so folders of sockets have short names: 72 bits of the id's hash. */
function shortName(nodeId: string): string {
  return createHash('sha256').update(nodeId).digest('base64url').slice(0, 12);
}
