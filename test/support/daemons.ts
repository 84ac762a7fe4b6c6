/** Programs that a fixture keeps running: their output is kept for the message of a failure, and all of them end with the fixture. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export class Daemons {
  readonly #running = new Map<string, ChildProcess>();
  readonly #output = new Map<string, string>();

  constructor() {
    process.on('exit', this.#abandon);
  }

  start(name: string, [program = '', ...args]: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.set(name, child);
    const keep = (text: string) => this.#output.set(name, `${this.#output.get(name) ?? ''}${text}`.slice(-64 * 1024));
    child.on('error', (error) => keep(error.message));
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', keep);
  }

  /** Fails when a program has ended: what it should do will not happen. */
  check(): void {
    for (const [name, child] of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}: ${this.output(name).slice(-2000)}`);
    }
  }

  output(name: string): string {
    return this.#output.get(name) ?? '';
  }

  /** Resolves when it has ended. No effect when it does not run. */
  async stop(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#running.get(name);
    this.#running.delete(name);
    if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill(signal);
    const limit = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(limit);
  }

  /** Kills all at once: they keep nothing that outlives the fixture. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.stop(name, 'SIGKILL')));
    process.off('exit', this.#abandon);
  }

  readonly #abandon = (): void => {
    for (const child of this.#running.values()) child.kill('SIGKILL');
  };
}
