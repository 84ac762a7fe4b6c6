/** Servers to measure, each in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export interface Running {
  readonly url: string;
  readonly folder: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its first line. */
  readonly startMs: number;
  stop(): Promise<void>;
}

const root = resolve(import.meta.dirname, '..');

const ownProgram = process.env.PATCHBAY_PROGRAM ?? join(root, 'src/main.ts');

/** `configuration`: of the server's file. `main`: `src/main.ts` of a checkout. `fill` puts data into the folder before the start. */
export async function startPatchbay(
  configuration = '',
  main = ownProgram,
  fill?: (folder: string) => Promise<void>,
): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-bench-'));
  const config = join(folder, 'server.conf');
  await writeFile(config, configuration);
  await fill?.(folder);
  return start([main, '--port', '0', '--data-dir', folder, '--config', config, '--stop-nodes', '--log-level', 'error'], folder);
}

export async function startBare(answers: object[]): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-bare-'));
  const file = join(folder, 'answers.json');
  await writeFile(file, JSON.stringify(answers));
  return start([join(root, 'bench/bare-server.ts'), file], folder);
}

async function start(args: string[], folder: string): Promise<Running> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await firstUrl(child);
  return {
    url,
    folder,
    pid: child.pid ?? 0,
    startMs: performance.now() - started,
    async stop() {
      // A server that crashed emits no second event.
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function firstUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the server has no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /http:\/\/\S+/.exec(line);
    if (found) return found[0];
  }
  throw new Error('the server exited before it was ready');
}
