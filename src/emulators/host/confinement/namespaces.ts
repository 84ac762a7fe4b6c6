/** Namespaces by `unshare` (util-linux): of a server that is root at once, of another user inside a user namespace where the kernel permits it. */

import { runTool } from '../../../process/tool.ts';
import { findProgram } from '../find-program.ts';

export type Namespace = 'net' | 'mount' | 'ipc' | 'uts';

/** Words in front of a command that is to run in namespaces of its own, as root there; it cannot gain privileges by a set-user-ID program. */
export function unshareWords(namespaces: readonly Namespace[], isRoot = process.geteuid?.() === 0): string[] {
  const user = isRoot ? [] : ['--user', '--map-root-user'];
  return ['setpriv', '--no-new-privs', 'unshare', ...user, ...namespaces.map((name) => `--${name}`)];
}

const probeLimitMs = 5000;
/** What a confined program needs: a loopback that is up, and mounts. */
const needed = '"$0" link set lo up && mount -t tmpfs -o mode=755 tmpfs /tmp';

/** Why programs cannot have network and mount namespaces here; undefined when they can. */
export async function namespaceObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `${process.platform} has none`;
  const ip = await findProgram('ip');
  if (ip === undefined) return 'the program "ip" is missing (package iproute2)';
  const [program = '', ...args] = [...unshareWords(['net', 'mount']), 'sh', '-c', needed, ip];
  const { code, reason } = await runTool(program, args, { timeoutMs: probeLimitMs });
  return code === 0 ? undefined : reason;
}
