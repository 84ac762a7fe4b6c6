/** Keeps a slice's guard process running while the server runs. The guard outlives the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Mutex } from '../lib/mutex.ts';
import { runMarker } from '../process/child.ts';
import { leaseFileOf, removeDeadline, writeDeadline } from './lease-file.ts';

const program = resolve(import.meta.dirname, 'guard.ts');

export class GuardProcess {
  readonly #runtimeDirectory: string;
  readonly #engineSocket: string;
  readonly #writing = new Mutex();
  #child: ChildProcess | undefined;
  #deadline: number | undefined;

  /** `engineSocket`: socket of the container engine, which may be absent. */
  constructor(runtimeDirectory: string, engineSocket: string) {
    this.#runtimeDirectory = runtimeDirectory;
    this.#engineSocket = engineSocket;
  }

  /** Stores the deadline; resolves when the guard can read it. The controller's answer and the engine's word may come together. */
  setDeadline(deadline: number): Promise<void> {
    this.#deadline = Math.max(this.#deadline ?? 0, deadline);
    return this.#writing.run(() => (this.#child ? this.#write(deadline) : this.#start(deadline)));
  }

  /** Ends the guard, because no machine runs any more. */
  async close(): Promise<void> {
    this.#deadline = undefined;
    await this.#writing.run(() => removeDeadline(leaseFileOf(this.#runtimeDirectory)));
    const child = this.#child;
    if (!child) return;
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async #start(deadline: number): Promise<void> {
    const { [runMarker]: _marker, ...env } = process.env;
    // The guard must not have the marker of processes that it ends. An earlier guard continues until the lease file names this one.
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
    // The next renewal of the lease starts another guard.
  }

  #write(deadline: number): Promise<void> {
    return writeDeadline(leaseFileOf(this.#runtimeDirectory), this.#deadline ?? deadline, this.#child?.pid ?? 0);
  }
}
