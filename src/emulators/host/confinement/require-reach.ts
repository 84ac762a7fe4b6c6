/** Whether the user of emulators reaches the files of a node: a refusal that names the file is better than an error of the emulator. */
import { stat } from 'node:fs/promises';
import { fault } from '../../../api/faults.ts';
import { runTool } from '../../../process/tool.ts';
import { allows } from '../file-access.ts';
import type { RunAs } from '../run-as.ts';
import { type Confinement, confinedCommand } from './confine.ts';

const toolLimitMs = 30_000;
/** A script whose arguments are pairs of `-r` or `-w` and a path; prints the first path that cannot be read or written. */
const tryFiles = 'while [ $# -gt 0 ]; do test "$1" "$2" || { printf %s "$2"; exit 1; }; shift 2; done';
const [mayRead, mayWrite] = [0o4, 0o2];

interface WantedReach {
  readonly written: readonly string[];
  readonly read: readonly string[];
}

/** @throws run_as_failed with the first path that the user cannot write or read */
export async function requireReach(
  confinement: Confinement & { readonly runAs: RunAs },
  { written, read }: WantedReach,
): Promise<void> {
  const { runAs, root } = confinement;
  // A root folder of its own opens all folders above to the user, and permissions say all but what access control lists add.
  if (root.coversHost === undefined && (await allAllow(runAs, written, mayWrite)) && (await allAllow(runAs, read, mayRead))) return;
  const tests = [...written.flatMap((path) => ['-w', path]), ...read.flatMap((path) => ['-r', path])];
  const words = ['-c', tryFiles, 'sh', ...tests];
  const { program, args, filter } = confinedCommand(confinement, 'sh', words, { workingFolder: '/', ends: 'parent' });
  const { code, stdout, reason } = await runTool(program, args, { timeoutMs: toolLimitMs, filter });
  if (code === 0) return;
  throw fault('run_as_failed', {
    reason:
      stdout === ''
        ? `a program cannot be run as the user ${runAs.user}: ${reason}`
        : `the user ${runAs.user} cannot reach ${stdout}: let it pass through the folders above and use it`,
  });
}

async function allAllow(runAs: RunAs, paths: readonly string[], need: number): Promise<boolean> {
  const facts = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return facts.every((found) => found !== undefined && allows(runAs, found, need));
}
