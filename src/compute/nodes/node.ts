/**
 * Operations of a node.
 *
 * Theory of operation. Every verb runs under the node's lock, one after the other, and looks at the status when its turn comes: a
 * start behind a start finds the node started and does nothing, a deletion behind a start stops it. An emulator that ends by itself
 * waits for the lock too, and is ignored if the node was stopped meanwhile. The node has a `NodeRun` exactly while its status is
 * not `stopped`. What is always running is started when it is made; clients' `stop` does nothing, `start` tries failed ports again.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import type { Driver, Emulator, Ending, NodeView, Properties, StartOptions } from '../../emulators/driver.ts';
import { Mutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { Nio } from '../../schema/nio.ts';
import type { NodeStatus } from '../../schema/node.ts';
import type { RunEnding } from '../../schema/node-runs.ts';
import type { NodeConsole } from '../console/console.ts';
import { type ScreenAddress, screenOf } from '../console/screen.ts';
import type { Context, ProjectView } from '../context.ts';
import type { KnownNode, NioRecord, RunRecord } from '../store.ts';
import { endsMachines, isHeld } from './leased-machines.ts';
import { NodeCaptures } from './node-captures.ts';
import { servedBy } from './node-console.ts';
import { NodeNios, type PortNumbers } from './node-nios.ts';
import { NodeRun } from './node-run.ts';
import { type NodeChange, NodeState } from './node-state.ts';

export class ComputeNode {
  readonly context: Context;
  readonly project: ProjectView;
  readonly driver: Driver;
  readonly captures: NodeCaptures;
  /** Facts about runs: the generation of the current start, and how the last run ended. */
  readonly runs: Pick<NodeState, 'generation' | 'endRecord' | 'presentRun'>;
  readonly #state: NodeState;
  readonly #nios: NodeNios;
  readonly #lock = new Mutex();
  #run: NodeRun | undefined;
  /** Properties changed since the start: a reload must start anew. */
  #stale = false;
  /** All of its machine was sent to another compute, on which it runs until `continueHere`. */
  #departed = false;
  /** Deleted, closed or released: verbs that waited for the lock find nothing to do. */
  #gone = false;

  constructor(context: Context, project: ProjectView, driver: Driver, known: KnownNode) {
    this.context = context;
    this.project = project;
    this.driver = driver;
    this.#state = new NodeState(context, project, driver, known);
    this.runs = this.#state;
    this.#nios = new NodeNios(context, this);
    this.captures = new NodeCaptures(context, this, this.#nios);
  }

  get id(): string {
    return this.#state.id;
  }
  get name(): string {
    return this.#state.name;
  }
  get status(): NodeStatus {
    return this.#state.status;
  }
  get properties(): Properties {
    return this.#state.properties;
  }
  get directory(): string {
    return this.#state.directory;
  }
  get emulator(): Emulator | undefined {
    return this.#run?.emulator;
  }

  /** The node object of the API. */
  present(): Readonly<Record<string, unknown>> {
    return this.#state.present();
  }

  /** Makes it durable; a start waits for it, and tries again when that failed. @throws storage_failed */
  storeNew = (): Promise<void> => this.#state.storeNew();

  openPorts = (emulator: Emulator): Promise<Error[]> => this.#nios.openAll(emulator);

  /** Keeps what the emulator is found again by. */
  async noteRun(): Promise<void> {
    await this.#run?.note({ status: this.#run.emulator.state, ...this.#lasting });
  }

  view(): NodeView {
    return this.#state.view((adapter) => this.#nios.carrier(adapter));
  }

  /** Shows the guest the state of its links; nothing when it does not run. Never rejects. */
  showLinkStates(): Promise<void> {
    return this.exclusively(() => this.#nios.showCarriers()).catch(() => undefined);
  }

  showScheduledLinks = (): Promise<void> => this.exclusively(() => this.#nios.showScheduled()).catch(() => undefined);

  /** `generation`: what its controller knows this run by. */
  start(options?: StartOptions, generation?: number): Promise<void> {
    return this.exclusively(async () => {
      if (generation !== undefined || !this.#run) this.#state.beginRun(generation);
      if (this.#run && this.status === 'suspended') return this.#resume(this.#run);
      if (!this.#run) return this.#start(async (view) => this.driver.start(view, options, await this.#state.findSavedState()));
      const [error] = await this.#run.openPorts();
      await this.noteRun();
      if (error) throw error;
    });
  }

  /** A machine of another compute continues here by `begin`; it is paused until it is resumed. @throws node_running */
  receive(begin: (view: NodeView) => Promise<Emulator>): Promise<void> {
    return this.exclusively(async () => {
      if (this.#run) throw fault('node_running', { name: this.name, what: 'receive it from another compute' });
      await this.#start(begin);
      // The links are connected before the machine is resumed, so that no frame that it sends is lost.
      await this.context.wiring.connected([this.id]);
    });
  }

  /** Whether its machine, all of which was sent to another compute, stays paused; durable. */
  setDeparted(departed: boolean): Promise<void> {
    return this.exclusively(async () => {
      this.#departed = departed;
      await this.noteRun();
    });
  }

  /** A machine that was to leave continues here. Nothing happens to one that was not. */
  continueHere(): Promise<void> {
    return this.exclusively(async () => {
      if (this.#departed && this.#run) await this.#resume(this.#run);
    });
  }

  /** Starts what is always running; for other kinds, nothing. */
  begin = async (): Promise<void> => (this.driver.kind.alwaysRunning ? this.start() : undefined);

  /** Stops the node, unless it always runs. A stopped node loses the memory saved for its next start, unless it is its template's. */
  stop(options?: { now?: boolean }): Promise<void> {
    return this.exclusively(async () => {
      if (this.driver.kind.alwaysRunning) return;
      await this.#state.discardMemory();
      if (this.#run) this.#run.endsAs = 'asked';
      else if (this.#state.isInterrupted) await this.#state.endRun('asked');
      await this.#stop(options);
    });
  }

  /** Stops the node on behalf of its compute: it is to run again. */
  interrupt(options?: { now?: boolean }): Promise<void> {
    return this.exclusively(async () => {
      await this.#interrupt();
      await this.#stop(options);
    });
  }

  /** The compute ends, and its emulators with it. */
  halt = (): Promise<void> => (this.context.lease.isSlice ? this.interrupt() : this.exclusively(() => this.#stop({}, 'server')));

  /** A machine that was restored from memory continues; its links are connected, or are by `connect`. Never rejects. */
  runRestored = async (connect?: () => Promise<void>): Promise<void> => this.#run?.runRestored(connect);
  dropState = (): Promise<void> => this.#state.dropState();

  /** Ends it at once, for a holder of the node. */
  stopHeld = (): Promise<void> => this.#stop({ now: true });

  /** @throws node_not_started, of kinds that say so */
  suspend(): Promise<void> {
    return this.exclusively(async () => {
      const { can } = this.driver.kind;
      if (!this.#run && can.refuseSuspend) throw fault('node_not_started', { name: this.name });
      if (!this.#run || this.status !== 'started' || !can.suspend) return;
      await this.#run.emulator.suspend();
      await this.#changeStatus(this.#run, 'suspended');
    });
  }

  /** @throws node_not_started */
  resume(): Promise<void> {
    return this.exclusively(async () => {
      if (!this.#run) throw fault('node_not_started', { name: this.name });
      if (this.status === 'suspended') await this.#resume(this.#run);
    });
  }

  /** Resets a running node; a node whose properties were changed is stopped and started. A stopped one stays as it is. */
  reload(): Promise<void> {
    return this.exclusively(async () => {
      if (!this.#run) return;
      if (this.status === 'suspended') await this.#resume(this.#run);
      if (!this.#stale && (await this.#run.emulator.reset())) return;
      await this.#stop();
      await this.#start();
    });
  }

  update(change: NodeChange): Promise<void> {
    return this.exclusively(async () => {
      await this.#update(change);
      this.#state.emit('node.updated', this.present());
    });
  }

  /** A client created the node a second time: its properties are brought to what it says now. */
  createdAgain = (properties: Readonly<Record<string, unknown>>): Promise<void> =>
    this.exclusively(() => this.#update({ properties }));

  bindNio = (at: PortNumbers, nio: Nio): Promise<NioRecord> => this.exclusively(() => this.#nios.bind(at, nio));
  changeNio = (at: PortNumbers, nio: Nio): Promise<void> => this.exclusively(() => this.#nios.change(at, nio));
  unbindNio = (at: PortNumbers): Promise<void> => this.exclusively(() => this.#nios.unbind(at));

  /** The console server of a started node. @throws node_console */
  console(): NonNullable<NodeRun['console']> {
    return servedBy(this, this.#run?.console, `its console type is ${this.#state.record.console_type}`);
  }

  /** The server of the auxiliary console of a started node. @throws node_console */
  auxiliary = (): NodeConsole => servedBy(this, this.#run?.auxiliary, 'it has no auxiliary console');

  /** Where its screen is served; undefined when it has none, or is not started. */
  screen(): ScreenAddress | undefined {
    return this.#run && this.status === 'started' ? screenOf(this.view(), this.#run.screen) : undefined;
  }

  resetConsole = async (): Promise<void> => this.exclusively(() => this.#run?.resetConsole());

  /** Runs something while nothing else happens to the node. @throws node_not_found when it was deleted meanwhile */
  exclusively<T>(fn: () => Promise<T> | T): Promise<T> {
    return this.#lock.run(() => {
      if (this.#gone) throw fault('node_not_found', { node_id: this.id });
      return fn();
    });
  }

  /** Stops the node, gives its ports back and forgets it; its folder stays. */
  close(options?: { now?: boolean }): Promise<void> {
    return this.exclusively(async () => {
      await this.#stop(options);
      await this.context.store.deleteNode(this.id, this.context.wiring.ofNode(this.id));
      await this.#nios.clear();
      await this.driver.removed?.(this.id).catch((error) => this.context.log('warning', `node ${this.name}: ${error}`));
      this.context.ports.releaseConsole(this.#state.record.console);
      this.#state.record = { ...this.#state.record, console: null };
      this.#gone = true;
    });
  }

  /** Stops the node at once and removes it with its folder, which can be restored for a limited time if asked for. */
  async delete({ keepFiles }: { keepFiles: boolean }): Promise<void> {
    await this.close({ now: true });
    await this.dropState();
    this.#state.emit('node.deleted', this.present());
    if (keepFiles && (await this.project.keptFolders.keep(this.project.path, this.id, this.directory))) return;
    await removeTree(this.directory).catch((error: Error) => {
      this.view().warn(`The folder of ${this.name} could not be removed: ${error.message}`);
    });
  }

  /** Takes over what an earlier server left running; it stays stopped when that has ended, and `endedAway` follows. */
  async adopt(record: RunRecord): Promise<void> {
    this.#state.commandLine = record.command_line;
    const run = await NodeRun.adopt(this, record);
    if (!run) return this.context.log('warning', `node ${this.name} ended while the server was away`);
    this.#take(run);
    this.#stale = record.stale;
    this.#departed = record.departed === true;
    this.#state.status = run.emulator.state;
    if (this.status !== record.status || run.emulator.openPort) await this.noteRun();
  }

  /** Records the end of a run that `adopt` did not find: it ended by itself, or with its compute. Never rejects. */
  endedAway = (ending: RunEnding): Promise<void> => this.exclusively(() => this.#state.endRun(ending));

  /** The server ends: lets go of the emulator without waiting for verbs under way. */
  async release(): Promise<void> {
    this.#gone = true;
    await this.#run?.release();
  }

  anotherConsolePort = (): Promise<number | null> => this.#state.anotherConsolePort();

  async #requireLease(): Promise<void> {
    if (!(await isHeld(this.context.lease))) throw fault('lease_expired', { name: this.name });
  }

  /** State of a run that outlives its emulator process. */
  get #lasting(): Pick<RunRecord, 'stale' | 'departed'> {
    return { stale: this.#stale, ...(this.#departed && { departed: true }) };
  }

  async #start(begin: (view: NodeView) => Promise<Emulator> = (view) => this.driver.start(view)): Promise<void> {
    await this.#state.requireStored();
    await this.#requireLease();
    const run = await NodeRun.start(this, begin);
    this.#take(run);
    this.#stale = false;
    this.#departed = false;
    this.#state.isInterrupted = false;
    this.#state.commandLine = run.emulator.commandLine;
    if (!this.project.holdsMachines) await this.runRestored(() => this.context.wiring.connected([this.id]));
    if (this.project.record.replicate_link_state) await this.#nios.showCarriers();
    // A machine that continues from memory that was saved while paused starts paused.
    this.#state.setStatus(run.emulator.state);
  }

  #take(run: NodeRun): void {
    const failed = (error: unknown) => {
      if (!this.#gone) this.context.log('error', `node ${this.name}: ${error}`);
    };
    this.#run = run;
    run.emulator.onState((state) => {
      const isNew = () => this.#run === run && this.status !== state;
      this.exclusively(() => (isNew() ? this.#changeStatus(run, state) : undefined)).catch(failed);
    });
    run.emulator.onRecord?.(() => {
      this.exclusively(() => (this.#run === run ? this.noteRun() : undefined)).catch(failed);
      // An interface that was made again is up.
      if (this.project.record.replicate_link_state) void this.showLinkStates();
    });
    const ended = (ending: Ending) => this.exclusively(() => this.#ended(run, ending));
    run.emulator.ended.then(ended).catch(failed);
  }

  /** A machine that was sent to another compute runs there. */
  async #interrupt(): Promise<void> {
    if (!this.#departed) await this.#run?.interrupt({ stale: this.#stale });
  }

  async #stop(options?: { now?: boolean }, endsAs?: RunEnding): Promise<void> {
    if (this.#run && endsAs) this.#run.endsAs = endsAs;
    await this.#run?.stop(options);
    this.#stopped();
  }

  #stopped(): void {
    const endsAs = this.#run?.endsAs;
    if (endsAs) this.#state.isInterrupted = endsAs === 'lost';
    this.#run = undefined;
    this.#state.setStatus('stopped', endsAs);
  }

  async #resume(run: NodeRun): Promise<void> {
    await this.#requireLease();
    await run.emulator.resume();
    this.#departed = false;
    await this.#changeStatus(run, 'started');
  }

  /** The emulator ended without being asked to. */
  async #ended(run: NodeRun, ending: Ending): Promise<void> {
    if (this.#run !== run) return;
    if (await endsMachines(this.context.lease)) await this.#interrupt();
    else run.endsAs = ending.how === 'failed' ? 'failed' : 'guest';
    await run.end();
    this.#stopped();
    if (ending.how === 'failed') this.#state.emit('log.error', { message: `Node ${this.name} has ended: ${ending.reason}` });
  }

  async #update(change: NodeChange): Promise<void> {
    const before = this.#state.record;
    const { alwaysRunning, inFabric } = this.driver.kind;
    const isOtherConsole = change.console_type !== undefined && change.console_type !== before.console_type;
    if (this.#run && isOtherConsole && !alwaysRunning) {
      throw fault('node_running', { name: this.name, what: 'change the type of its console' });
    }
    const user = { kind: this.driver.kind, name: this.name, properties: change.properties ?? {} };
    const next = await this.context.imageClaims.during(user, async () => {
      const after = await this.#state.after(change);
      if (isDeepStrictEqual(after, before)) return before;
      if (inFabric) this.#nios.requireStay(after.properties);
      await this.#state.store(after);
      return after;
    });
    if (next === before) return;
    if (next.name !== before.name) await this.#state.renameFiles(before.name);
    if (!isDeepStrictEqual(next.properties, before.properties)) await this.#propertiesChanged(next.properties);
    if (next.console !== before.console || isOtherConsole) await this.#run?.reopenConsole();
  }

  async #propertiesChanged(properties: Properties): Promise<void> {
    await this.#nios.dropMissing();
    const run = this.#run;
    if (!run) return;
    this.#stale = true;
    // Noted afterwards: what an emulator is found again by may change with its properties.
    await run.emulator.changed(properties).finally(() => this.noteRun());
    await run.linksUp().catch((error: Error) => this.view().warn(`The links of ${this.name} do not follow yet: ${error.message}`));
  }

  async #changeStatus(run: NodeRun, status: 'started' | 'suspended'): Promise<void> {
    await run.note({ status, ...this.#lasting });
    this.#state.setStatus(status);
  }
}
