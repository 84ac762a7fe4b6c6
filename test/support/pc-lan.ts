/** PCs of the fabric on one Ethernet segment, in simulated time: an hour of pings takes milliseconds and has the same outcome each time. */
import { Pc } from '../../src/fabric/pcs/pc.ts';
import type { PcClock, PcEnd, PcOptions } from '../../src/fabric/pcs/pc-options.ts';
import type { PcState } from '../../src/fabric/pcs/pc-shapes.ts';

export class SimulatedClock implements PcClock {
  #now = 1000;
  #order = 0;
  readonly #timers = new Map<number, { at: number; run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): { cancel(): void } {
    this.#order += 1;
    const id = this.#order;
    this.#timers.set(id, { at: this.#now + ms, run });
    return { cancel: () => void this.#timers.delete(id) };
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Runs until `isDone`, or until nothing waits within `limitMs`. */
  async run(isDone: () => boolean, limitMs: number): Promise<boolean> {
    const limit = this.#now + limitMs;
    while (!isDone()) {
      // Promises are settled before time passes.
      await new Promise((resolve) => setImmediate(resolve));
      if (isDone()) break;
      const [next] = [...this.#timers].sort(([a, x], [b, y]) => x.at - y.at || a - b);
      if (!next || next[1].at > limit) {
        this.#now = limit;
        return isDone();
      }
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1].at);
      next[1].run();
    }
    return true;
  }
}

export interface LanPc {
  readonly pc: Pc;
  /** All of its console. */
  output: string;
  ended: PcEnd | undefined;
  changes: number;
  readonly files: Map<string, string>;
}

export class PcLan {
  readonly clock = new SimulatedClock();
  readonly pcs: LanPc[] = [];
  readonly frames: Buffer[] = [];
  latencyMs = 0.1;
  /** Whether a frame is lost. */
  loses: (frame: Buffer) => boolean = () => false;

  add(options: Partial<PcOptions> = {}, state?: PcState): LanPc {
    const files = new Map<string, string>();
    const index = this.pcs.length;
    const all: PcOptions = {
      name: `PC${index + 1}`,
      mac: `00:50:79:66:68:0${index}`,
      clock: this.clock,
      send: (frame) => this.send(frame, index),
      write: (bytes) => {
        made.output += Buffer.from(bytes).toString();
      },
      onEnded: (end) => {
        made.ended = end;
      },
      onChanged: () => {
        made.changes += 1;
      },
      loadFile: async (name) => files.get(name),
      saveFile: async (name, text) => void files.set(name, text),
      ...options,
    };
    const made: LanPc = { output: '', ended: undefined, changes: 0, files, pc: undefined as unknown as Pc };
    this.pcs.push(made);
    Object.assign(made, { pc: state ? Pc.restore(state, all) : new Pc(all) });
    return made;
  }

  /** Sends to all ports but `from`. */
  send(frame: Uint8Array, from = -1): void {
    const copy = Buffer.from(frame);
    this.frames.push(copy);
    if (this.loses(copy)) return;
    this.clock.after(this.latencyMs, () => {
      for (const [index, { pc }] of this.pcs.entries()) if (index !== from) pc.receive(copy);
    });
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.run(() => false, ms);
  }

  /** Types a line and gives what the console shows up to the next prompt, without carriage returns. */
  async type(to: LanPc, line: string, limitMs = 120_000): Promise<string> {
    await this.untilPrompt(to, limitMs);
    const before = to.output.length;
    to.pc.input(Buffer.from(`${line}\r`));
    await this.untilPrompt(to, limitMs, before + line.length + 2);
    return to.output.slice(before).replaceAll('\r', '');
  }

  /** @throws Error when no prompt comes in simulated time */
  async untilPrompt(of: LanPc, limitMs = 120_000, from = 0): Promise<void> {
    const isDone = () => of.ended !== undefined || /(^|\r)[^\r\n]*> $/.test(of.output.slice(from));
    if (!(await this.clock.run(isDone, limitMs))) throw new Error(`no prompt: ${JSON.stringify(of.output.slice(-400))}`);
  }

  close(): void {
    for (const { pc } of this.pcs) pc.close();
  }
}
