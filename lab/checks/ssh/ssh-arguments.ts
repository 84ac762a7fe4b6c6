/**
 * Builds the command line of OpenSSH's client: ssh(1), ssh_config(5), 9.2. Settings of the user and of the machine do not apply.
 */

export interface SshTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Container through which the client connects. */
  readonly viaContainer: string | undefined;
  /** Path of a private key; undefined: a password is used. */
  readonly keyPath: string | undefined;
  /** File with the known host keys. */
  readonly knownHosts: string;
  /** `pinned`: only keys in that file; `first`: the first key is added; `any`: keys are not checked. */
  readonly trust: 'pinned' | 'first' | 'any';
}

/** Host name in the file of known keys. The address would not do: several nodes may have it, behind different containers. */
export const hostAlias = 'node';
const connectSeconds = 10;
/** Path of the busybox in every container of a lab. */
const busybox = '/patchbay/busybox';
const strictness = { pinned: 'yes', first: 'accept-new', any: 'no' } as const;

/** Returns the arguments of `ssh`. The values have no characters with a meaning for a shell: schema `LabSsh`. */
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

/** Quotes a path as the value of an option, where blanks end it and `%` begins a token. */
function quoted(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}
