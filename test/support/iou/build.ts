/** The stand-in for an IOU image, compiled once for a test file, and licences for it. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after } from 'node:test';
import { findProgram } from '../../../src/emulators/host/find-program.ts';
import { runTool } from '../../../src/process/tool.ts';

const compileLimitMs = 120_000;

async function obstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'IOU images are for Linux on x86_64';
  for (const program of ['gcc', 'socat']) if ((await findProgram(program)) === undefined) return `${program} is not installed`;
  return undefined;
}

/** Why there can be no stand-in here; false when there can. */
export const skipIou: string | false = (await obstacle()) ?? false;

/** Compiles it into a folder that every user may pass through. @returns its path */
export const buildStandIn = (): Promise<string> => compile('stand-in.c');

async function compile(source: string, options: readonly string[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-iou-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, source.replace('.c', '.bin'));
  const args = ['-O1', '-Wall', ...options, '-o', program, join(import.meta.dirname, source)];
  const { code, reason } = await runTool('gcc', args, { timeoutMs: compileLimitMs });
  if (code !== 0) throw new Error(reason);
  await runTool('chmod', ['755', folder], { timeoutMs: compileLimitMs });
  return program;
}

/**
 * Starts as the images that containerlab's documents describe: as many slots of four ports as its interfaces need, the number out of
 * IOL_PID, files in /iol.
 */
const containerEntry = `cd /iol
ports=0
for one in /sys/class/net/eth*; do ports=$((ports + 1)); done
./bridge.bin &
exec ./stand-in.bin -e $(((ports + 3) / 4)) -s 0 -c config.txt -n 1024 "$IOL_PID"
`;

/** Files of an image that stands in for a containerized IOL, by their places here; its entry is `/iol/entry`, a shell script. */
export async function containerFiles(): Promise<Record<string, string>> {
  const programs = [await compile('stand-in.c', ['-static', '-DUNLICENSED']), await compile('bridge.c', ['-static'])];
  const entry = join(dirname(programs[0] ?? ''), 'entry');
  await writeFile(entry, containerEntry);
  return Object.fromEntries([...programs, entry].map((path) => [path, `iol/${basename(path)}`]));
}

export const readStandIn = async () => readFile(await buildStandIn());

/** License that the stand-in accepts: the number of this host, twice. */
export function validLicense(): string {
  const id = execFileSync('hostid', { encoding: 'utf8' }).trim();
  return `[license]\n${hostname()} = ${id}${id};\n`;
}
