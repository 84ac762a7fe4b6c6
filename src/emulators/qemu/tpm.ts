/** The TPM emulator `swtpm`, one process beside the machine. It ends by itself when QEMU closes its connection. */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { type Child, spawnChild } from '../../process/child.ts';
import { runTool } from '../../process/tool.ts';
import type { NodeView } from '../driver.ts';
import { confine, confinedCommand } from '../host/confinement/confine.ts';
import { own } from '../host/run-as.ts';
import type { Binaries } from './binaries.ts';
import type { Identity } from './give-files.ts';
import { atLeast, parseVersion, versionWord } from './version.ts';

export const tpmSocket = (node: Pick<NodeView, 'runtimeDirectory'>) => join(node.runtimeDirectory, 'tpm');
const startLimitMs = 5000;

/** Where `swtpm` is. @throws qemu_failed when it is missing or too old */
export async function findTpm(binaries: Binaries): Promise<string> {
  const program = await binaries.inPath('swtpm');
  const missing = (reason: string) =>
    fault('qemu_failed', { reason: `A TPM needs swtpm 0.6.0 or later: ${reason}. Install it, or set tpm to false` });
  if (program === undefined) throw missing('it is not installed');
  const { stdout } = await runTool(program, ['--version'], { timeoutMs: startLimitMs });
  const version = versionWord(stdout) ?? '0';
  if (!atLeast(parseVersion(version), 0, 6)) throw missing(`version ${version} is installed`);
  return program;
}

/** Starts it and waits for its socket. @throws qemu_failed with its last words */
export async function startTpm(
  program: string,
  node: Pick<NodeView, 'directory' | 'runtimeDirectory'>,
  { runDirectory, runAs }: Identity,
): Promise<Child> {
  const state = join(node.directory, 'tpm');
  // An escaped machine can have put a link there, to a folder that swtpm would write to.
  if (!(await isReallyBelow(node.directory, state)))
    throw fault('path_forbidden', {
      path: state,
      reason: 'it is a symbolic link to a place outside of the folder of the node: delete it',
    });
  await mkdir(state, { recursive: true });
  if (runAs) await own(runAs, [state]);
  const socket = tpmSocket(node);
  // `--terminate` is older than the same word of `--ctrl`, which needs 0.8.
  const args = ['socket', '--tpm2', '--tpmstate', `dir=${state}`, '--ctrl', `type=unixio,path=${socket}`, '--terminate'];
  // The TPM's process can reach no other files, not even those of its machine.
  const confinement = await confine({ program, runAs, writes: [state, node.runtimeDirectory], reads: [], runDirectory });
  const child = await spawnChild({
    ...confinedCommand(confinement, program, args, { workingFolder: state, hasOwnNetwork: true }),
    cwd: node.directory,
    logFile: join(node.directory, 'swtpm.log'),
    runDirectory,
  });
  let ended = false;
  void child.outcome.then(() => {
    ended = true;
  });
  const limit = performance.now() + startLimitMs;
  while (!(await stat(socket).catch(() => undefined))) {
    if (ended || performance.now() > limit) {
      const { tail } = await child.stop({ graceMs: 0 });
      throw fault('qemu_failed', { reason: `The TPM emulator did not start: ${tail || 'it said nothing'}` });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}
