/**
 * Runs commands at the console of a node, in any state of the console.
 *
 * Theory of operation: a console replays its last output, so its text may be old. `enter` therefore types a command with a fresh
 * token (`sync` of the platform) as soon as the last line looks like a prompt: when the token and then a prompt are shown, the
 * console follows. Until then it answers logins and questions. After a silence it discards the line that may have been typed and
 * presses Enter. Shells show a command's output between two tokens, with its exit code; other platforms show it between the typed
 * line and the learned prompt.
 */
import { randomBytes } from 'node:crypto';
import type { RunResult } from '../definition/results.ts';
import { type CommandShell, linesOf } from './command-shell.ts';
import { type ConsoleConnection, ConsoleError } from './console-connection.ts';
import type { ConsolePlatform } from './platforms.ts';

interface ConsoleLogin {
  readonly user: string;
  readonly password: string;
}

/** Silence of a console after which Enter is pressed, ms; it doubles up to the second value. */
const wakeMs = [1500, 6000] as const;
/** Silence that is waited for where the keys that discard a line also end a running program, such as a silent start-up script. Ms. */
const patientWakeMs = 5000;
/** Time after which a prompt counts that differs from the learned one, ms. */
const settledMs = 3000;
/** Time limit of an echo, after which the line is typed again, ms: some consoles discard input while a command ends. */
const echoMs = 1500;
const hidden = '••••';

export class CommandConsole implements CommandShell {
  readonly #connection: ConsoleConnection;
  readonly #platform: ConsolePlatform;
  readonly #login: ConsoleLogin;
  readonly #answered = new Map<number, number>();
  #isPrepared = false;
  /** Beginning of the learned prompt. */
  #prompt = '';

  constructor(connection: ConsoleConnection, platform: ConsolePlatform, login: Partial<ConsoleLogin> = {}) {
    this.#connection = connection;
    this.#platform = platform;
    this.#login = { user: login.user ?? platform.user ?? '', password: login.password ?? platform.password ?? '' };
  }

  close(): void {
    this.#connection.close();
  }

  /** Ends a command that runs too long, as far as the console can, and closes the console. */
  abandon(): void {
    try {
      this.#connection.send('\x03');
    } catch {
      // The console was closed already.
    }
    this.#connection.close();
  }

  /** Waits until a command can be typed. @throws ConsoleError */
  async enter(signal: AbortSignal): Promise<void> {
    await this.#sync(signal);
    if (this.#isPrepared) return;
    for (const line of this.#platform.prepare ?? []) await this.#line(line, signal);
    this.#isPrepared = true;
  }

  /** Runs a command. @throws ConsoleError */
  async run(command: string, signal: AbortSignal): Promise<RunResult> {
    await this.enter(signal);
    const { shell } = this.#platform;
    if (shell !== undefined) return this.#inShell(shell, command, signal);
    const outputs: string[] = [];
    for (const line of linesOf(command)) outputs.push(await this.#line(line, signal));
    const output = outputs.join('\n');
    const { error } = this.#platform.patterns;
    return { output, exitCode: error && Number(error.test(output)) };
  }

  /** Types lines in the configuration mode, or at the prompt of platforms without one. */
  async configure(lines: string, signal: AbortSignal): Promise<RunResult> {
    const { configure } = this.#platform;
    return this.run([...(configure?.enter ?? []), ...linesOf(lines), ...(configure?.leave ?? [])].join('\n'), signal);
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const connection = this.#connection;
    const { text } = connection;
    let token: { readonly text: string; readonly mark: number } | undefined;
    let silence: number = this.#platform.clear_answers ? patientWakeMs : wakeMs[0];
    let answeredAt = -1;
    this.#answered.clear();
    for (;;) {
      if (token && this.#isSynced(token)) break;
      if (answeredAt !== connection.received && this.#answer()) answeredAt = connection.received;
      else if (!token && this.#isPrompt(text.tail)) token = await this.#typeToken(signal);
      if (await this.#change(silence, signal)) continue;
      if (this.#isPrompt(text.tail)) token = await this.#typeToken(signal);
      else {
        token = undefined;
        answeredAt = -1;
        await this.#clear(signal);
        connection.send(this.#platform.newline);
      }
      silence = Math.min(silence * 2, wakeMs[1]);
    }
    this.#prompt = stem(text.tail);
  }

  async #typeToken(signal: AbortSignal): Promise<{ text: string; mark: number }> {
    await this.#clear(signal);
    const token = { text: freshToken(), mark: this.#connection.text.mark };
    const { sync, newline } = this.#platform;
    this.#connection.send(`${sync.replaceAll('{token}', token.text)}${newline}`);
    return token;
  }

  /** Discards a typed line, so that it is not executed. */
  async #clear(signal: AbortSignal): Promise<void> {
    this.#connection.send(this.#platform.clear);
    if (this.#platform.clear_answers) await this.#change(echoMs, signal);
  }

  #isSynced({ text, mark }: { text: string; mark: number }): boolean {
    const shown = this.#connection.text.since(mark);
    const at = shown.lastIndexOf(text);
    return at >= 0 && shown.indexOf('\n', at) >= 0 && this.#isPrompt(this.#connection.text.tail);
  }

  #isPrompt(line: string): boolean {
    return this.#platform.patterns.prompt.test(line) && !this.#platform.patterns.answers.some((pattern) => pattern.test(line));
  }

  /** Answers the last line if it is a known question; returns whether it did. */
  #answer(): boolean {
    const { tail } = this.#connection.text;
    const index = this.#platform.patterns.answers.findIndex((pattern) => pattern.test(tail));
    const answer = this.#platform.answers?.[index];
    if (!answer) return false;
    const count = (this.#answered.get(index) ?? 0) + 1;
    this.#answered.set(index, count);
    if (answer.most !== undefined && count > answer.most) {
      throw new ConsoleError(`the console asked ${count} times for "${tail.trim().slice(0, 80)}". Check the user and password`);
    }
    const { user, password } = this.#login;
    const text = answer.send.replaceAll('{user}', () => user).replaceAll('{password}', () => password);
    const end = answer.raw ? '' : this.#platform.newline;
    this.#connection.send(`${text}${end}`, answer.secret ? hidden : text);
    return true;
  }

  async #inShell(shell: string, command: string, signal: AbortSignal): Promise<RunResult> {
    const token = freshToken();
    const quoted = quoteForShell(linesOf(command));
    const { mark } = this.#connection.text;
    const line = shell.replaceAll('{quoted}', () => quoted).replaceAll('{token}', token);
    this.#connection.send(`${line}${this.#platform.newline}`, command);
    const pattern = new RegExp(`pb-begin-${token}\\n?([\\s\\S]*?)pb-end-${token}-(\\d+)=`);
    for (;;) {
      const [, output, code] = pattern.exec(this.#connection.text.since(mark)) ?? [];
      if (output !== undefined) return { output: output.trimEnd(), exitCode: Number(code) };
      await this.#next(signal);
    }
  }

  /** Types a line and returns the text between it and the next prompt. */
  async #line(line: string, signal: AbortSignal): Promise<string> {
    const { text } = this.#connection;
    const mark = text.mark;
    const type = () => this.#connection.send(`${line}${this.#platform.newline}`, line);
    type();
    const isEchoed = () => squeeze(text.since(mark)).includes(squeeze(line));
    while (!isEchoed()) {
      if (!(await this.#change(echoMs, signal)) && !isEchoed()) type();
    }
    for (;;) {
      const shown = text.since(mark);
      const isOver = shown.includes('\n') && this.#isPrompt(text.tail);
      if (isOver && (text.tail.startsWith(this.#prompt) || !(await this.#change(settledMs, signal)))) {
        return shown.slice(shown.indexOf('\n') + 1, shown.length - text.tail.length).trim();
      }
      await this.#next(signal);
    }
  }

  /** Waits for output and answers pagers. */
  async #next(signal: AbortSignal): Promise<void> {
    await this.#change(wakeMs[1], signal);
    this.#answer();
  }

  async #change(limitMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#connection.change(limitMs, signal);
    } catch (error) {
      if (error instanceof ConsoleError) throw error;
      const last = this.#connection.text.lastLine.slice(-120);
      throw new ConsoleError(`the console did not answer in time; its last line is ${JSON.stringify(last)}`, { cause: error });
    }
  }
}

/** Quotes lines as one word for `eval`; printf joins several lines, so that the shell never shows the prompt of a second line. */
function quoteForShell(lines: readonly string[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  if (lines.length === 1) return quote(lines[0] ?? '');
  return `"$(printf %b ${quote(lines.map((line) => line.replaceAll('\\', '\\\\')).join('\\012'))})"`;
}

function freshToken(): string {
  return `pb${randomBytes(4).toString('hex')}`;
}

/** Removes white space, because the echo of a long line is wrapped. */
function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Returns the part of a prompt that stays when the mode of the command line changes. */
function stem(prompt: string): string {
  return prompt.replace(/(\([^)]*\))?[#>$%] ?$/, '');
}
