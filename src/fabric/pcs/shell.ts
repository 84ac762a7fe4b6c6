/**
 * The command line of a PC: typed lines and scripts, one command after the other. A command that takes time is a job: what is typed
 * meanwhile waits, and Ctrl-C ends the job and the script. No event runs more than some lines; the rest follows in the next turn.
 */
import type { PcHost } from './host.ts';
import { LineEditor } from './line-editor.ts';
import type { PcOptions } from './pc-options.ts';
import type { JobState, ShellState } from './pc-shapes.ts';

const ctrlC = 3;
/** Most steps of one event, bytes typed ahead, characters of a script, and scripts within scripts. */
const limits = { steps: 32, typedBytes: 64 * 1024, scriptCharacters: 1024 * 1024, scripts: 8 };
/** Name of the timer that continues, and of the task of a job. */
export const shellTimer = 'shell';

/** A command that is running. */
export interface PcJob {
  /** Ends it without a word. */
  interrupt(): void;
  /** Takes a byte that was typed. Without it, bytes wait for the prompt. */
  onKey?(byte: number): void;
  readonly takesCtrlC?: boolean;
  /** State with which a restored PC continues the job. */
  state(): JobState;
}

/** Result of a command: `done` is followed by an empty line, `silent` is not, and a job that has `started` says its end itself. */
export type CommandOutcome = 'done' | 'silent' | 'started';
type RunLine = (shell: PcShell, line: string, isScript: boolean) => CommandOutcome;

interface Script {
  readonly text: string;
  at: number;
}

/** The PC, as far as its command line knows it. */
export interface ShellOwner {
  readonly host: PcHost;
  readonly options: PcOptions;
  /** Runs what an asynchronous answer causes as an event of the PC. */
  enter(run: () => void): void;
  /** Ends the PC. */
  quit(): void;
}

export class PcShell {
  readonly host: PcHost;
  readonly pc: ShellOwner;
  readonly editor: LineEditor;
  readonly #run: RunLine;
  #scripts: Script[] = [];
  #job: PcJob | undefined;
  /** Bytes, each as a character. */
  #typed = '';
  #hasPrompt = false;
  /** The first prompt was shown: the start-up script, if there is one, has ended. */
  hasBegun = false;

  /** `run`: the commands, which need the shell themselves. */
  constructor(pc: ShellOwner, run: RunLine) {
    this.pc = pc;
    this.host = pc.host;
    this.#run = run;
    this.editor = new LineEditor(pc.host);
  }

  print(text: string): void {
    this.host.print(text);
  }

  input(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === ctrlC && !this.#job?.takesCtrlC) this.#interrupt();
      else if (this.#job?.onKey) this.#job.onKey(byte);
      else if (this.#typed.length < limits.typedBytes) this.#typed += String.fromCharCode(byte);
    }
    this.continue();
  }

  /** Runs the lines of `text` next. False: scripts are nested too deep. */
  runScript(text: string, title: string): boolean {
    if (this.#scripts.length >= limits.scripts) return false;
    const isLong = text.length > limits.scriptCharacters;
    this.print(`\n${title}\n\n`);
    if (isLong) this.print(`The script is longer than ${limits.scriptCharacters} characters: the rest of it is ignored.\n`);
    this.#scripts.push({ text: isLong ? text.slice(0, limits.scriptCharacters) : text, at: 0 });
    return true;
  }

  /** Continues with lines and keys that wait, some in each event. */
  continue(): void {
    for (let steps = 0; !this.#job; steps++) {
      const script = this.#scripts.at(-1);
      if (!script && this.#hasPrompt && this.#typed === '') return;
      if (steps >= limits.steps) {
        this.host.timers.set(shellTimer, 0);
        return;
      }
      if (script) this.#runLine(script);
      else if (!this.#hasPrompt) {
        this.print(`\r${this.host.settings.name}> `);
        this.#hasPrompt = true;
        this.hasBegun = true;
      } else this.#takeTyped();
    }
  }

  /** The job has ended by itself. */
  finish(outcome: 'done' | 'silent' = 'done'): void {
    this.#job = undefined;
    if (outcome === 'done') this.print('\n');
    this.host.timers.set(shellTimer, 0);
  }

  /** The job runs from now on until it calls `finish`, which it may do at once. */
  setJob(job: PcJob): void {
    this.#job = job;
  }

  state(): ShellState {
    const job = this.#job?.state();
    const scripts = this.#scripts.map(({ text, at }) => text.slice(at));
    return { ...this.editor.state(), typed: this.#typed, scripts, hasPrompt: this.#hasPrompt, ...(job ? { job } : {}) };
  }

  restore(state: ShellState): void {
    this.editor.restore(state);
    this.#typed = state.typed;
    this.#scripts = state.scripts.slice(0, limits.scripts).map((text) => ({ text: text.slice(0, limits.scriptCharacters), at: 0 }));
    this.#hasPrompt = state.hasPrompt;
    this.hasBegun = true;
  }

  #interrupt(): void {
    this.print('^C\n');
    this.#job?.interrupt();
    this.#job = undefined;
    this.#scripts = [];
    this.#typed = '';
    this.#hasPrompt = false;
    this.editor.clear();
  }

  #runLine(script: Script): void {
    if (script.at >= script.text.length) {
      this.#scripts.pop();
      return;
    }
    const end = script.text.indexOf('\n', script.at);
    const line = script.text.slice(script.at, end < 0 ? undefined : end).replace(/\r$/, '');
    script.at = end < 0 ? script.text.length : end + 1;
    if (line.trim() !== '' && !line.trimStart().startsWith('#')) this.#execute(line.slice(0, 1000), true);
  }

  #takeTyped(): void {
    for (let at = 0; at < this.#typed.length; at++) {
      const line = this.editor.feed(this.#typed.charCodeAt(at));
      if (line === undefined) continue;
      this.#typed = this.#typed.slice(at + 1);
      this.#hasPrompt = false;
      if (line.trim() !== '') this.#execute(line, false);
      return;
    }
    this.#typed = '';
  }

  #execute(line: string, isScript: boolean): void {
    const outcome = this.#run(this, line, isScript);
    if (outcome === 'done') this.print('\n');
  }
}
