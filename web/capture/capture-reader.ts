/** Reads a link's capture: the live one from the server until it ends, or the file of the last one. Kept while its tab is open. */
import { signal } from '@preact/signals';
import type { Link } from '../../src/schema/link.ts';
import type { Api } from '../api.ts';
import { texts } from '../texts.ts';
import { captureFilePath } from './capture-files.ts';
import { displayFilter, FilterError } from './display-filter.ts';
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
  /** Number of the selected packet. */
  readonly chosen = signal<number | undefined>(undefined);
  /** The display filter, as typed. */
  readonly filterText = signal('');
  /** Error of the display filter, or how it was understood. */
  readonly filterNote = signal<{ readonly isWrong: boolean; readonly words: string } | undefined>(undefined);
  readonly #api: Api;
  readonly #projectPath: string;
  #abort: AbortController | undefined;
  /** The file that was read last; undefined after a live capture. */
  #file: string | undefined;

  constructor(api: Api, projectPath: string) {
    this.#api = api;
    this.#projectPath = projectPath;
  }

  /**
   * Reads the link's active capture, else the file of its last one; nothing while that has been read already. `isNew`: the capture
   * has just started, although the stream of the one before may not have ended yet.
   */
  follow(
    { link_id, capturing, capture_file_name }: Pick<Link, 'link_id' | 'capturing' | 'capture_file_name'>,
    isNew: boolean,
  ): void {
    const isActive = this.state.peek() === 'connecting' || this.state.peek() === 'reading';
    if (capturing && (isNew || !isActive)) {
      this.#file = undefined;
      void this.#read(`${this.#projectPath}/links/${link_id}/pcap`);
    } else if (!capturing && capture_file_name && this.state.peek() === 'waiting') this.open(capture_file_name);
  }

  /** Reads a capture file of the project, once. */
  open(name: string): void {
    if (this.state.peek() === 'waiting') void this.#readFile(name);
  }

  #readFile(name: string): Promise<void> {
    this.#file = name;
    return this.#read(captureFilePath({ path: this.#projectPath }, name));
  }

  /** Another capture may have replaced a file since, or added to it. */
  refresh(): void {
    const isOver = this.state.peek() === 'ended' || this.state.peek() === 'failed';
    if (isOver && this.#file !== undefined) void this.#readFile(this.#file);
  }

  /** A filter that is not complete or wrong leaves the table as it is. */
  filter(text: string): void {
    this.filterText.value = text;
    try {
      const { matches, words } = displayFilter(text);
      this.filterNote.value = words.length > 0 ? { isWrong: false, words: texts.capture.filterWords(words) } : undefined;
      void this.store.filter(matches);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.filterNote.value = { isWrong: true, words: error.message };
    }
  }

  /** Reads a capture from its beginning to its end; replaces all earlier packets. */
  async #read(path: string): Promise<void> {
    this.close();
    const abort = new AbortController();
    this.#abort = abort;
    this.state.value = 'connecting';
    try {
      const body = await this.#api.stream(path, abort.signal);
      this.store.clear();
      this.chosen.value = undefined;
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
