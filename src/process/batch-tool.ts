/**
 * Keeps one `tc` or `ip` of iproute2 running, which reads commands from a pipe (`-batch -`): a command costs some tens of microseconds,
 * where a process of its own costs milliseconds. It is started at the first command, and again after it has ended; it ends with this
 * process, as its standard input does.
 *
 * Theory of operation: the program answers nothing to a command that succeeds, and a failed one with its reason and its number on standard
 * error. After each group of commands comes one that always fails, and its number says that the group is done. What a group shows is
 * on standard output by then, but may be read a little later.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../lib/line-splitter.ts';

interface CommandGroup {
  readonly commands: readonly string[];
  /** The group prints one line of JSON. */
  readonly shows: boolean;
  readonly settle: (result: BatchResult) => void;
  /** Number of its closing command. */
  last: number;
  readonly reasons: string[];
  /** Lines about the command that is run, which are reasons if it fails; iproute2 also warns of lists that changed while it read them. */
  readonly remarks: string[];
  output: string | undefined;
  isDone: boolean;
}

interface BatchResult {
  /** Why commands failed; empty when none did. */
  readonly reason: string;
  /** The program ended meanwhile: some of the commands may not have been run. */
  readonly isLost: boolean;
  /** The line that the commands print. */
  readonly output: string;
}

const closing = 'done';
const replyLimitMs = 5000;

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

export class BatchTool {
  readonly #words: () => readonly string[];
  #process: Process | undefined;
  #lines = 0;
  #groups: CommandGroup[] = [];
  #limit: NodeJS.Timeout | undefined;

  /** `words`: the program, after the words that bring it to its namespace; asked at each start of it. */
  constructor(words: () => readonly string[]) {
    this.#words = words;
  }

  /** Runs the commands one after the other, all of them. Never rejects. */
  run(commands: readonly string[]): Promise<BatchResult> {
    return this.#send(commands, false);
  }

  /** Runs a command that prints one line of JSON. */
  show(command: string): Promise<BatchResult> {
    return this.#send([command], true);
  }

  close(): void {
    this.#process?.stdin.end();
    this.#lose('it was closed');
  }

  #send(commands: readonly string[], shows: boolean): Promise<BatchResult> {
    return new Promise((settle) => {
      const child = this.#process ?? this.#start();
      this.#lines += commands.length + 1;
      this.#groups.push({ commands, shows, settle, last: this.#lines, reasons: [], remarks: [], output: undefined, isDone: false });
      this.#limit ??= setTimeout(() => this.#lose('it did not answer'), replyLimitMs);
      child.stdin.write([...commands, closing, ''].join('\n'));
    });
  }

  #start(): Process {
    const [program = '', ...before] = this.#words();
    const args = [...before, '-statistics', '-json', '-force', '-batch', '-'];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process = child;
    this.#lines = 0;
    const of = (listener: (line: string) => void) => (line: string) => {
      if (child === this.#process) listener(line);
    };
    listen(
      child.stdout,
      of((line) => this.#shown(line)),
    );
    listen(
      child.stderr,
      of((line) => this.#complained(line)),
    );
    const lost = (reason: string) => {
      if (child === this.#process) this.#lose(reason);
    };
    child.on('error', (error) => lost(error.message));
    child.on('exit', () => lost('it has ended'));
    child.stdin.on('error', () => undefined);
    // The process and its pipes do not keep this process running; the limit does while an answer is awaited.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as Socket).unref();
    child.unref();
    return child;
  }

  #shown(line: string): void {
    const group = this.#groups.find(({ shows, output }) => shows && output === undefined);
    if (!group) return;
    group.output = line;
    this.#settle();
  }

  #complained(line: string): void {
    const group = this.#groups.find(({ isDone }) => !isDone);
    if (!group) return;
    const failed = /^Command failed -:(\d+)/.exec(line)?.[1];
    if (failed === undefined) group.remarks.push(line);
    else {
      const remarks = group.remarks.splice(0);
      if (Number(failed) === group.last) group.isDone = true;
      else group.reasons.push(...remarks.filter((remark) => remark !== ''), ...(remarks.length === 0 ? [line] : []));
    }
    this.#settle();
  }

  /** Settles complete groups, in the order in which they were sent. */
  #settle(): void {
    for (let [group] = this.#groups; group?.isDone; [group] = this.#groups) {
      const isFailed = group.reasons.length > 0;
      if (group.shows && group.output === undefined && !isFailed) return;
      this.#groups.shift();
      group.settle({ reason: group.reasons.join('; '), isLost: false, output: group.output ?? '' });
      this.#limit?.refresh();
    }
    if (this.#groups.length > 0) return;
    clearTimeout(this.#limit);
    this.#limit = undefined;
  }

  #lose(cause: string): void {
    const child = this.#process;
    this.#process = undefined;
    child?.kill();
    clearTimeout(this.#limit);
    this.#limit = undefined;
    for (const { settle } of this.#groups.splice(0))
      settle({ reason: `${this.#words().at(-1)}: ${cause}`, isLost: true, output: '' });
  }
}

function listen(stream: Readable, line: (text: string) => void): void {
  const splitter = new LineSplitter(line);
  stream.on('data', (chunk: Buffer) => splitter.add(chunk));
  stream.on('error', () => undefined);
}
