/**
 * The system calls that Node lacks, by koffi (a foreign function interface with prebuilt binaries): TAP interfaces are character
 * devices, which Node would read with a thread for each read. This is the only file that calls foreign functions.
 *
 * A wrong call would damage the memory of the process, so everything that reaches one is checked here: buffers are passed with a range
 * that lies within them, and their memory neither moves (it is outside of V8's heap) nor is freed during a call, as all calls are
 * synchronous and on the main thread.
 */
import { constants as files } from 'node:fs';
import { constants } from 'node:os';
import {
  IncomingDatagrams,
  ipv4Family,
  maxDatagrams,
  OutgoingDatagrams,
  type ReadAddress,
  type UdpAddress,
  udpAddress,
} from './datagram-messages.ts';
import { type AddressIn, type Pieces, Vectors } from './io-vectors.ts';
import { closeOnExec, openTap, takeDescriptor } from './open-tap.ts';
import { PacketMessage, packetAuxData } from './packet-message.ts';
import { type ReadableWatch, watch } from './readable-watch.ts';
import { attachFilter, senderFilter } from './sender-filter.ts';
import { TimerValue } from './timer-value.ts';
import { type SocketAddress, unixAddress, unixFamily } from './unix-address.ts';

/** Most pieces of a frame. */
export const maxPieces = 72;

/** Datagrams of UDP, as many in one call as are waiting. All sockets share the memory: it holds until the next call. */
interface UdpCalls {
  /** Datagrams that `sendDatagrams` sends. */
  readonly outgoing: OutgoingDatagrams;
  /** Datagrams that `receiveDatagrams` has brought. */
  readonly incoming: IncomingDatagrams;
  /** An address of IPv4 or IPv6. @throws Error when it is none */
  udpAddress(host: string, port: number): UdpAddress;
  /**
   * Opens a socket that is bound to an address and does not block; the kernel grants at most so much memory as it allows. With `from`, a
   * kernel that can filter drops datagrams of other senders over IPv4. The descriptor, or an errno, negative.
   */
  openUdp(local: UdpAddress, options: { bufferBytes: number; from?: UdpAddress }): number;
  /** Sends the datagrams of `outgoing` from this index on. Answers how many were sent, or the errno of the first, negative. */
  sendDatagrams(descriptor: number, from: number): number;
  /** Receives datagrams into `incoming`. Answers how many, or an errno, negative. */
  receiveDatagrams(descriptor: number): number;
}

interface TimerCalls {
  /** A timer of the kernel's monotonic clock, readable from its time on until it is set again. The descriptor, or an errno, negative. */
  openTimer(): number;
  /** `atMs`: of that clock; 0 for never. 0, or an errno, negative. */
  setTimer(descriptor: number, atMs: number): number;
}

export interface MemoryCalls {
  /** Keeps the pages in `[start, end)`, both at the edge of a page, in memory from their first use on. False when the kernel refuses. */
  lockMemory(start: number, end: number): boolean;
}

/** Sockets at paths of at most 107 bytes, without blocking. */
interface UnixCalls {
  /** A datagram socket at a path where nothing may exist. The descriptor, or an errno, negative. */
  openDatagrams(path: string): number;
  /** The bytes `buffer[start, end)` as one datagram to the socket at a path. 0, or an errno, negative: `EAGAIN` when its queue is full. */
  sendDatagram(descriptor: number, bytes: { buffer: Buffer; start: number; end: number }, to: SocketAddress): number;
  /** A stream socket connected to the one at a path. `write` writes as many bytes as it has room for. The descriptor, or an errno, negative. */
  openStream(path: string): number;
}

export interface Native extends UdpCalls, MemoryCalls, UnixCalls, TimerCalls {
  /**
   * Attaches to a persistent TAP interface, without blocking; with `isTemporary` makes one that goes with its descriptor. With
   * `hasOffloadHeader` each frame is preceded by a header of its own (`offload-frames.ts`). With `namespace`, of `openNamespace`, an
   * interface of that one. The descriptor, or an errno, negative.
   */
  openTap(name: string, options?: TapOptions): number;
  /** Takes a descriptor out of another process of the same user, which no longer blocks then. The descriptor, or an errno, negative. */
  takeDescriptor(pid: number, descriptor: number): number;
  /** A network namespace by its path. The descriptor, or an errno, negative. */
  openNamespace(path: string): number;
  /**
   * Whether packets of a TAP interface with offload headers are read as they are: larger than a segment, and with incomplete checksums.
   * False when the kernel refuses.
   */
  setOffloads(descriptor: number, areTaken: boolean): boolean;
  /** A packet socket with all frames of the interface with this index, each with an offload header before it. The descriptor, or an errno, negative. */
  openPacketSocket(interfaceIndex: number): number;
  /** Reads a frame into `buffer` at `at`, where `room` bytes must be free. Answers its length, or an errno, negative. */
  read(descriptor: number, target: { buffer: Buffer; at: number; room: number }): number;
  /**
   * Reads a frame as `read` does, its first bytes into `header`, which they fill. Answers the length of the rest, or an errno, negative.
   * Fills `tag` (4 bytes, for packet sockets only) with the VLAN tag that the kernel took out of the frame, as on the wire, or with zeros.
   */
  readBehind(descriptor: number, header: Buffer, target: { buffer: Buffer; at: number; room: number; tag?: Buffer }): number;
  pieces(): Pieces;
  /** Writes `pieces` of the same object as one frame. 0, or an errno, negative. */
  writePieces(descriptor: number, pieces: Pieces): number;
  /** The bytes `buffer[start, end)`, to an interface as one frame. How many were written, or an errno, negative. */
  write(descriptor: number, buffer: Buffer, start: number, end: number): number;
  close(descriptor: number): void;
  watch(descriptor: number, onReadable: () => void): ReadableWatch;
}

export interface TapOptions {
  readonly isTemporary?: boolean;
  readonly hasOffloadHeader?: boolean;
  readonly namespace?: number | undefined;
  /** `/dev/net/tun`, opened in the namespace of the interface; an errno, negative, is the result. */
  readonly device?: number;
}

/** @see linux/if_tun.h, and Documentation/networking/tuntap.rst of the kernel */
const tunSetOffload = 0x400454d0;
/** Checksums, segments of TCP over IPv4 and over IPv6. */
const takenOffloads = 0x01 | 0x02 | 0x04;

/** @see timerfd_create(2) */
const monotonicClock = 1;
const absoluteTime = 1;

/** MLOCK_ONFAULT. @see mlock2(2) */
const onFirstUse = 1;

export type SystemCalls = ReturnType<typeof bindCalls>;
type Koffi = typeof import('koffi');

/** @throws Error where koffi was not installed, or has no binary for this system */
export async function loadNative(): Promise<Native> {
  try {
    const koffi: Koffi = await import('koffi');
    return nativeOf(koffi, bindCalls(koffi));
  } catch (error) {
    throw new Error(
      `koffi cannot be loaded (npm ci installs it; it has binaries for Linux with glibc and musl): ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Binds the calls without the name of a library: libc is part of the process, whichever it is. */
function bindCalls(koffi: Koffi) {
  const libc = koffi.load(null);
  const open: (path: string, flags: number) => number = libc.func('int open(const char *path, int flags)');
  const close: (descriptor: number) => number = libc.func('int close(int fd)');
  const setns: (descriptor: number, kind: number) => number = libc.func('int setns(int fd, int nstype)');
  const ioctl: (descriptor: number, request: number, argument: Buffer) => number = libc.func(
    'int ioctl(int fd, unsigned long request, _Inout_ uint8_t *argument)',
  );
  const ioctlNumber: (descriptor: number, request: number, argument: number) => number = libc.func(
    'int ioctl(int fd, unsigned long request, unsigned long argument)',
  );
  const socket: (family: number, type: number, protocol: number) => number = libc.func(
    'int socket(int family, int type, int protocol)',
  );
  const setsockopt: (descriptor: number, level: number, option: number, value: Buffer, bytes: number) => number = libc.func(
    'int setsockopt(int fd, int level, int option, uint8_t *value, unsigned int bytes)',
  );
  const bind: (descriptor: number, address: Buffer, bytes: number) => number = libc.func(
    'int bind(int fd, uint8_t *address, unsigned int bytes)',
  );
  const connect: typeof bind = libc.func('int connect(int fd, uint8_t *address, unsigned int bytes)');
  const read: (descriptor: number, address: number, bytes: number) => number = libc.func(
    'intptr_t read(int fd, uintptr_t address, size_t bytes)',
  );
  const write: (descriptor: number, address: number, bytes: number) => number = libc.func(
    'intptr_t write(int fd, uintptr_t address, size_t bytes)',
  );
  const sendto: (descriptor: number, address: number, bytes: number, flags: number, to: Buffer, toBytes: number) => number =
    libc.func('intptr_t sendto(int fd, uintptr_t address, size_t bytes, int flags, uint8_t *to, unsigned int to_bytes)');
  const readv: (descriptor: number, vectors: number, count: number) => number = libc.func(
    'intptr_t readv(int fd, uintptr_t vectors, int count)',
  );
  const recvmsg: (descriptor: number, message: number, flags: number) => number = libc.func(
    'intptr_t recvmsg(int fd, uintptr_t message, int flags)',
  );
  const writev: (descriptor: number, vectors: number, count: number) => number = libc.func(
    'intptr_t writev(int fd, uintptr_t vectors, int count)',
  );
  const sendmmsg: (descriptor: number, messages: number, count: number, flags: number) => number = libc.func(
    'int sendmmsg(int fd, uintptr_t messages, unsigned int count, int flags)',
  );
  const recvmmsg: (descriptor: number, messages: number, count: number, flags: number, limit: null) => number = libc.func(
    'int recvmmsg(int fd, uintptr_t messages, unsigned int count, int flags, void *limit)',
  );
  const calls = {
    ...bindSeldom(libc),
    open,
    close,
    setns,
    ioctl,
    ioctlNumber,
    read,
    write,
    readv,
    writev,
    mlock2: bindLock(libc),
  };
  return { ...calls, socket, setsockopt, bind, connect, recvmsg, sendto, sendmmsg, recvmmsg };
}

/** Binds calls that are made seldom. */
function bindSeldom(libc: ReturnType<Koffi['load']>) {
  const timerfdCreate: (clock: number, flags: number) => number = libc.func('int timerfd_create(int clock, int flags)');
  const timerfdSettime: (descriptor: number, flags: number, value: number, before: null) => number = libc.func(
    'int timerfd_settime(int fd, int flags, uintptr_t value, void *before)',
  );
  const syscall: (number: number, ...values: [number, number, number]) => number = libc.func(
    'intptr_t syscall(intptr_t number, intptr_t first, intptr_t second, intptr_t third)',
  );
  const readAddress: ReadAddress = libc.func('int inet_pton(int af, const char *src, _Out_ uint8_t *dst)');
  return { timerfdCreate, timerfdSettime, syscall, readAddress };
}

type LockCall = (address: number, bytes: number, flags: number) => number;

/** Undefined in libraries that lack it, such as musl. */
function bindLock(libc: ReturnType<Koffi['load']>): LockCall | undefined {
  try {
    return libc.func('int mlock2(uintptr_t address, size_t bytes, unsigned int flags)');
  } catch {
    return undefined;
  }
}

function nativeOf(koffi: Koffi, calls: SystemCalls): Native {
  const failure = () => -koffi.errno();
  const addressIn = addresses(koffi);
  const reading = new Vectors(addressIn, 2);
  const message = new PacketMessage(addressIn, reading.address);
  const timer = new TimerValue(addressIn);
  const ownNamespace = calls.open('/proc/thread-self/ns/net', closeOnExec);
  return {
    ...udpCalls(calls, addressIn, failure),
    openTap: (name, options) => openTap(calls, { name, ownNamespace, ...options }, failure),
    takeDescriptor: (pid, descriptor) => takeDescriptor(calls, { pid, descriptor }, failure),
    openNamespace(path) {
      const descriptor = calls.open(path, closeOnExec);
      return descriptor < 0 ? failure() : descriptor;
    },
    setOffloads: (descriptor, areTaken) => calls.ioctlNumber(descriptor, tunSetOffload, areTaken ? takenOffloads : 0) === 0,
    openPacketSocket: (index) => openPacketSocket(calls, index, failure),
    openDatagrams: (path) => openUnix(calls, { path, type: datagramNonBlocking, join: calls.bind }, failure),
    openStream: (path) => openUnix(calls, { path, type: streamNonBlocking, join: calls.connect }, failure),
    sendDatagram(descriptor, { buffer, start, end }, { bytes }) {
      if (!(start >= 0 && start < end && end <= buffer.length)) return -constants.errno.EINVAL;
      return calls.sendto(descriptor, addressIn(buffer) + start, end - start, 0, bytes, bytes.length) < 0 ? failure() : 0;
    },
    read(descriptor, { buffer, at, room }) {
      if (!(at >= 0 && room > 0 && at + room <= buffer.length)) return -constants.errno.EINVAL;
      const length = calls.read(descriptor, addressIn(buffer) + at, room);
      return length < 0 ? failure() : length;
    },
    write(descriptor, buffer, start, end) {
      if (!(start >= 0 && start < end && end <= buffer.length)) return -constants.errno.EINVAL;
      const written = calls.write(descriptor, addressIn(buffer) + start, end - start);
      return written < 0 ? failure() : written;
    },
    readBehind(descriptor, header, { buffer, at, room, tag }) {
      reading.clear();
      if (!reading.add(header, 0, header.length) || !reading.add(buffer, at, at + room)) return -constants.errno.EINVAL;
      if (tag) message.prepare(reading.count);
      const length = tag ? calls.recvmsg(descriptor, message.address, 0) : calls.readv(descriptor, reading.address, reading.count);
      if (length < 0) return failure();
      if (tag) message.readTag(tag);
      return Math.max(0, length - header.length);
    },
    pieces: () => new Vectors(addressIn, maxPieces),
    writePieces(descriptor, pieces) {
      if (!(pieces instanceof Vectors) || pieces.count === 0) return -constants.errno.EINVAL;
      return calls.writev(descriptor, pieces.address, pieces.count) < 0 ? failure() : 0;
    },
    close: (descriptor) => void calls.close(descriptor),
    watch: (descriptor, onReadable) => watch(koffi.node.poll, descriptor, onReadable),
    openTimer() {
      const descriptor = calls.timerfdCreate(monotonicClock, files.O_NONBLOCK | closeOnExec);
      return descriptor < 0 ? failure() : descriptor;
    },
    setTimer(descriptor, atMs) {
      timer.set(atMs);
      return calls.timerfdSettime(descriptor, absoluteTime, timer.address, null) < 0 ? failure() : 0;
    },
    lockMemory: (start, end) => calls.mlock2?.(start, end - start, onFirstUse) === 0,
  };
}

/** @see packet(7), linux/if_packet.h, socket(2) */
const packetFamily = 17;
const rawNonBlocking = 3 | files.O_NONBLOCK | closeOnExec;
const allProtocols = 0x0003;
const packetLevel = 263;
const addMembership = 1;
const promiscuous = 1;
const socketLevel = 1;
const offloadHeaders = 15;
const forcedReceiveBuffer = 33;
const receiveBuffer = 8;
const sendBuffer = 7;
const receiveBufferBytes = 4 * 1024 * 1024;
/** `struct sockaddr_ll`: family, protocol (big-endian), index; `struct packet_mreq`: index, type. */
const addressBytes = 20;
const membershipBytes = 16;

/** Promiscuity ends with the socket. It takes nothing until it is bound. */
function openPacketSocket({ socket, setsockopt, bind, close }: SystemCalls, index: number, failure: () => number): number {
  const descriptor = socket(packetFamily, rawNonBlocking, 0);
  if (descriptor < 0) return failure();
  const size = Buffer.alloc(4);
  size.writeInt32LE(receiveBufferBytes);
  // Needs a privilege that it may do without.
  setsockopt(descriptor, socketLevel, forcedReceiveBuffer, size, size.length);
  const on = Buffer.alloc(4);
  on.writeInt32LE(1);
  const membership = Buffer.alloc(membershipBytes);
  membership.writeInt32LE(index);
  membership.writeUInt16LE(promiscuous, 4);
  const address = Buffer.alloc(addressBytes);
  address.writeUInt16LE(packetFamily);
  address.writeUInt16BE(allProtocols, 2);
  address.writeInt32LE(index, 4);
  const isOpen =
    setsockopt(descriptor, packetLevel, offloadHeaders, on, on.length) === 0 &&
    setsockopt(descriptor, packetLevel, packetAuxData, on, on.length) === 0 &&
    setsockopt(descriptor, packetLevel, addMembership, membership, membershipBytes) === 0 &&
    bind(descriptor, address, addressBytes) === 0;
  if (isOpen) return descriptor;
  const result = failure();
  close(descriptor);
  return result;
}

const streamNonBlocking = 1 | files.O_NONBLOCK | closeOnExec;
const datagramNonBlocking = 2 | files.O_NONBLOCK | closeOnExec;

type WantedSocket = { path: string; type: number; join: SystemCalls['bind'] };

/** `join` binds it to the path, or connects it. */
function openUnix({ socket, close }: SystemCalls, { path, type, join }: WantedSocket, failure: () => number): number {
  const address = unixAddress(path);
  if (address === undefined) return -constants.errno.ENAMETOOLONG;
  const descriptor = socket(unixFamily, type, 0);
  if (descriptor < 0) return failure();
  if (join(descriptor, address.bytes, address.bytes.length) === 0) return descriptor;
  const result = failure();
  close(descriptor);
  return result;
}

function udpCalls(
  { socket, setsockopt, bind, close, sendmmsg, recvmmsg, readAddress }: SystemCalls,
  addressIn: AddressIn,
  failure: () => number,
): UdpCalls {
  const outgoing = new OutgoingDatagrams(addressIn);
  const incoming = new IncomingDatagrams(addressIn);
  return {
    outgoing,
    incoming,
    udpAddress: (host, port) => udpAddress(readAddress, host, port),
    openUdp({ bytes, family }, { bufferBytes, from }) {
      const descriptor = socket(family, datagramNonBlocking, 0);
      if (descriptor < 0) return failure();
      const filter = from?.family === ipv4Family ? senderFilter(from, addressIn) : undefined;
      // The filter is set before anything can arrive.
      if (filter) setsockopt(descriptor, socketLevel, attachFilter, filter.program, filter.program.length);
      const size = Buffer.alloc(4);
      size.writeInt32LE(bufferBytes);
      for (const option of [receiveBuffer, sendBuffer]) setsockopt(descriptor, socketLevel, option, size, size.length);
      if (bind(descriptor, bytes, bytes.length) === 0) return descriptor;
      const result = failure();
      close(descriptor);
      return result;
    },
    sendDatagrams(descriptor, from) {
      if (!(from >= 0 && from < outgoing.count)) return -constants.errno.EINVAL;
      const sent = sendmmsg(descriptor, outgoing.addressFrom(from), outgoing.count - from, 0);
      return sent < 0 ? failure() : sent;
    },
    receiveDatagrams(descriptor) {
      incoming.prepare();
      const received = recvmmsg(descriptor, incoming.address, maxDatagrams, 0, null);
      incoming.count = Math.max(0, received);
      return received < 0 ? failure() : received;
    },
  };
}

/** Where a buffer begins. Asking costs more than a call; memory of a buffer never moves. */
function addresses(koffi: Koffi): AddressIn {
  const known = new WeakMap<ArrayBufferLike, number>();
  return (buffer) => {
    const found = known.get(buffer.buffer);
    if (found !== undefined) return found + buffer.byteOffset;
    const at = Number(koffi.address(buffer));
    known.set(buffer.buffer, at - buffer.byteOffset);
    return at;
  };
}
