/**
 * Opens `/dev/net/tun` in the link namespace of a server that is not root: this process may not enter that namespace (setns(2) needs a
 * privilege over the one to return to). A shell inside opens the device, and this process takes the descriptors out of it.
 *
 * Theory of operation: the shell answers a line when it has the device open several times, and the next line when it has closed its own
 * descriptors, without which an interface would stay attached after this process closed it. It ends with its input.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../../lib/line-splitter.ts';
import type { Native } from './native.ts';

/** A shell has descriptors of one digit. */
const descriptors = [3, 4, 5, 6, 7, 8, 9];
const each = (words: (descriptor: number) => string) => descriptors.map(words).join(' ');
const script = `while read -r _; do
  exec ${each((descriptor) => `${descriptor}<>/dev/net/tun`)}; echo open; read -r _
  exec ${each((descriptor) => `${descriptor}>&-`)}; echo closed
done`;
const replyLimitMs = 5000;

type SettleDevice = (descriptor: number) => void;
type ShellProcess = ChildProcessByStdio<Writable, Readable, null>;

export class TunHelper {
  readonly #enter: () => readonly string[];
  readonly #native: Native;
  #shell: ShellProcess | undefined;
  #limit: NodeJS.Timeout | undefined;
  readonly #waiting: SettleDevice[] = [];
  #taken: (() => void)[] = [];

  /** `enter`: words that bring a command to the namespace; asked at each start of the shell. */
  constructor(enter: () => readonly string[], native: Native) {
    this.#enter = enter;
    this.#native = native;
  }

  /** A descriptor that is attached to no interface yet, without blocking, or an errno, negative. Never rejects. */
  open(): Promise<number> {
    return new Promise((settle) => {
      this.#waiting.push(settle);
      this.#ask();
    });
  }

  close(): void {
    this.#lose(this.#shell);
  }

  #ask(): void {
    if (this.#limit !== undefined || this.#waiting.length === 0) return;
    const shell = this.#shell ?? this.#start();
    this.#limit = setTimeout(() => this.#lose(shell), replyLimitMs);
    shell.stdin.write('\n');
  }

  #start(): ShellProcess {
    const [program = '', ...args] = [...this.#enter(), 'sh', '-c', script];
    const shell = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#shell = shell;
    const splitter = new LineSplitter((line) => this.#answered(shell, line));
    shell.stdout.on('data', (chunk: Buffer) => splitter.add(chunk));
    for (const stream of [shell.stdin, shell.stdout]) stream.on('error', () => undefined);
    shell.on('error', () => this.#lose(shell));
    shell.on('exit', () => this.#lose(shell));
    for (const pipe of [shell.stdin, shell.stdout]) (pipe as Socket).unref();
    shell.unref();
    return shell;
  }

  #answered(shell: ShellProcess, line: string): void {
    if (shell !== this.#shell) return;
    if (line === 'open') {
      for (const [index, settle] of this.#waiting.splice(0, descriptors.length).entries()) {
        const result = this.#native.takeDescriptor(shell.pid as number, descriptors[index] as number);
        this.#taken.push(() => settle(result));
      }
      shell.stdin.write('\n');
      return;
    }
    this.#settle();
    this.#ask();
  }

  #settle(): void {
    clearTimeout(this.#limit);
    this.#limit = undefined;
    for (const settle of this.#taken.splice(0)) settle();
  }

  /** The descriptors that were taken are good without the shell. */
  #lose(shell: ShellProcess | undefined): void {
    if (shell === undefined || shell !== this.#shell) return;
    this.#shell = undefined;
    shell.kill('SIGKILL');
    this.#settle();
    for (const settle of this.#waiting.splice(0)) settle(-constants.errno.EIO);
  }
}
