/**
 * A PC inside the fabric: a small host with one Ethernet port and a console, driven by frames, input and its clock. It does no I/O, and no
 * timer runs while nothing waits. Whatever throws in it ends this PC only.
 */
import { runLine } from './commands.ts';
import { PcHost } from './host.ts';
import { type PcEnd, type PcOptions, type ProbeAnswer, type ProbeFailure, reasonOf } from './pc-options.ts';
import { type PcProbe, type PcSettings, type PcState, pcState } from './pc-shapes.ts';
import { readState, restoreParts } from './pc-state.ts';
import { failedProbe, mostProbes, Probes } from './probes.ts';
import { PcShell, type ShellOwner, shellTimer } from './shell.ts';
import { banner } from './texts.ts';
import { Timers } from './timers.ts';

const usualMtu = 1500;
const earlyTimer = 'early';
/** Most scripts take the third of a second in which the PC looks for other users of its address. */
const longestEarlyMs = 5_000;

export class Pc implements ShellOwner {
  readonly options: PcOptions;
  readonly timers: Timers;
  readonly host: PcHost;
  readonly #shell: PcShell;
  #probes: Probes | undefined;
  /** Probes that wait for the start-up script, by their keys, and what continues them, or fails them. Most PCs have none. */
  #early: Map<string | object, (failure: ProbeFailure | undefined) => void> | undefined;
  #isInEvent = false;
  #isClosed = false;
  #end: PcEnd | undefined;

  /** The prompt appears with the first turn of the clock, after a script that was given by then. */
  constructor(options: PcOptions, state?: PcState) {
    this.options = options;
    const settings = state?.settings ?? options.settings ?? { name: options.name, mtu: usualMtu, dns: [] };
    this.timers = new Timers(options.clock, this);
    if (options.heldAtMs !== undefined) this.timers.hold(options.heldAtMs);
    this.host = new PcHost(state?.mac ?? options.mac, settings, this.timers, options);
    this.#shell = new PcShell(this, runLine);
    this.enter(() => {
      if (state) {
        restoreParts(state, this.host, this.#shell);
        return;
      }
      this.host.print(`${banner}\n`);
      this.timers.set(shellTimer, 0);
      this.host.dhcp.resume();
      this.host.discovery.findRouter();
    });
  }

  /** Continues where `state` was taken. @throws Error when the state is not valid */
  static restore(state: PcState, options: PcOptions): Pc {
    const problem = pcState.problem(state, 'state');
    if (problem !== undefined) throw new Error(problem);
    return new Pc(options, state);
  }

  /** Takes an Ethernet frame without its checksum. The memory is the caller's again afterwards. */
  receive(frame: Uint8Array): void {
    this.enter(() => this.host.receive(frame));
  }

  /** Takes what a user or a program types, any bytes. */
  input(bytes: Uint8Array): void {
    this.enter(() => this.#shell.input(bytes));
  }

  /** Runs the lines of the start-up script. */
  runScript(text: string): void {
    this.enter(() => {
      this.#shell.runScript(text, 'Executing the startup file');
      this.timers.set(shellTimer, 0);
    });
  }

  /** Asks for a router again: the link is another one. */
  findRouter(): void {
    this.enter(() => this.host.discovery.findRouter());
  }

  settings(): PcSettings {
    const { settings, dhcp } = this.host;
    const { lease } = settings;
    return lease ? { ...settings, lease: { ...lease, ageMs: this.timers.now() - dhcp.leasedAt } } : settings;
  }

  state(): PcState {
    return readState(this.settings(), this.host, this.#shell);
  }

  /**
   * Answers with numbers. Never rejects: a failure is part of the answer. `endProbe` ends it by its key. One that uses the network waits for
   * the start-up script, which gives the PC its addresses, for some seconds.
   */
  async probe(request: PcProbe, key?: string): Promise<ProbeAnswer> {
    if (!this.#shell.hasBegun && request.type !== 'arp' && request.type !== 'addresses') {
      const failure = await this.#begun(key ?? {});
      if (failure) return failedProbe(request, failure);
    }
    return this.#probe(request, key);
  }

  #probe(request: PcProbe, key?: string): Promise<ProbeAnswer> {
    let answer = Promise.resolve(failedProbe(request, 'ended'));
    this.#probes ??= new Probes(this.host);
    const probes = this.#probes;
    this.enter(() => {
      answer = probes.start(request, key);
    });
    if (this.#isClosed) probes.close();
    return answer;
  }

  /** Resolves when the start-up script has ended, or takes longer than probes wait. @returns why the probe is not made */
  async #begun(key: string | object): Promise<ProbeFailure | undefined> {
    if (this.#isClosed) return 'ended';
    if (!this.#early) this.timers.set(earlyTimer, longestEarlyMs);
    this.#early ??= new Map();
    if (this.#early.size >= mostProbes || this.#early.has(key)) return 'busy';
    const { promise, resolve } = Promise.withResolvers<ProbeFailure | undefined>();
    this.#early.set(key, resolve);
    return promise;
  }

  #endEarly(failure: ProbeFailure | undefined): void {
    this.timers.clear(earlyTimer);
    for (const end of this.#early?.values() ?? []) end(failure);
    this.#early = undefined;
  }

  endProbe(key: string): void {
    this.#early?.get(key)?.('ended');
    this.#early?.delete(key);
    this.enter(() => this.#probes?.end(key));
  }

  quit(): void {
    this.#end = { kind: 'quit' };
  }

  close(): void {
    this.#isClosed = true;
    this.#endEarly('ended');
    this.timers.close();
    this.#probes?.close();
  }

  onTimer(name: string): void {
    this.enter(() => {
      if (name === shellTimer) this.#shell.continue();
      else if (name === earlyTimer) this.#endEarly(undefined);
      else this.host.onTimer(name);
    });
  }

  /** Runs what an event causes, then shows the output and reports changes: once for all of it. */
  enter(run: () => void): void {
    if (this.#isClosed) return;
    if (this.#isInEvent) {
      run();
      return;
    }
    const { host, options } = this;
    this.#isInEvent = true;
    try {
      run();
    } catch (error) {
      this.#end = { kind: 'failed', message: reasonOf(error) };
    } finally {
      this.#isInEvent = false;
    }
    if (host.output !== '') {
      const bytes = Buffer.from(host.output.replaceAll('\n', '\r\n'), 'utf8');
      host.output = '';
      options.write(bytes);
    }
    if (this.#early && this.#shell.hasBegun) this.#endEarly(undefined);
    if (host.hasChanged) {
      host.hasChanged = false;
      options.onChanged?.();
    }
    if (!this.#end || this.#isClosed) return;
    this.close();
    options.onEnded?.(this.#end);
  }
}
