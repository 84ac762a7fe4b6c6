/** Times of frames on a path, by `paced-ends.c`: a program without pauses of its own, unlike Node's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { run } from '../../demo/guest/debian.ts';

export interface Pace {
  readonly perSecond: number;
  readonly ms: number;
}

export interface Path {
  /** Unix sockets that the program makes: frames are sent to what connects to the first, and received from what connects to the other. */
  readonly from: string;
  readonly to: string;
  readonly folder: string;
  /** Has something connect to both. */
  readonly join: () => Promise<void>;
}

export interface PacedTimes {
  /** Times from sending to reception, µs. */
  readonly micros: Float64Array;
  readonly lost: number;
  /** Whether sender and receiver have real-time priority. */
  readonly isRealTime: boolean;
}

/** The program's path. @throws Error without a C compiler */
export async function compile(source: 'paced-ends' | 'delay-line', folder: string): Promise<string> {
  const { code, stderr } = await run('gcc', [
    ...['-O2', '-pthread', '-o', `${folder}/${source}`],
    fileURLToPath(new URL(`./${source}.c`, import.meta.url)),
  ]);
  if (code !== 0) throw new Error(`gcc cannot compile ${source}.c: ${stderr}`);
  return `${folder}/${source}`;
}

/** `program`: compiled. */
export async function pacedTimes(program: string, path: Path, pace: Pace): Promise<PacedTimes> {
  const total = Math.round((pace.perSecond * pace.ms) / 1000);
  const results = `${path.folder}/paced-times`;
  const args = [path.from, path.to, String(pace.perSecond), String(total), results];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const ended = once(child, 'exit');
    const lines = linesOf(child);
    await lines.next();
    await path.join();
    const policy = (await lines.next()).value;
    const [code] = await ended;
    if (code !== 0) throw new Error(`paced-ends ended with ${code}`);
    const bytes = await readFile(results);
    const micros = new Float64Array(new Uint8Array(bytes).buffer);
    return { micros, lost: total - micros.length, isRealTime: policy === 'real-time' };
  } finally {
    child.kill('SIGKILL');
    await Promise.all([path.from, path.to, results].map((file) => rm(file, { force: true })));
  }
}

function linesOf(child: ChildProcess): AsyncIterator<string, undefined> {
  if (!child.stdout) throw new Error('no output');
  return createInterface(child.stdout)[Symbol.asyncIterator]() as AsyncIterator<string, undefined>;
}
