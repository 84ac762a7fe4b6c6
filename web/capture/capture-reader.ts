/** Streams a link's capture from the server until it ends. */
import { signal } from '@preact/signals';
import type { Api } from '../api.ts';
import { PacketStore, Slices } from './packet-store.ts';
import { type Packet, PcapParser } from './pcap.ts';

/** `waiting`: the link has no active capture. */
export type ReaderState = 'connecting' | 'reading' | 'ended' | 'waiting' | 'failed';

/** Packets per update of the table, when many arrive at once. */
const mostAtOnce = 2_000;

export class CaptureReader {
  readonly store = new PacketStore();
  readonly state = signal<ReaderState>('waiting');
  readonly failure = signal('');
  readonly #api: Api;
  readonly #path: string;
  #abort: AbortController | undefined;

  /** `path`: the link's `pcap` stream. */
  constructor(api: Api, path: string) {
    this.#api = api;
    this.#path = path;
  }

  /** Reads the capture from its beginning to its end; replaces all earlier packets. */
  async read(): Promise<void> {
    this.close();
    const abort = new AbortController();
    this.#abort = abort;
    this.state.value = 'connecting';
    try {
      const body = await this.#api.stream(this.#path, abort.signal);
      this.store.clear();
      this.state.value = 'reading';
      await this.#readAll(body);
      this.state.value = 'ended';
    } catch (error) {
      if (abort.signal.aborted) return;
      this.failure.value = (error as Error).message;
      this.state.value = 'failed';
    }
  }

  close(): void {
    this.#abort?.abort();
    this.#abort = undefined;
  }

  async #readAll(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = new PcapParser();
    const slices = new Slices();
    for await (const chunk of body) {
      parser.push(chunk);
      for (let packets = take(parser); packets.length > 0; packets = take(parser)) {
        this.store.linkType = parser.linkType ?? this.store.linkType;
        this.store.add(packets);
        if (slices.isOver()) await slices.turn();
      }
    }
  }
}

function take(parser: PcapParser): Packet[] {
  const packets: Packet[] = [];
  for (let packet = parser.next(); packet; packet = packets.length < mostAtOnce ? parser.next() : undefined) packets.push(packet);
  return packets;
}
