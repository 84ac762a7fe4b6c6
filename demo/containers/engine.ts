/** A container engine for the demo: the one of this machine, or one of its own, which ends with it and changes nothing of the host. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { readSettings } from '../../src/settings.ts';
import { isRoot } from '../guest/debian.ts';

const startLimitMs = 60_000;

export interface EnginePlan {
  readonly socket: string;
  /** Folder of an engine that is to be started; undefined: one runs already. */
  readonly folder: string | undefined;
}

/** Finds an engine to use, or the reason why there is none. */
export async function planEngine(dataDirectory: string): Promise<EnginePlan | { readonly reason: string }> {
  if (!isRoot()) return { reason: 'containers need a server that is root: it moves their interfaces' };
  const hostSocket = (await readSettings({})).Docker.socket_path;
  if (await answers(hostSocket)) return { socket: hostSocket, folder: undefined };
  if ((await findProgram('dockerd')) === undefined) return { reason: 'there is no Docker engine: install the package docker.io' };
  const folder = path.join(dataDirectory, 'docker');
  return { socket: path.join(folder, 'docker.sock'), folder };
}

export class DemoEngine {
  readonly #child: ChildProcess | undefined;

  private constructor(child: ChildProcess | undefined) {
    this.#child = child;
  }

  /** @throws Error when it does not answer */
  static async start({ socket, folder }: EnginePlan): Promise<DemoEngine> {
    if (folder === undefined) return new DemoEngine(undefined);
    await mkdir(folder, { recursive: true });
    const log = openSync(path.join(folder, 'log'), 'w');
    const places = Object.entries({ 'data-root': 'data', 'exec-root': 'exec', pidfile: 'pid' });
    const flags = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--storage-driver=vfs', '-H', `unix://${socket}`];
    const args = [...flags, ...places.map(([flag, name]) => `--${flag}=${path.join(folder, name)}`)];
    const child = spawn('dockerd', args, { stdio: ['ignore', log, log] });
    closeSync(log);
    // A child that emits `error` has no process.
    child.once('error', () => undefined);
    const engine = new DemoEngine(child);
    const end = performance.now() + startLimitMs;
    while (!(await answers(socket))) {
      if (engine.#hasEnded || performance.now() > end) {
        await engine.stop();
        throw new Error(`The Docker engine did not start. Its log is ${path.join(folder, 'log')}`);
      }
      await pause(100);
    }
    return engine;
  }

  get #hasEnded(): boolean {
    const child = this.#child;
    return child !== undefined && (child.pid === undefined || child.exitCode !== null || child.signalCode !== null);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || this.#hasEnded) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
  }
}

async function answers(socketPath: string): Promise<boolean> {
  const dispatcher = new Agent({ connect: { socketPath } });
  try {
    const { statusCode, body } = await request('http://docker/_ping', { dispatcher });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  } finally {
    await dispatcher.close();
  }
}
