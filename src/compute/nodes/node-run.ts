/**
 * Run of a node, from its emulator's start or adoption to its end. It has the emulator, its console server, its links, its folder of
 * sockets and its record: all of them or none. The node decides when to call it, and keeps the status.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { ConsoleSource, Driver, Emulator, Ending, NodeView, ScreenSource } from '../../emulators/driver.ts';
import { bootId } from '../../lib/boot-clock.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { savedMemoryName } from '../../schema/folders.ts';
import type { RunEnding } from '../../schema/node-runs.ts';
import { unmetWish } from '../../schema/unmet-wish.ts';
import { type NodeConsole, openConsole } from '../console/console.ts';
import { refusalOf } from '../console/refusals.ts';
import { ConsoleRelay } from '../console/relay.ts';
import type { Context } from '../context.ts';
import type { RunRecord } from '../store.ts';
import type { NodeState } from './node-state.ts';

interface RunOwner {
  readonly context: Context;
  readonly driver: Driver;
  view(): NodeView;
  /** Generation of the present start or the last one, and the record that is kept of a run that ended. */
  readonly runs: Pick<NodeState, 'generation' | 'endRecord'>;
  /** Makes ready those of its ports that have a NIO, where that must be done; answers what kept some. */
  openPorts(emulator: Emulator): Promise<Error[]>;
  /** The node continues from its saved state, if it has one, no more. Never rejects. */
  dropState(): Promise<void>;
  /** The console's port was found in use by another program: gives another one, durably. */
  anotherConsolePort(): Promise<number | null>;
}

/** Ports of a console that are tried: another server of the host may take the same free port at the same time. */
const consoleTries = 20;

export class NodeRun {
  readonly emulator: Emulator;
  readonly #owner: RunOwner;
  readonly #view: NodeView;
  #console: NodeConsole | undefined;
  #auxiliary: NodeConsole | undefined;
  #relay: ConsoleRelay | undefined;
  /** End of the run, once it has ended. */
  #ending: Ending | undefined;
  #isOver = false;
  /** Ending to record. `lost`, if the compute caused the end: the record stays, so that the node is known to be to run again. */
  endsAs: RunEnding = 'asked';

  private constructor(owner: RunOwner, view: NodeView, emulator: Emulator) {
    this.#owner = owner;
    this.#view = view;
    this.emulator = emulator;
    void emulator.ended.then((ending) => {
      this.#ending = ending;
    });
  }

  /** Starts the emulator by `begin`, and all that belongs to it. A failure leaves nothing behind. */
  static async start(owner: RunOwner, begin: (view: NodeView) => Promise<Emulator>): Promise<NodeRun> {
    const view = owner.view();
    let run: NodeRun | undefined;
    try {
      if (!owner.driver.kind.inFabric) await prepareFolders(view);
      run = new NodeRun(owner, view, await begin(view));
      run.#warnOfPorts(await owner.openPorts(run.emulator));
      await together([run.note({ status: run.emulator.state, stale: false }), run.#openConsole(), run.linksUp()]);
      run.#requireAlive();
      return run;
    } catch (error) {
      await run?.emulator.stop({ now: true }).catch(() => undefined);
      await (run ? run.end() : removeFolder(view.runtimeDirectory));
      throw error;
    }
  }

  /** Takes over the emulator of a server that ended; undefined when it no longer runs. */
  static async adopt(owner: RunOwner, record: RunRecord): Promise<NodeRun | undefined> {
    const view = owner.view();
    // A fabric would make the PC again, but what ran before a boot of the host was lost with it.
    if (owner.driver.kind.inFabric === 'pc' && record.boot !== undefined && record.boot !== bootId()) return undefined;
    const emulator = await owner.driver.adopt(view, record.record);
    if (!emulator) return undefined;
    const run = new NodeRun(owner, view, emulator);
    // A console that cannot be opened is no reason to end a running node.
    run.#warnOfPorts(await owner.openPorts(emulator));
    await together([run.#openConsole(), run.linksUp()]).catch((error: Error) => {
      owner.context.log('error', `node ${view.name} was taken over, but not all of it: ${error.message}`);
    });
    // Saved while it was paused, by a server that died before it stopped the machine: now it continues by itself.
    await removeTree(join(view.directory, savedMemoryName)).catch(() => undefined);
    await owner.dropState();
    // The machine was paused for a copy or for a move when the server died.
    if (record.status === 'started' && !record.departed && emulator.state === 'suspended')
      await emulator.resume().catch((error: Error) => {
        owner.context.log('error', `node ${view.name} stays paused: it could not be resumed: ${error.message}`);
      });
    return run;
  }

  /** Keeps what a server that starts again must know. */
  note(state: Pick<RunRecord, 'status' | 'stale' | 'departed'>): Promise<void> {
    const { record, commandLine } = this.emulator;
    const { generation } = this.#owner.runs;
    return this.#owner.context.store.setRun(this.#view.nodeId, {
      ...{ record, command_line: commandLine, ...state, boot: bootId() },
      ...(generation !== undefined && { generation }),
      ...(this.endsAs === 'lost' && { interrupted: true as const }),
    });
  }

  /** Notes that the compute is about to end the run. Never rejects. */
  async interrupt(state: Pick<RunRecord, 'stale'>): Promise<void> {
    this.endsAs = 'lost';
    await this.note({ status: this.emulator.state, ...state }).catch((error: Error) => {
      this.#owner.context.log('error', `that node ${this.#view.name} is to run again could not be noted: ${error.message}`);
    });
  }

  /** Serves the console where the compute is the one to do so; at another port when the console's own was found in use. */
  async #openConsole(): Promise<void> {
    const { host } = this.#owner.view().console;
    const admits = this.#owner.context.consoleAdmission;
    const auxiliary = this.emulator.auxiliary?.();
    if (auxiliary) this.#auxiliary = await openConsole({ ...auxiliary, host, admits });
    const source = this.emulator.console();
    const { type, port } = this.#owner.view().console;
    if (!source && type === 'telnet') this.#view.warn(`${this.#view.name} has no console: nothing answers at its console port`);
    if (!source || port === null || (type === 'telnet') === (source.type === 'screen')) return;
    for (let at = port, tries = 1; ; tries++) {
      try {
        await this.#serve(source, at);
        if (at !== port) this.#view.warn(unmetWish(this.#view.name, 'console port', port, at));
        return;
      } catch (error) {
        if (tries === consoleTries || !isFault(error, 'console_unavailable')) throw error;
      }
      at = (await this.#owner.anotherConsolePort()) ?? port;
    }
  }

  async #serve(source: ConsoleSource | ScreenSource, port: number): Promise<void> {
    const { type, host } = this.#owner.view().console;
    const { consoleAdmission: admits, isKnownHost } = this.#owner.context;
    const where = { host, port, admits };
    if (source.type !== 'screen') this.#console = await openConsole({ ...where, source });
    else {
      const page = type === 'http' ? { isKnownHost } : {};
      this.#relay = await ConsoleRelay.open({ ...where, ...page, path: source.path, refusal: refusalOf(type) });
    }
  }

  /** A machine that was restored from memory continues; its links are connected, or are by `connect`. Never rejects. */
  async runRestored(connect?: () => Promise<void>): Promise<void> {
    await this.emulator.runRestored?.(connect).catch((error: Error) => {
      if (!this.#isOver) this.#view.warn(`${this.#view.name} stays paused: ${error.message}`);
    });
    await this.#owner.dropState();
  }

  async #closeConsole(): Promise<void> {
    const consoles = [this.#console, this.#auxiliary, this.#relay];
    this.#console = undefined;
    this.#auxiliary = undefined;
    this.#relay = undefined;
    await Promise.all(consoles.map((console) => console?.close()));
  }

  /** Serves the console anew, at the port and of the type that the node has now. */
  async reopenConsole(): Promise<void> {
    await this.#closeConsole();
    await this.#openConsole();
  }

  /** Disconnects all clients of the console. */
  async resetConsole(): Promise<void> {
    await Promise.all([this.#console?.reset(), this.#relay?.reset()]);
  }

  /** Where the emulator serves its screen, if it does so on a socket. */
  get screen(): ScreenSource | undefined {
    const source = this.emulator.console();
    return source?.type === 'screen' ? source : undefined;
  }

  /** The console server, while there is one. */
  get console(): NodeConsole | undefined {
    return this.#console;
  }

  /** The server of the auxiliary console, where the emulator has one. */
  get auxiliary(): NodeConsole | undefined {
    return this.#auxiliary;
  }

  /** Stops the emulator as its properties say, and takes everything down. */
  async stop(options?: { now?: boolean }): Promise<void> {
    await this.emulator.stop(options);
    await this.end();
  }

  /** The emulator has ended: takes down what was around it. */
  async end(): Promise<void> {
    this.#isOver = true;
    const { context } = this.#owner;
    const { nodeId, name } = this.#view;
    const tidied = await Promise.allSettled([
      this.#closeConsole(),
      context.wiring.down(nodeId),
      removeFolder(this.#view.runtimeDirectory),
      this.endsAs === 'lost' ? undefined : context.store.endRun(nodeId, this.#owner.runs.endRecord(this.endsAs, this.emulator)),
    ]);
    for (const part of tidied)
      if (part.status === 'rejected') context.log('error', `tidying up after node ${name}: ${part.reason}`);
  }

  /** The server ends, the emulator keeps running. */
  async release(): Promise<void> {
    this.emulator.release();
    await this.#closeConsole();
  }

  /** Makes ready what of its ports can be now, and their links; answers what kept some. */
  async openPorts(): Promise<Error[]> {
    const errors = await this.#owner.openPorts(this.emulator);
    await this.linksUp();
    return errors;
  }

  #warnOfPorts(errors: readonly Error[]): void {
    for (const { message } of errors) this.#view.warn(`A port of ${this.#view.name} cannot be used: ${message}`);
  }

  /** Brings the node's links up, or to where its ports are now. */
  async linksUp(): Promise<void> {
    const { nodeId, name, warn } = this.#view;
    const failures = await this.#owner.context.wiring.up(nodeId, (adapter, port) => this.emulator.port(adapter, port));
    for (const failure of failures) warn(`A link of ${name} is not up yet: ${failure.error}`);
  }

  #requireAlive(): void {
    if (this.#ending) throw fault('node_failed', { name: this.#view.name, reason: this.#ending.reason || 'it ended at once' });
  }
}

/** Waits for every part before throwing, because a part that is still starting cannot be stopped. */
async function together(parts: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(parts)) if (result.status === 'rejected') throw result.reason;
}

async function prepareFolders(view: NodeView): Promise<void> {
  try {
    await mkdir(view.directory, { recursive: true });
    await removeFolder(view.runtimeDirectory);
    await mkdir(view.runtimeDirectory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
  }
}

function removeFolder(path: string): Promise<void> {
  return removeTree(path);
}
