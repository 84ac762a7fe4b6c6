/**
 * The end of a link whose other end is on another compute of ours: datagrams as ever, and a stream beside them. Frames go over the
 * stream while it is there, and as datagrams while it is not; they are taken from both, for the two ends need not see it come and go
 * at the same moment. So nothing has to be agreed on, and nothing waits for a firewall to answer.
 */

import type { PeerCarrier, PeerPath, PortSpec } from '../protocol.ts';
import type { Native } from './native.ts';
import { type PeerSpec, PeerStream } from './peer-stream.ts';
import type { FabricPort, PortOwner } from './port.ts';
import { openUdp } from './port-udp.ts';

/** Drops datagrams: their senders are not authenticated. The port stays bound, as the other side has its number. */
function dropReceived(owner: PortOwner): PortOwner {
  return { received: () => true, drained: () => owner.drained() };
}

export function openPeer(spec: PeerSpec, owner: PortOwner, native: Native): FabricPort {
  return new PeerPort(spec, owner, native);
}

class PeerPort implements FabricPort {
  readonly #datagrams: FabricPort;
  readonly #stream: PeerStream;
  /** Only frames of the stream are taken and sent. */
  readonly #isPrivate: boolean;

  constructor(spec: PeerSpec, owner: PortOwner, native: Native) {
    this.#isPrivate = spec.stream.encryption === 'required';
    this.#datagrams = openUdp(spec, this.#isPrivate ? dropReceived(owner) : owner, native);
    this.#stream = new PeerStream(spec, owner);
  }

  get connected(): boolean {
    return this.#stream.connected || (!this.#isPrivate && this.#datagrams.connected);
  }

  get peer(): { readonly carrier: PeerCarrier; readonly path: PeerPath | undefined } {
    const { connected, path } = this.#stream;
    return { carrier: connected || this.#isPrivate ? 'stream' : 'udp', path };
  }

  get problem(): string | undefined {
    return this.#datagrams.problem;
  }

  get opened(): Promise<void> {
    return this.#datagrams.opened;
  }

  get refused(): Readonly<Record<string, number>> {
    return this.#datagrams.refused ?? {};
  }

  /** The stream takes every length. */
  get oversized(): number {
    return this.#datagrams.oversized;
  }

  set oversized(frames: number) {
    this.#datagrams.oversized = frames;
  }

  nudge(): void {
    this.#datagrams.nudge();
    this.#stream.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    return (this.#stream.connected ? this.#stream : this.#datagrams).send(buffer, start, end);
  }

  /** Datagrams never wait. */
  resume(): void {
    this.#stream.resume();
  }

  change(spec: PortSpec): void {
    if (spec.type === 'udp' && spec.stream) this.#stream.change({ ...spec, stream: spec.stream });
  }

  close(): void {
    this.#stream.close();
    this.#datagrams.close();
  }
}
