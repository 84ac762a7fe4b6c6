/** A client of a console: its position in the output, and the telnet layer between it and the console. */
import type { TerminalSize } from '../../emulators/driver.ts';
import type { Scrollback } from './scrollback.ts';
import { escapeTelnet, offers, offersWithSize, TelnetDecoder, towardsClient, towardsSizedClient } from './telnet-codec.ts';

/** Where output goes: a TCP connection, a WebSocket. */
export interface Sink {
  send(bytes: Uint8Array): void;
  /** Bytes queued for a client that does not read; undefined: it never waits. */
  bufferedAmount?(): number;
  close(): void;
}

/** A client for which this much is queued gets no more until it has read; what leaves the scrollback meanwhile is lost to it. */
const queueLimitBytes = 256 * 1024;

export class ConsoleClient {
  readonly #sink: Sink;
  readonly #scrollback: Scrollback;
  readonly #decoder: TelnetDecoder;
  readonly #name: string;
  #position: number;

  /** Size of the client's window, once it was sent; both numbers are at least 1. */
  size: TerminalSize | undefined;

  /** Negotiates, then shows the banner and the scrollback. `asksSize`: the client is asked for the size of its window. */
  constructor(sink: Sink, scrollback: Scrollback, { banner, asksSize }: { banner?: string | undefined; asksSize: boolean }) {
    this.#decoder = new TelnetDecoder(asksSize ? towardsSizedClient : towardsClient);
    this.#sink = sink;
    this.#scrollback = scrollback;
    this.#name = banner ?? 'Patchbay console';
    this.#position = scrollback.entry();
    sink.send(asksSize ? offersWithSize : offers);
    if (banner !== undefined) this.#say(banner);
    this.pump();
  }

  /** True when output waits for the client to read. */
  get behind(): boolean {
    return this.#position < this.#scrollback.end;
  }

  /** Sends what the client has not seen, as far as it takes it. */
  pump(): void {
    while (this.behind && this.#hasRoom) {
      if (this.#position < this.#scrollback.start) {
        const resumed = this.#scrollback.entry();
        this.#say(`[${resumed - this.#position} bytes of output were lost here: this client read too slowly]`);
        this.#position = resumed;
      }
      const bytes = this.#scrollback.read(this.#position);
      this.#position += bytes.length;
      this.#sink.send(escapeTelnet(bytes));
    }
  }

  /** Decodes telnet from the client's bytes, and returns the input for the emulator. */
  receive(bytes: Uint8Array): Uint8Array {
    const { data, reply, areYouThere, size } = this.#decoder.push(bytes);
    if (size && size.columns > 0 && size.rows > 0) this.size = size;
    // A client that asks without reading the answers gets none.
    if (reply.length > 0 && this.#hasRoom) this.#sink.send(reply);
    if (areYouThere > 0 && this.#hasRoom) this.#say(`[${this.#name}: yes]`);
    return data;
  }

  close(): void {
    this.#sink.close();
  }

  get #hasRoom(): boolean {
    return (this.#sink.bufferedAmount?.() ?? 0) < queueLimitBytes;
  }

  #say(line: string): void {
    this.#sink.send(escapeTelnet(Buffer.from(`\r\n${line}\r\n`)));
  }
}
