/**
 * Finds the capabilities that a container can be given. It gets all of them, as network systems expect, but neither the host's devices nor
 * its processes. A capability that this host itself lacks would keep the container from starting.
 */
import { readFile } from 'node:fs/promises';

/** Names of capabilities by number. @see capabilities(7), linux/capability.h */
const names = (
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN ' +
  'NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME ' +
  'SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON ' +
  'BPF CHECKPOINT_RESTORE'
).split(' ');

/** Lists the capabilities that even root does not have on this host. */
export async function missingCapabilities(): Promise<string[]> {
  return missingIn(await readFile('/proc/self/status', 'latin1').catch(() => ''));
}

export function missingIn(status: string): string[] {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  if (bounding === undefined) return [];
  const bits = BigInt(`0x${bounding}`);
  return names.filter((_name, number) => (bits & (1n << BigInt(number))) === 0n);
}
