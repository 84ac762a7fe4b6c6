/** Words before a command that is to run in other namespaces. @see nsenter(1) */

/** Words that bring a command to a network, as the root of the user namespace that owns it, where there is one. */
export function enterNetwork(network: string, user?: string): string[] {
  return ['nsenter', ...(user === undefined ? [] : [`--user=${user}`, '--preserve-credentials']), `--net=${network}`];
}

/** Words that bring a command to the network and the mounts in a folder `/proc/PID/ns`. */
export function enterWords(folder: string): string[] {
  const user = process.getuid?.() === 0 ? undefined : `${folder}/user`;
  return [...enterNetwork(`${folder}/net`, user), `--mount=${folder}/mnt`];
}
