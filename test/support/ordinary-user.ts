/** An ordinary user of this host for servers of tests, in a mount namespace where `/dev/net/tun` is open to all, as Debian has it. Root only. */
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from '../../src/process/tool.ts';
import type { ServerOptions } from './server.ts';

/** No account; numbers that systemd leaves unused. */
const uid = 61_150;
const openDevice = 'mount -t tmpfs -o mode=0755 tmpfs /dev/net && mknod -m 0666 /dev/net/tun c 10 200';
const asUser = `setpriv --reuid=${uid} --regid=${uid} --clear-groups --bounding-set=-all --no-new-privs "$@"`;
const toolLimitMs = 10_000;

/** Words before a command that this user is to run. `root`: a folder that is the whole tree there; a program with another root folder may make no user namespace. */
const userLauncher = (root?: string): readonly string[] => {
  const changeRoot = root === undefined ? '' : `chroot ${root} `;
  const prepare = root === undefined ? openDevice : `${openDevice} && mkdir ${root} && mount --rbind / ${root}`;
  return ['unshare', '--mount', 'sh', '-c', `${prepare} && exec ${changeRoot}${asUser}`, 'sh'];
};

/** Why there can be none here. */
export async function noOrdinaryUser(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can open /dev/net/tun to a user';
  const [program = '', ...args] = [...userLauncher(), 'unshare', '--user', '--map-root-user', '--net', 'true'];
  const { code, reason } = await runTool(program, args, { timeoutMs: toolLimitMs });
  return code === 0 ? undefined : `an ordinary user can make no network: ${reason}`;
}

/** Options of a server that such a user starts, with a data directory of its own. */
export async function userServer({ mayHaveNamespaces = true } = {}): Promise<ServerOptions & AsyncDisposable> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'pb-')));
  await chown(dataDir, uid, uid);
  return {
    ...{ dataDir, launcher: userLauncher(mayHaveNamespaces ? undefined : join(dataDir, 'root')), env: { HOME: dataDir } },
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }),
  };
}
