/** The stand-in of dynamips, built with the system's C compiler, and the real one where it is installed. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { findProgram } from '../../../src/emulators/host/find-program.ts';

const run = promisify(execFile);

/** Why the stand-in cannot be built here; undefined when it can. */
export async function compilerObstacle(): Promise<string | undefined> {
  return (await findProgram('cc')) === undefined ? 'no C compiler (cc) is installed' : undefined;
}

/** Path of a stand-in that was built for this test file; its folder is removed after the last test. */
export async function buildStandIn(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-dynamips-'));
  after(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const path = join(folder, 'dynamips');
  await run('cc', ['-O1', '-o', path, join(import.meta.dirname, 'stand-in.c')]);
  return path;
}

/** The program of the user's own, if there is one. */
export const realDynamips = (): Promise<string | undefined> => findProgram('dynamips');

export interface Exchange {
  readonly command: string;
  /** Lines, without their ends. */
  readonly answer: readonly string[];
}

/** The recorded conversation with Dynamips 0.2.24. `directory` and `udpPort` stand for the working folder and the port of its NIO. */
export async function readRecording(directory: string, udpPort: number): Promise<Exchange[]> {
  const text = await readFile(join(import.meta.dirname, 'recording.txt'), 'utf8');
  const exchanges: { command: string; answer: string[] }[] = [];
  for (const line of text.trimEnd().replaceAll('DIR', directory).replaceAll('17901', String(udpPort)).split('\n')) {
    if (line.startsWith('> ')) exchanges.push({ command: line.slice(2), answer: [] });
    else exchanges.at(-1)?.answer.push(line);
  }
  return exchanges;
}

/** An image as far as its first bytes: a 32-bit big-endian ELF file. No router can be made of it but the stand-in's. */
export const iosHead = Buffer.concat([Buffer.from('7f454c46010201', 'hex'), Buffer.alloc(121)]);
