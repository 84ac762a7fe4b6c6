/** Opens a TAP interface, of this network namespace or of another one. */
import { constants as files } from 'node:fs';
import { constants } from 'node:os';
import type { SystemCalls, TapOptions } from './native.ts';

/** O_CLOEXEC, which Node does not name. @see open(2), asm-generic/fcntl.h */
export const closeOnExec = 0o2000000;

/** CLONE_NEWNET. @see setns(2) */
const networkNamespace = 0x40000000;

/** `struct ifreq`: 16 bytes of name, then flags in the first two of 24 bytes. @see netdevice(7) */
const requestBytes = 40;
const nameBytes = 16;
/** @see linux/if_tun.h, and Documentation/networking/tuntap.rst of the kernel */
const tunSetInterface = 0x400454ca;
const tunGetInterface = 0x800454d2;
const tapFlag = 0x0002;
const withoutHeader = 0x1000;
const offloadHeader = 0x4000;
const persistent = 0x0800;

/** Numbers of calls that libc may not have, the same on all machines. @see pidfd_open(2), pidfd_getfd(2), ioctl_list(2) */
const [pidfdOpen, pidfdGetfd, setNonBlocking] = [434, 438, 0x5421];

/** The descriptor, or an errno, negative. Permitted is what may trace the process. */
export function takeDescriptor(
  { syscall, ioctl, close }: SystemCalls,
  { pid, descriptor }: { readonly pid: number; readonly descriptor: number },
  failure: () => number,
): number {
  const owner = syscall(pidfdOpen, pid, 0, 0);
  if (owner < 0) return failure();
  const taken = syscall(pidfdGetfd, owner, descriptor, 0);
  const result = taken < 0 ? failure() : taken;
  close(owner);
  const on = Buffer.alloc(4);
  on.writeInt32LE(1);
  if (result >= 0) ioctl(result, setNonBlocking, on);
  return result;
}

interface WantedTap extends TapOptions {
  readonly name: string;
  /** Network namespace of this thread. */
  readonly ownNamespace: number;
}

/** The descriptor belongs to the namespace in which it was opened. Nothing else runs on this thread meanwhile. */
function openTunDevice({ open, setns }: SystemCalls, { namespace, ownNamespace }: WantedTap, failure: () => number): number {
  if (namespace !== undefined && setns(namespace, networkNamespace) < 0) return failure();
  const descriptor = open('/dev/net/tun', files.O_RDWR | files.O_NONBLOCK | closeOnExec);
  const result = descriptor < 0 ? failure() : descriptor;
  // A thread that stayed there would open sockets in the wrong network.
  if (namespace !== undefined && setns(ownNamespace, networkNamespace) < 0) process.abort();
  return result;
}

/** The descriptor, or an errno, negative. */
export function openTap(calls: SystemCalls, wanted: WantedTap, failure: () => number): number {
  const { close, ioctl } = calls;
  const { name, isTemporary = false, hasOffloadHeader = false } = wanted;
  const bytes = Buffer.from(name, 'latin1');
  if (bytes.length === 0 || bytes.length >= nameBytes) return -constants.errno.EINVAL;
  const descriptor = wanted.device ?? openTunDevice(calls, wanted, failure);
  if (descriptor < 0) return descriptor;
  const request = Buffer.alloc(requestBytes);
  bytes.copy(request);
  request.writeUInt16LE(tapFlag | withoutHeader | (hasOffloadHeader ? offloadHeader : 0), nameBytes);
  let result = ioctl(descriptor, tunSetInterface, request) < 0 ? failure() : 0;
  if (result === 0 && ioctl(descriptor, tunGetInterface, request) < 0) result = failure();
  // The first call makes an interface that does not exist, and it goes with the descriptor.
  const isPersistent = (request.readUInt16LE(nameBytes) & persistent) !== 0;
  if (result === 0 && isPersistent === isTemporary) result = isTemporary ? -constants.errno.EEXIST : -constants.errno.ENODEV;
  if (result === 0) return descriptor;
  close(descriptor);
  return result;
}
