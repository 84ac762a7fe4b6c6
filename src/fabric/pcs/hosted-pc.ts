/** A PC with what it needs of the process: turns, a clock, a port, a console and files. An exception in it ends it, and no other. */
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import type { PcReport, PcSpec } from '../protocol.ts';
import { Pc } from './pc.ts';
import { PcConsole } from './pc-console.ts';
import { type PcEnd, type PcOptions, type ProbeAnswer, reasonOf } from './pc-options.ts';
import { type HostedState, hostedState, type PcProbe, type PcSettings } from './pc-shapes.ts';
import { PcFrames, type PcPort, type PortHolder } from './port-pc.ts';

/** A larger script is not loaded. */
const maxFileBytes = 1_048_576;
const restartedNotice = 'This PC has its addresses again: the process that ran it had ended. What it was doing is lost.\r\n';

export interface PcWork {
  /** The PC has its place in the queue. */
  isWaiting: boolean;
  /** Does one piece of work; true: there is more. */
  work(): boolean;
}

export interface HostedPcTools {
  readonly turns: { add(one: PcWork): void };
  /** The PC has other settings, or has ended. */
  onReport(report: PcReport): void;
}

export class HostedPc implements PcWork, PortHolder {
  readonly frames = new PcFrames();
  readonly console = new PcConsole(this);
  isWaiting = false;
  readonly #spec: Omit<PcSpec, 'state' | 'script'>;
  readonly #tools: HostedPcTools;
  readonly #pc: Pc | undefined;
  #due: (() => void)[] | undefined;
  #port: PcPort | undefined;
  #settings: PcSettings;
  #end: PcEnd | undefined;
  #isHeld: boolean;
  #hasChanged = false;

  /** Begins the PC, or continues it from `state`. With `heldAtMs` it is held from its beginning at that time. */
  constructor({ state, script, ...spec }: PcSpec, tools: HostedPcTools, heldAtMs?: number) {
    this.#spec = spec;
    this.#tools = tools;
    this.#settings = spec.settings ?? { name: spec.name, mtu: 1500, dns: [] };
    this.#isHeld = heldAtMs !== undefined;
    const border = new PcBorder(spec, this, heldAtMs);
    this.#pc = this.#safely(() => (state === undefined ? this.#begin(border, script) : this.#continue(border, state)));
    this.#settings = this.#safely(() => this.#pc?.settings()) ?? this.#settings;
    this.#hasChanged = false;
  }

  get report(): PcReport {
    return { id: this.#spec.id, settings: this.#settings, ...(this.#end && { end: this.#end }) };
  }

  plug(port: PcPort): void {
    this.#port?.join(undefined);
    this.#port = port;
    port.join(this);
    // A new link may have another router.
    this.#safely(() => this.#pc?.findRouter());
  }

  unplug(port: PcPort): void {
    if (this.#port === port) this.#port = undefined;
  }

  wake(): void {
    if (!this.#end && !this.#isHeld) this.#tools.turns.add(this);
  }

  work(): boolean {
    if (this.#end || this.#isHeld) return false;
    this.#safely(() => this.#piece());
    this.frames.flush();
    if (this.#hasChanged) this.#reportChange();
    return !this.#end && (this.#due !== undefined || this.frames.arrived.all.length > 0 || this.console.hasInput);
  }

  /** Time stands still for it until `unhold`. */
  hold(nowMs: number): void {
    this.#isHeld = true;
    this.#pc?.timers.hold(nowMs);
  }

  unhold(nowMs: number): void {
    this.#isHeld = false;
    this.#pc?.timers.unhold(nowMs);
    this.wake();
  }

  /** Undefined when it has ended. */
  probe(request: PcProbe, key?: string): Promise<ProbeAnswer> | undefined {
    return this.#end ? undefined : this.#pc?.probe(request, key);
  }

  endProbe(key: string): void {
    this.#safely(() => this.#pc?.endProbe(key));
  }

  /** Undefined when it has ended. */
  state(): HostedState | undefined {
    const pc = this.#safely(() => this.#pc?.state());
    if (!pc || this.#end) return undefined;
    const { arrived, leaving } = this.frames;
    const [history, input] = [hexOf(this.console.history()), hexOf(this.console.waiting())];
    return { pc, history, input, arrived: arrived.all.map(hexOf), leaving: leaving.all.map(hexOf) };
  }

  close(): void {
    const wasRunning = !this.#end;
    this.#end ??= { kind: 'quit' };
    if (wasRunning) this.#safely(() => this.#pc?.close());
    this.console.disconnect();
    this.#port?.join(undefined);
  }

  /** Takes what is due by the clock, to run it in a turn of PCs. */
  onDue(run: () => void): void {
    this.#due ??= [];
    this.#due.push(run);
    this.wake();
  }

  /** Settings of the PC have changed. */
  onChanged(): void {
    this.#hasChanged = true;
    this.wake();
  }

  onEnded(end: PcEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#due = undefined;
    this.#pc?.close();
    this.#tools.onReport(this.report);
  }

  #begin(border: PcOptions, script: string | undefined): Pc {
    if (border.settings) this.console.write(Buffer.from(restartedNotice));
    const pc = new Pc(border);
    if (script !== undefined && !border.settings) pc.runScript(script);
    return pc;
  }

  /** @throws Error when the state is not valid */
  #continue(border: PcOptions, state: unknown): Pc {
    const problem = hostedState.problem(state, 'its saved state');
    if (problem !== undefined) throw new Error(problem);
    const saved = state as HostedState;
    const pc = Pc.restore(saved.pc, border);
    for (const frame of saved.arrived) this.frames.arrived.push(bytesOf(frame));
    for (const frame of saved.leaving) this.frames.put(bytesOf(frame));
    this.console.setHistory(bytesOf(saved.history));
    if (saved.input !== '') this.console.type(bytesOf(saved.input));
    return pc;
  }

  #piece(): void {
    const due = this.#due?.shift();
    if (this.#due?.length === 0) this.#due = undefined;
    if (due) {
      due();
      return;
    }
    const frame = this.frames.arrived.shift();
    if (frame) this.#pc?.receive(frame);
    const typed = this.console.take();
    if (typed) this.#pc?.input(typed);
  }

  #reportChange(): void {
    this.#hasChanged = false;
    const settings = this.#safely(() => this.#pc?.settings());
    if (!settings || this.#end) return;
    this.#settings = settings;
    this.#tools.onReport(this.report);
  }

  #safely<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.onEnded({ kind: 'failed', message: reasonOf(error) });
      return undefined;
    }
  }
}

/** The PC's access to its process: clock, port, console and files. */
class PcBorder implements PcOptions {
  readonly #spec: Omit<PcSpec, 'state' | 'script'>;
  readonly #hosted: HostedPc;
  readonly heldAtMs: number | undefined;

  constructor(spec: Omit<PcSpec, 'state' | 'script'>, hosted: HostedPc, heldAtMs: number | undefined) {
    this.#spec = spec;
    this.#hosted = hosted;
    this.heldAtMs = heldAtMs;
  }

  get name(): string {
    return this.#spec.name;
  }

  get mac(): string {
    return this.#spec.mac;
  }

  get settings(): PcSettings | undefined {
    return this.#spec.settings;
  }

  get clock(): this {
    return this;
  }

  now(): number {
    return performance.now();
  }

  /** Node counts in whole milliseconds. */
  after(ms: number, run: () => void): { cancel(): void } {
    const handle = setTimeout(() => this.#hosted.onDue(run), Math.ceil(ms));
    return { cancel: () => clearTimeout(handle) };
  }

  send(frame: Uint8Array): void {
    this.#hosted.frames.put(frame);
    // A PC sends from its start, from turns, and after answers of files.
    this.#hosted.wake();
  }

  write(bytes: Uint8Array): void {
    this.#hosted.console.write(bytes);
  }

  onChanged(): void {
    this.#hosted.onChanged();
  }

  onEnded(end: PcEnd): void {
    this.#hosted.onEnded(end);
  }

  onDisconnect(): void {
    this.#hosted.console.disconnect();
  }

  async loadFile(given: string): Promise<string | undefined> {
    try {
      return (await readRegularFile(this.#pathOf(given), maxFileBytes, { noFollow: true })).toString('utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  saveFile(given: string, text: string): Promise<void> {
    return writeFileAtomic(this.#pathOf(given), text);
  }

  #pathOf(given: string): string {
    return join(this.#spec.directory, basename(given));
  }
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string) => Buffer.from(hex, 'hex');
