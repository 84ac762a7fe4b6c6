/**
 * Machines of a server that is root run as another user, when one is configured: a guest that breaks out is then that user, and no more.
 * `setpriv` (util-linux) changes it rather than QEMU itself, whose sandbox forbids that, and rather than Node, which would leave out the
 * user's groups, and so `/dev/kvm`.
 */
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isBelow } from '../../lib/inside.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import type { NodeView } from '../driver.ts';
import type { Preparation } from './plan.ts';

export interface RunAs {
  readonly user: string;
  readonly uid: string;
  readonly gid: string;
}

const toolLimitMs = 30_000;
/** Its arguments are pairs of `-r` or `-w` and a path; prints the first path that cannot be read or written. */
const tryFiles = 'while [ $# -gt 0 ]; do test "$1" "$2" || { printf %s "$2"; exit 1; }; shift 2; done';

/** Undefined when none is configured, or the server is not root and so cannot choose. @throws qemu_failed for an unknown user */
export async function findRunAs({ Qemu: { run_as: user } }: Settings): Promise<RunAs | undefined> {
  if (user === '' || process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map((what) => runTool('id', [what, '--', user], { timeoutMs: toolLimitMs })));
  if (uid?.code === 0 && gid?.code === 0) return { user, uid: uid.stdout.trim(), gid: gid.stdout.trim() };
  throw fault('qemu_failed', { reason: `There is no user "${user}" on this compute: correct run_as in [Qemu], or leave it out` });
}

/** The command that runs a program as this user. */
export function commandAs(runAs: RunAs | undefined, program: string, args: readonly string[]): { program: string; args: string[] } {
  if (runAs === undefined) return { program, args: [...args] };
  const { uid, gid } = runAs;
  return {
    program: 'setpriv',
    args: [`--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--no-new-privs', '--', program, ...args],
  };
}

/** Makes what belongs to the node the user's, and sees that the rest can be reached. @throws qemu_failed with what cannot */
export async function giveFiles(runAs: RunAs, node: NodeView, { plan, disks }: Preparation, runDirectory: string): Promise<void> {
  await own(runAs, [node.directory, node.runtimeDirectory]);
  // Others may pass through them, not look into them.
  for (let path = dirname(node.runtimeDirectory); isBelow(dirname(runDirectory), path); path = dirname(path))
    await chmod(path, 0o711);
  const written = [node.directory, node.runtimeDirectory, ...disks.map(({ file }) => file)];
  const read = [plan.cdrom, plan.bios, plan.kernel, plan.initrd, plan.uefi?.code].filter((path) => path !== undefined);
  const tests = [...written.flatMap((path) => ['-w', path]), ...read.flatMap((path) => ['-r', path])];
  const { program, args } = commandAs(runAs, 'sh', ['-c', tryFiles, 'sh', ...tests]);
  const { code, stdout, reason } = await runTool(program, args, { timeoutMs: toolLimitMs });
  if (code === 0) return;
  const what =
    stdout === ''
      ? `a program cannot be run as the user ${runAs.user}: ${reason}`
      : `the user ${runAs.user} cannot reach ${stdout}`;
  throw fault('qemu_failed', {
    reason: `${node.name} cannot be started, as ${what}. Let that user pass through its folders and use it, or leave out run_as in [Qemu]`,
  });
}

/** Links are changed themselves, never what they lead to. @throws qemu_failed */
export async function own({ uid, gid }: RunAs, paths: readonly string[]): Promise<void> {
  const { code, reason } = await runTool('chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', ...paths], { timeoutMs: toolLimitMs });
  if (code !== 0) throw fault('qemu_failed', { reason: `Files could not be given to the user of run_as: ${reason}` });
}
