/** The simulation's server as a process of its own, and its figures. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Figures } from './server.ts';

export class Simulation {
  readonly url: string;
  /** Processor time until all projects were listed. */
  readonly openedMs: number;
  readonly #child: ChildProcess;
  readonly #ended: AbortSignal;

  private constructor(child: ChildProcess, ended: AbortSignal, { url, openedMs }: Pick<Simulation, 'url' | 'openedMs'>) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
    this.openedMs = openedMs;
  }

  static async start(folder: string): Promise<Simulation> {
    const child = fork(join(import.meta.dirname, 'server.ts'), [folder], {
      execArgv: ['--expose-gc', '--max-old-space-size=8192'],
    });
    const ending = new AbortController();
    const { signal } = ending;
    // The next message of a process that has ended would be waited for without end.
    child.once('exit', (code) => ending.abort(new Error(`the simulated server ended with ${code}`)));
    const [opened] = (await once(child, 'message', { signal })) as [Pick<Simulation, 'url' | 'openedMs'>];
    return new Simulation(child, signal, opened);
  }

  /** Figures since the previous call. `collect`: garbage is collected first. */
  async figures(wish: 'read' | 'collect' = 'read'): Promise<Figures> {
    this.#ended.throwIfAborted();
    this.#child.send(wish);
    const [figures] = (await once(this.#child, 'message', { signal: this.#ended })) as [Figures];
    return figures;
  }

  /** Parsed. @throws Error when the response is not a success */
  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const reply = await fetch(`${this.url}/v2${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 300)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** Cost of `work` for the server. */
  async cost(work: () => Promise<unknown>): Promise<Figures> {
    await this.figures('collect');
    await this.figures();
    await work();
    return this.figures();
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.send('end');
    await ended;
  }
}
