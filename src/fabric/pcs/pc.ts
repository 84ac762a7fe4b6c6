/**
 * A PC inside the fabric: a small host with one Ethernet port and a console, driven by frames, input and its clock. It does no I/O, and no
 * timer runs while nothing waits. Whatever throws in it ends this PC only.
 */
import { runLine } from './commands.ts';
import { PcHost } from './host.ts';
import type { PcEnd, PcOptions, ProbeAnswer } from './pc-options.ts';
import { type PcProbe, type PcSettings, type PcState, pcState } from './pc-shapes.ts';
import { readState, restoreParts } from './pc-state.ts';
import { Probes } from './probes.ts';
import { PcShell, shellTimer } from './shell.ts';
import { banner } from './texts.ts';
import { Timers } from './timers.ts';

const usualMtu = 1500;

export class Pc {
  readonly #options: PcOptions;
  readonly #timers: Timers;
  readonly #host: PcHost;
  readonly #shell: PcShell;
  readonly #probes: Probes;
  #output = '';
  #isInEvent = false;
  #isClosed = false;
  #end: PcEnd | undefined;

  /** The prompt appears with the first turn of the clock, after a script that was given by then. */
  constructor(options: PcOptions, state?: PcState) {
    this.#options = options;
    const settings = state?.settings ?? options.settings ?? { name: options.name, mtu: usualMtu, dns: [] };
    const print = (text: string) => {
      this.#output += text;
    };
    this.#timers = new Timers(options.clock, (name) => this.#event(() => this.#onTimer(name)));
    this.#host = new PcHost(options, settings, this.#timers, print);
    const enter = (run: () => void) => this.#event(run);
    const quit = () => {
      this.#end = { kind: 'quit' };
    };
    this.#shell = new PcShell({ host: this.#host, options, print, quit, enter, run: runLine });
    this.#probes = new Probes(this.#host);
    this.#event(() => {
      if (state) {
        restoreParts(state, this.#host, this.#shell);
        return;
      }
      print(`${banner}\n`);
      this.#timers.set(shellTimer, 0);
      this.#host.dhcp.resume();
      this.#host.discovery.findRouter();
    });
  }

  /** Continues where `state` was taken. @throws Error when the state is not valid */
  static restore(state: PcState, options: PcOptions): Pc {
    const problem = pcState.problem(state, 'state');
    if (problem !== undefined) throw new Error(problem);
    return new Pc({ ...options, mac: state.mac }, state);
  }

  /** Takes an Ethernet frame without its checksum. The memory is the caller's again afterwards. */
  receive(frame: Uint8Array): void {
    this.#event(() => this.#host.receive(frame));
  }

  /** Takes what a user or a program types, any bytes. */
  input(bytes: Uint8Array): void {
    this.#event(() => this.#shell.input(bytes));
  }

  /** Runs the lines of the start-up script. */
  runScript(text: string): void {
    this.#event(() => {
      this.#shell.runScript(text, 'Executing the startup file');
      this.#timers.set(shellTimer, 0);
    });
  }

  /** Whether the port's link is there. A new link may have another router. */
  setCarrier(up: boolean): void {
    this.#event(() => up && this.#host.discovery.findRouter());
  }

  settings(): PcSettings {
    const { settings, dhcp } = this.#host;
    const { lease } = settings;
    return lease ? { ...settings, lease: { ...lease, ageMs: this.#timers.now() - dhcp.leasedAt } } : settings;
  }

  state(): PcState {
    return readState(this.settings(), this.#host, this.#shell);
  }

  /** Answers with numbers. Never rejects: a failure is part of the answer. */
  probe(request: PcProbe): Promise<ProbeAnswer> {
    return new Promise((resolve) => {
      this.#event(() => resolve(this.#probes.start(request)));
      if (this.#isClosed) this.#probes.close();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#timers.close();
    this.#probes.close();
  }

  #onTimer(name: string): void {
    if (name === shellTimer) this.#shell.continue();
    else this.#host.onTimer(name);
  }

  /** Runs what an event causes, then shows the output and tells of changes: once for all of it. */
  #event(run: () => void): void {
    if (this.#isClosed) return;
    if (this.#isInEvent) {
      run();
      return;
    }
    this.#isInEvent = true;
    try {
      run();
    } catch (error) {
      this.#end = { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    } finally {
      this.#isInEvent = false;
    }
    if (this.#output !== '') {
      const bytes = Buffer.from(this.#output.replaceAll('\n', '\r\n'), 'utf8');
      this.#output = '';
      this.#options.write(bytes);
    }
    if (this.#host.hasChanged) {
      this.#host.hasChanged = false;
      this.#options.onChanged?.();
    }
    if (!this.#end || this.#isClosed) return;
    this.close();
    this.#options.onEnded?.(this.#end);
  }
}
