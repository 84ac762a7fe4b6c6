/**
 * Runs commands at a node over OpenSSH's client. Each command has a connection of its own, so that restarts of the node do not
 * matter.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { type CommandShell, linesOf } from '../console/command-shell.ts';
import { ConsoleError } from '../console/console-connection.ts';
import type { Dialogue } from '../console/dialogue.ts';
import type { ConsolePlatform } from '../console/platforms.ts';
import type { RunResult } from '../definition/results.ts';
import { type SshTarget, sshArguments } from './ssh-arguments.ts';

interface SshShellOptions {
  readonly target: SshTarget;
  readonly platform: ConsolePlatform;
  /** Additional environment variables, for the client's request for the password. */
  readonly env: Readonly<Record<string, string>>;
  readonly dialogue: Dialogue;
}

/** Exit code of `ssh` for a failed connection; a command may return it as well. */
const connectionFailed = 255;
const mostBytes = 8 << 20;

interface SshOutput {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export class SshShell implements CommandShell {
  readonly #options: SshShellOptions;

  constructor(options: SshShellOptions) {
    this.#options = options;
  }

  /** Runs a command. At platforms without a shell each line is a command. @throws ConsoleError */
  async run(command: string, signal: AbortSignal): Promise<RunResult> {
    const { platform } = this.#options;
    if (platform.shell !== undefined) {
      const { code, output } = await this.#command(command, signal, true);
      return { output, exitCode: code ?? undefined };
    }
    const outputs: string[] = [];
    for (const line of linesOf(command)) outputs.push((await this.#command(line, signal, false)).output);
    const output = outputs.join('\n');
    const { error } = platform.patterns;
    return { output, exitCode: error && Number(error.test(output)) };
  }

  /** Does nothing, because no connection stays open between commands. */
  close(): void {}
  abandon(): void {}

  /** Runs a command. `hasCodes`: the node reports exit codes; routers end the connection without one. @throws ConsoleError */
  async #command(command: string, signal: AbortSignal, hasCodes: boolean): Promise<SshOutput> {
    const { target, dialogue } = this.#options;
    dialogue.add('sent', `${command}\n`);
    const ended = await this.#spawn(command, signal);
    dialogue.add('received', ended.output);
    if (ended.code !== connectionFailed || (!hasCodes && ended.output !== ended.errors)) return ended;
    const said = ended.errors.trim() || 'the connection was closed';
    throw new ConsoleError(`SSH to ${target.user}@${target.host}:${target.port} failed: ${said}`);
  }

  #spawn(command: string, signal: AbortSignal): Promise<SshOutput> {
    const { target, env } = this.#options;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn('ssh', sshArguments(target, command), {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, LC_ALL: 'C', ...env },
        // The process group includes the `ProxyCommand`, which would otherwise survive and keep the output open.
        detached: true,
      });
      const all: Buffer[] = [];
      const errors: Buffer[] = [];
      let bytes = 0;
      let failure: Error | undefined;
      const fail = (error: Error) => {
        failure ??= error;
        endGroup(child);
      };
      const collect = (part: Buffer) => {
        bytes += part.length;
        if (bytes > mostBytes) fail(new ConsoleError(`the command ${command.slice(0, 80)} printed more than ${mostBytes} bytes`));
        else all.push(part);
      };
      const abort = () => fail(new ConsoleError('SSH did not answer in time', { cause: signal.reason }));
      signal.addEventListener('abort', abort, { once: true });
      child.stdout.on('data', collect);
      child.stderr.on('data', (part: Buffer) => {
        errors.push(part);
        collect(part);
      });
      child.once('error', (cause) => {
        failure ??= new ConsoleError('ssh cannot be run here. Install the package openssh-client', { cause });
      });
      child.once('close', (code) => {
        signal.removeEventListener('abort', abort);
        if (failure) return reject(failure);
        resolve({ code, output: textOf(all).trimEnd(), errors: textOf(errors).trimEnd() });
      });
    });
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // The process has exited already.
  }
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('utf8').replaceAll('\r\n', '\n');
}
