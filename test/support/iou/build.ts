/** The stand-in for an IOU image, compiled once for a test file, and licences for it. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { findProgram } from '../../../src/emulators/host/find-program.ts';
import { loadNative } from '../../../src/fabric/ports/native.ts';
import { runTool } from '../../../src/process/tool.ts';

const compileLimitMs = 120_000;

async function obstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'IOU images are for Linux on x86_64';
  for (const program of ['gcc', 'socat']) if ((await findProgram(program)) === undefined) return `${program} is not installed`;
  return (await loadNative()) === undefined ? 'koffi is not installed' : undefined;
}

/** Why there can be no stand-in here; false when there can. */
export const skipIou: string | false = (await obstacle()) ?? false;

/** Compiles it into a folder that every user may pass through. @returns its path */
export async function buildStandIn(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-iou-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'stand-in.bin');
  const source = join(import.meta.dirname, 'stand-in.c');
  const { code, reason } = await runTool('gcc', ['-O1', '-Wall', '-o', program, source], { timeoutMs: compileLimitMs });
  if (code !== 0) throw new Error(reason);
  await runTool('chmod', ['755', folder], { timeoutMs: compileLimitMs });
  return program;
}

export const readStandIn = async () => readFile(await buildStandIn());

/** As the stand-in wants it: the number of this host, twice. */
export function validLicense(): string {
  const id = execFileSync('hostid', { encoding: 'utf8' }).trim();
  return `[license]\n${hostname()} = ${id}${id};\n`;
}
