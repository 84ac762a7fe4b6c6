/** A PC with what it needs of the process: turns, a clock, a port, a console and files. What it throws ends it, and no other. */
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import type { PcReport, PcSpec } from '../protocol.ts';
import { type HostedState, hostedState } from './hosted-state.ts';
import { Pc } from './pc.ts';
import { PcConsole } from './pc-console.ts';
import { PcFrames } from './pc-frames.ts';
import type { PcEnd, PcOptions, ProbeAnswer } from './pc-options.ts';
import type { PcProbe, PcSettings } from './pc-shapes.ts';
import { PcTimers } from './pc-timers.ts';
import type { PcTurns, PcWork } from './pc-turns.ts';
import type { PcPort, PortHolder } from './port-pc.ts';

/** A larger script is none. */
const maxFileBytes = 1_048_576;

const restartedNotice = 'This PC has its addresses again: the process that ran it had ended. What it was doing is lost.\r\n';

export interface HostedPcTools {
  readonly turns: PcTurns;
  /** Its settings are others, or it has ended. */
  onReport(report: PcReport): void;
}

export class HostedPc implements PcWork, PortHolder {
  readonly frames = new PcFrames();
  readonly console = new PcConsole(() => this.wake());
  isWaiting = false;
  readonly #spec: Omit<PcSpec, 'state' | 'script'>;
  readonly #tools: HostedPcTools;
  readonly #timers = new PcTimers((run) => this.#isDue(run));
  readonly #pc: Pc | undefined;
  #due: (() => void)[] = [];
  #port: PcPort | undefined;
  #settings: PcSettings;
  #end: PcEnd | undefined;
  #hasChanged = false;

  /** It is held from its beginning at `heldAtMs`, where that is given. */
  constructor({ state, script, ...spec }: PcSpec, tools: HostedPcTools, heldAtMs?: number) {
    this.#spec = spec;
    this.#tools = tools;
    this.#settings = spec.settings ?? { name: spec.name, mtu: 1500, dns: [] };
    if (heldAtMs !== undefined) this.#timers.hold(heldAtMs);
    this.#pc = this.#safely(() => (state === undefined ? this.#begin(script) : this.#continue(state)));
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
    this.#safely(() => this.#pc?.setCarrier(true));
  }

  unplug(port: PcPort): void {
    if (this.#port !== port) return;
    this.#port = undefined;
    this.#safely(() => this.#pc?.setCarrier(false));
  }

  wake(): void {
    if (!this.#end && !this.#timers.isHeld) this.#tools.turns.add(this);
  }

  work(): boolean {
    if (this.#end || this.#timers.isHeld) return false;
    this.#safely(() => this.#piece());
    this.frames.flush();
    if (this.#hasChanged) this.#reportChange();
    return !this.#end && (this.#due.length > 0 || this.frames.hasArrived || this.console.hasInput);
  }

  hold(nowMs: number): void {
    this.#timers.hold(nowMs);
  }

  unhold(nowMs: number): void {
    this.#timers.unhold(nowMs);
    this.wake();
  }

  /** @throws Error when it has ended */
  async probe(request: PcProbe): Promise<ProbeAnswer> {
    if (!this.#pc || this.#end) throw new Error('the PC has ended');
    const answer = this.#pc.probe(request);
    this.wake();
    return answer;
  }

  /** Undefined when it has ended. */
  state(): HostedState | undefined {
    const pc = this.#safely(() => this.#pc?.state());
    if (!pc || this.#end) return undefined;
    const { arrived, leaving } = this.frames.waiting();
    return {
      pc,
      history: hexOf(this.console.history()),
      input: hexOf(this.console.waiting()),
      arrived: arrived.map(hexOf),
      leaving: leaving.map(hexOf),
    };
  }

  close(): void {
    const { end } = this;
    this.#end ??= { kind: 'quit' };
    if (!end) this.#safely(() => this.#pc?.close());
    this.#timers.close();
    this.console.disconnect();
    this.#port?.join(undefined);
  }

  get end(): PcEnd | undefined {
    return this.#end;
  }

  #begin(script: string | undefined): Pc {
    if (this.#spec.settings) this.console.write(Buffer.from(restartedNotice));
    const pc = new Pc(this.#options());
    if (script !== undefined && this.#spec.settings === undefined) pc.runScript(script);
    return pc;
  }

  /** @throws Error when the state is not valid */
  #continue(state: unknown): Pc {
    const problem = hostedState.problem(state, 'its saved state');
    if (problem !== undefined) throw new Error(problem);
    const saved = state as HostedState;
    const pc = Pc.restore(saved.pc, this.#options());
    this.frames.restore({ arrived: saved.arrived.map(bytesOf), leaving: saved.leaving.map(bytesOf) });
    this.console.setHistory(bytesOf(saved.history));
    if (saved.input !== '') this.console.type(bytesOf(saved.input));
    return pc;
  }

  #options(): PcOptions {
    const { name, mac, settings, directory } = this.#spec;
    const fileOf = (given: string) => join(directory, basename(given));
    return {
      name,
      mac,
      clock: this.#timers,
      send: (frame) => {
        this.frames.put(frame);
        // A PC sends from its start, from turns, and after answers of files.
        this.wake();
      },
      write: (bytes) => this.console.write(bytes),
      onChanged: () => {
        this.#hasChanged = true;
        this.wake();
      },
      onEnded: (end) => this.#endWith(end),
      onDisconnect: () => this.console.disconnect(),
      loadFile: async (given) => {
        const read = readRegularFile(fileOf(given), maxFileBytes, { noFollow: true });
        const bytes = await read.catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined;
          throw error;
        });
        return bytes?.toString('utf8');
      },
      saveFile: async (given, text) => {
        await writeFileAtomic(fileOf(given), text);
      },
      ...(settings && { settings }),
    };
  }

  #piece(): void {
    const [due] = this.#due;
    if (due) {
      this.#due.shift();
      due();
      return;
    }
    const frame = this.frames.take();
    if (frame) this.#pc?.receive(frame);
    const typed = this.console.take();
    if (typed) this.#pc?.input(typed);
  }

  #isDue(run: () => void): void {
    this.#due.push(run);
    this.wake();
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
      this.#endWith({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      return undefined;
    }
  }

  #endWith(end: PcEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#timers.close();
    this.#due = [];
    this.#tools.onReport(this.report);
  }
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string) => Buffer.from(hex, 'hex');
