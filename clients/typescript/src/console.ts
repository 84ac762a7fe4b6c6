/** The console of a node, over its WebSocket. */
import type { Api } from './api.ts';
import { TelnetStripper } from './telnet.ts';
import { TimeoutError } from './wait-until.ts';

/** Length of the output that is kept for `expect`, in characters. */
const longestKept = 1_000_000;

export interface Expected {
  /** The text before the match. */
  readonly before: string;
  readonly match: RegExpExecArray;
}

export class NodeConsole {
  readonly #socket: WebSocket;
  readonly #stripper = new TelnetStripper();
  readonly #decoder = new TextDecoder();
  /** Output that no `expect` has matched yet. */
  #text = '';
  #isClosed = false;
  #changed: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data);
      this.#text = `${this.#text}${this.#decoder.decode(this.#stripper.push(bytes), { stream: true })}`.slice(-longestKept);
      this.#changed();
    });
    socket.addEventListener('close', () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  /** Output since the last match. */
  get output(): string {
    return this.#text;
  }

  /** Types text as it is. */
  send(text: string): void {
    this.#socket.send(new TextEncoder().encode(text));
  }

  /** Types a line and Enter. */
  sendLine(line: string): void {
    this.send(`${line}\r`);
  }

  /**
   * Waits for output that matches, and consumes it to the end of the match. One call at a time.
   * @param timeout milliseconds
   * @throws TimeoutError with the end of the output
   */
  async expect(wanted: RegExp | string, { timeout = 30_000 }: { readonly timeout?: number } = {}): Promise<Expected> {
    const pattern = typeof wanted === 'string' ? new RegExp(wanted.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')) : wanted;
    const timer = AbortSignal.timeout(timeout);
    timer.addEventListener('abort', () => this.#changed(), { once: true });
    for (;;) {
      pattern.lastIndex = 0;
      const match = pattern.exec(this.#text);
      if (match) {
        const before = this.#text.slice(0, match.index);
        this.#text = this.#text.slice(match.index + match[0].length);
        return { before, match };
      }
      if (this.#isClosed || timer.aborted) {
        const reason = this.#isClosed ? 'the console was closed' : `it did not come within ${timeout} ms`;
        throw new TimeoutError(
          `Expected ${pattern} on the console: ${reason}. It shows: ${JSON.stringify(this.#text.slice(-500))}`,
        );
      }
      await this.#change();
    }
  }

  close(): void {
    this.#socket.close();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }
}

/** @throws PatchbayError; an error when the console cannot be opened */
export async function openConsole(api: Api, projectId: string, nodeId: string): Promise<NodeConsole> {
  const path = `/v2/projects/${projectId}/nodes/${nodeId}/console/ws`;
  // Browsers send no credentials with a WebSocket.
  const { ticket } = await api.call('POST /v2/tickets', { body: { path } });
  const url = new URL(`${api.url}${path}`);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.searchParams.set('ticket', ticket);
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  const opened = new NodeConsole(socket);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('The console cannot be opened: is the node started?')));
  });
  return opened;
}
