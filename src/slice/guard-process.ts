/** Keeps the guard of a slice running while the server does; it outlives the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runMarker } from '../process/child.ts';
import { leaseFileOf, removeDeadline, writeDeadline } from './lease-file.ts';

const program = join(import.meta.dirname, 'guard.ts');

export class GuardProcess {
  readonly #runtimeDirectory: string;
  readonly #engineSocket: string;
  #child: ChildProcess | undefined;
  #deadline: number | undefined;

  /** `engineSocket`: of the engine that runs containers; there need not be one. */
  constructor(runtimeDirectory: string, engineSocket: string) {
    this.#runtimeDirectory = runtimeDirectory;
    this.#engineSocket = engineSocket;
  }

  /** Resolves when the guard finds the deadline. */
  async setDeadline(deadline: number): Promise<void> {
    this.#deadline = deadline;
    if (this.#child) await this.#write(deadline);
    else await this.#start(deadline);
  }

  /** Nothing runs any more: the guard ends. */
  async close(): Promise<void> {
    this.#deadline = undefined;
    await removeDeadline(leaseFileOf(this.#runtimeDirectory));
    const child = this.#child;
    if (!child) return;
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async #start(deadline: number): Promise<void> {
    const { [runMarker]: _marker, ...env } = process.env;
    // The marker would make it one of the processes that it ends. Until the lease file names it, the guard before it looks.
    const child = spawn(process.execPath, [program, this.#runtimeDirectory, this.#engineSocket], {
      detached: true,
      stdio: 'ignore',
      env,
    });
    this.#child = child;
    child.unref();
    child.once('error', () => this.#ended(child));
    child.once('exit', () => this.#ended(child));
    await this.#write(deadline);
  }

  #ended(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
    // The next renewal starts another one.
  }

  #write(deadline: number): Promise<void> {
    return writeDeadline(leaseFileOf(this.#runtimeDirectory), this.#deadline ?? deadline, this.#child?.pid ?? 0);
  }
}
