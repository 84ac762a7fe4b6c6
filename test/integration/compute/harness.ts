/** Shared by the tests of the compute: a data directory, computes on it, and a check for leftovers at the end. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endMarked, listMarked } from '../../../src/process/orphans.ts';

export interface Event {
  action: string;
  event: Record<string, unknown>;
  project_id?: string;
}
type Reply = { id: number; result?: unknown; error?: { code: string; message: string } };

export class RemoteCompute {
  readonly events: Event[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  readonly #listeners = new Set<() => void>();
  readonly ended: Promise<void>;
  #count = 0;
  stderr = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = new Promise((resolve) => child.once('exit', () => resolve()));
    // Pending responses of a dead process are dropped.
    child.once('exit', () => this.#hangUp());
  }

  static async start(dataDirectory: string): Promise<RemoteCompute> {
    const program = fileURLToPath(new URL('./compute-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, dataDirectory], { stdio: ['pipe', 'pipe', 'pipe'] });
    const compute = new RemoteCompute(child);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      compute.stderr += text;
    });
    const ready = new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => compute.#hear(JSON.parse(line), resolve));
      child.once('exit', (code) => reject(new Error(`the compute ended with ${code}: ${compute.stderr}`)));
    });
    await ready;
    return compute;
  }

  /** Rejects with an error that has the fault's code. */
  async call<T = Record<string, unknown>>(key: string, path: object = {}, body: unknown = {}): Promise<T> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(`the compute has ended: ${this.stderr}`);
    const id = ++this.#count;
    const reply = await new Promise<Reply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin?.write(`${JSON.stringify({ id, key, path, body })}\n`);
    });
    if (reply.error) throw Object.assign(new Error(reply.error.message), { code: reply.error.code });
    return reply.result as T;
  }

  /** Waits until the events say so, for at most 60 s. */
  async until(what: string, holds: (events: Event[]) => boolean): Promise<void> {
    if (holds(this.events)) return;
    await new Promise<void>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`waited in vain: ${what}\n${this.stderr}`)), 60_000);
      const look = () => {
        if (!holds(this.events)) return;
        clearTimeout(limit);
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
    });
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  async stop(stopNodes: boolean): Promise<void> {
    await this.call('stop', {}, { stopNodes });
    await this.ended;
  }

  #hangUp(): void {
    for (const [id, resolve] of this.#waiting) resolve({ id, error: { code: 'ended', message: 'the compute has ended' } });
    this.#waiting.clear();
  }

  #hear(line: { ready?: true; event?: Event } & Partial<Reply>, ready: () => void): void {
    if (line.ready) ready();
    if (line.event) {
      this.events.push(line.event);
      for (const look of this.#listeners) look();
    }
    if (line.id !== undefined) {
      this.#waiting.get(line.id)?.(line as Reply);
      this.#waiting.delete(line.id);
    }
  }
}

/** A data directory with a compute; `leave` fails when a process is left. */
export async function setUp(): Promise<{ folder: string; compute: RemoteCompute; leave: (last: RemoteCompute) => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'));
  const leave = async (last: RemoteCompute) => {
    await last.stop(true).catch(() => last.kill());
    const left = await listMarked(join(folder, 'run'));
    await endMarked(left, 0);
    await rm(folder, { recursive: true, force: true });
    assert.deepEqual(left, [], 'processes were left running');
  };
  return { folder, compute: await RemoteCompute.start(folder), leave };
}

export async function makeProject(compute: RemoteCompute): Promise<{ project_id: string }> {
  const project_id = randomUUID();
  await compute.call('POST /v2/compute/projects', {}, { name: 'test', project_id });
  return { project_id };
}
