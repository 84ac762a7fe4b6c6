/** The command line of OpenSSH's client: ssh(1), ssh_config(5), 9.2. Settings of the user and of the machine do not apply. */

export interface SshTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Container through which the connection is made. */
  readonly viaContainer: string | undefined;
  /** Path of a private key; undefined: a password. */
  readonly keyPath: string | undefined;
  /** File with the host keys that are known. */
  readonly knownHosts: string;
  /** `pinned`: only keys in that file; `first`: the first one is added; `any`: not checked. */
  readonly trust: 'pinned' | 'first' | 'any';
}

/** The name of the host in the file of known keys: its address may be used by several nodes, through different containers. */
export const hostAlias = 'node';
const connectSeconds = 10;
/** The busybox that every container of a lab has. */
const busybox = '/patchbay/busybox';
const strictness = { pinned: 'yes', first: 'accept-new', any: 'no' } as const;

/** Arguments of `ssh`. The values have no characters with a meaning for a shell: schema `LabSsh`. */
export function sshArguments(target: SshTarget, command: string): string[] {
  const { host, port, user, viaContainer, keyPath, knownHosts, trust } = target;
  const options = {
    HostKeyAlias: hostAlias,
    UserKnownHostsFile: trust === 'any' ? '/dev/null' : quoted(knownHosts),
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: strictness[trust],
    UpdateHostKeys: 'no',
    ConnectTimeout: connectSeconds,
    ServerAliveInterval: 5,
    NumberOfPasswordPrompts: 1,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    LogLevel: 'ERROR',
    ...(keyPath === undefined
      ? { PreferredAuthentications: 'password,keyboard-interactive', PubkeyAuthentication: 'no' }
      : { PreferredAuthentications: 'publickey', IdentityFile: quoted(keyPath), BatchMode: 'yes' }),
    ...(viaContainer !== undefined && { ProxyCommand: `docker exec -i ${viaContainer} ${busybox} nc ${host} ${port}` }),
  };
  const given = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  return ['-F', 'none', '-T', '-x', '-a', ...given, '-p', String(port), '-l', user, '--', host, command];
}

/** A path as a value of an option: blanks would end it, and `%` stands for other things. */
function quoted(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}
