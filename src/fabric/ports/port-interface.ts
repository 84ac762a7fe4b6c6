/**
 * A port on an interface of this host: on a persistent TAP interface, beside which a container's veth may end, or on a packet socket
 * that takes all frames of another interface. Frames are read in batches into one
 * buffer that all such ports share, and written one by one, or consecutive ones of a TCP connection as one (`segment-run.ts`): the kernel
 * takes each at once, or has no room for it.
 *
 * The interface outlives this process. Frames that come while it is not held, or faster than they are read, are lost in its queue; the
 * kernel counts them.
 */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { Retry } from '../../lib/retry.ts';
import { maxFrameBytes } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import { type InterfaceAccess, roomBytes } from './interface-access.ts';
import { InterfacePlace, type InterfacePlaces } from './interface-place.ts';
import type { Native } from './native.ts';
import { type OffloadDevice, OffloadFrames } from './offload-frames.ts';
import { type FabricPort, type PortOwner, portRetry, type TapLosses } from './port.ts';
import type { ReadableWatch } from './readable-watch.ts';

const nothing: Buffer = Buffer.alloc(0);

/** Most frames and bytes of one turn, so that other ports have theirs. */
const batchFrames = 128;
const batchBytes = 256 * 1024;

const { EAGAIN, ENOBUFS, EINVAL, EMSGSIZE, ENODEV, ENETDOWN } = constants.errno;

/** Memory that all ports on TAP interfaces share. */
export class InterfaceMemory {
  readonly native: Native;
  readonly places: InterfacePlaces;
  /** Memory for the one packet that was just read. */
  readonly packet = Buffer.allocUnsafeSlow(maxFrameBytes);
  #spare: Buffer | undefined;

  constructor(native: Native, places: InterfacePlaces = { host: new InterfacePlace('host'), links: new InterfacePlace('links') }) {
    this.native = native;
    this.places = places;
  }

  /** Memory for a batch; to be released unless the link still uses it. */
  take(): Buffer {
    const buffer = this.#spare ?? Buffer.allocUnsafeSlow(batchBytes + roomBytes);
    this.#spare = undefined;
    return buffer;
  }

  release(buffer: Buffer): void {
    this.#spare ??= buffer;
  }
}

type TapSpec = Extract<PortSpec, { type: 'tap' }>;

export function openTap(spec: TapSpec, owner: PortOwner, access: InterfaceMemory): FabricPort {
  return new InterfacePort(new OffloadFrames(tapOf(spec, access), access.native, access.packet), owner, access);
}

export function openPacket(name: string, owner: PortOwner, access: InterfaceMemory): FabricPort {
  return new InterfacePort(new OffloadFrames(packetsOf(name, access), access.native, access.packet), owner, access);
}

function tapOf({ name, merges = false, inLinkNamespace = false }: TapSpec, { native, places }: InterfaceMemory): OffloadDevice {
  const place = places[inLinkNamespace ? 'links' : 'host'];
  const withOffloads = (descriptor: number) => {
    // A kernel that refuses cuts and completes itself.
    if (descriptor >= 0) native.setOffloads(descriptor, true);
    return descriptor;
  };
  return {
    name,
    place,
    merges,
    hasQueue: true,
    open() {
      if (!place.isKnown) return -ENODEV;
      const opened = place.openTap(native, name, { hasOffloadHeader: true });
      return typeof opened === 'number' ? withOffloads(opened) : opened.then(withOffloads);
    },
    // The interface outlives this process, and its next holder may not know of offloads.
    release: (descriptor) => void native.setOffloads(descriptor, false),
  };
}

function packetsOf(name: string, { native, places: { host: place } }: InterfaceMemory): OffloadDevice {
  const open = () => {
    const [index = 0, flags = 0] = [place.readFigure(name, 'ifindex'), place.readFigure(name, 'flags')];
    if (index === 0) return -ENODEV;
    return (flags & upFlag) === 0 ? -ENETDOWN : native.openPacketSocket(index);
  };
  return { name, place, merges: true, hasQueue: false, losesTags: true, open };
}

/** IFF_UP. @see netdevice(7) */
const upFlag = 1;

class InterfacePort implements FabricPort {
  readonly opened: Promise<void>;
  connected = false;
  oversized = 0;
  problem: string | undefined;
  readonly refused = { queue_full: 0 };
  readonly tap: TapLosses;
  readonly #interface: InterfaceAccess;
  readonly #owner: PortOwner;
  readonly #access: InterfaceMemory;
  readonly #retry = new Retry(portRetry, () => void this.#open());
  readonly #run = { buffer: nothing, start: 0, end: 0 };
  #descriptor = -1;
  #watch: ReadableWatch | undefined;
  /** The link still writes from this memory: nothing is read. */
  #held: Buffer | undefined;
  #closed = false;

  constructor(of: InterfaceAccess, owner: PortOwner, access: InterfaceMemory) {
    this.#interface = of;
    this.#owner = owner;
    this.#access = access;
    const { name, place, hasQueue } = of;
    // A counter that cannot be read now is no base to count from, so no losses are shown.
    const before = (hasQueue ? place.readFigure(name, 'statistics/tx_dropped') : undefined) ?? Number.POSITIVE_INFINITY;
    this.tap = { name, place: place.name, lost: (total) => Math.max(0, total - before) };
    this.opened = this.#open() ?? Promise.resolve();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    const run = this.#run;
    run.buffer = buffer;
    run.end = end;
    for (let at = start; at < end; ) {
      run.start = at;
      const { result, frames, next } = this.#interface.write(this.#descriptor, run);
      if (result !== 0) this.#failed(-result, frames);
      at = next;
    }
    run.buffer = nothing;
    return true;
  }

  change(spec: PortSpec): void {
    this.#interface.change?.(spec);
  }

  resume(): void {
    if (!this.#held) return;
    this.#access.release(this.#held);
    this.#held = undefined;
    this.#watch?.resume();
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#drop();
  }

  #open(): Promise<void> | undefined {
    if (this.#closed) return undefined;
    const opened = this.#interface.open();
    if (typeof opened !== 'number') return opened.then((descriptor) => this.#use(descriptor));
    this.#use(opened);
    return undefined;
  }

  #use(descriptor: number): void {
    const { native } = this.#access;
    if (this.#closed && descriptor >= 0) native.close(descriptor);
    if (this.#closed) return;
    if (descriptor < 0) {
      this.problem = `the interface ${this.#interface.name} cannot be opened (${getSystemErrorName(descriptor)})`;
      this.#retry.failed();
      return;
    }
    this.problem = undefined;
    this.#descriptor = descriptor;
    this.#watch = native.watch(descriptor, () => this.#read());
    if (this.#held) this.#watch.pause();
    this.connected = true;
    this.#retry.succeeded();
  }

  #read(): void {
    if (this.#held || !this.connected) return;
    const buffer = this.#access.take();
    let end = 0;
    let frames = 0;
    let result = 0;
    // A packet that the kernel dropped has no frames, but takes its time.
    for (let looked = 0; looked < batchFrames && end < batchBytes && frames < batchFrames; looked += 1) {
      const taken = this.#interface.read(this.#descriptor, buffer, end);
      result = taken.result;
      if (result !== 0) break;
      end = taken.end;
      frames += taken.frames;
    }
    if (frames === 0 || this.#owner.received(buffer, 0, end, frames)) this.#access.release(buffer);
    else this.#held = buffer;
    if (this.#held) this.#watch?.pause();
    if (result !== 0 && result !== -EAGAIN) this.#lose();
  }

  /** `EINVAL`: no frame for it, as it is too short. */
  #failed(error: number, frames: number): void {
    if (error === EINVAL || error === EMSGSIZE) this.oversized += frames;
    else this.refused.queue_full += frames;
    if (error !== EINVAL && error !== EMSGSIZE && error !== EAGAIN && error !== ENOBUFS) this.#lose();
  }

  /** The interface is down, or gone. */
  #lose(): void {
    if (!this.connected) return;
    this.#drop();
    this.#retry.failed();
  }

  #drop(): void {
    if (!this.connected) return;
    this.connected = false;
    this.#watch?.close();
    this.#watch = undefined;
    this.#interface.release?.(this.#descriptor);
    this.#access.native.close(this.#descriptor);
    this.#descriptor = -1;
  }
}
