/** A connection to a console: its text, and an event for new output. */
import { TelnetStripper } from '../../../src/lib/telnet.ts';
import type { Dialogue } from './dialogue.ts';
import { TerminalText } from './terminal-text.ts';

/** The WebSocket of a console, or a substitute. */
export interface ConsoleWire {
  send(bytes: Uint8Array): void;
  close(): void;
  /** Reason of the end; undefined while it is open. */
  readonly ended: string | undefined;
  /** Called with new bytes, and without an argument at the end. */
  onReceive: (bytes?: Uint8Array) => void;
}

export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}

export class ConsoleConnection {
  readonly text = new TerminalText();
  readonly #socket: ConsoleWire;
  readonly #dialogue: Dialogue;
  readonly #decoder = new TextDecoder();
  readonly #filter = new TelnetStripper();
  #waiting: (() => void) | undefined;
  /** Counts the received messages. */
  received = 0;

  constructor(socket: ConsoleWire, dialogue: Dialogue) {
    this.#socket = socket;
    this.#dialogue = dialogue;
    socket.onReceive = (bytes) => {
      if (bytes) {
        this.received += 1;
        const plain = this.#filter.push(bytes);
        this.text.append(plain);
        dialogue.add('received', this.#decoder.decode(plain, { stream: true }));
      }
      this.#waiting?.();
    };
  }

  /** Sends text. The report contains `shown` instead. @throws ConsoleError */
  send(text: string, shown = text): void {
    if (this.#socket.ended !== undefined) throw new ConsoleError(`the console was closed: ${this.#socket.ended}`);
    this.#dialogue.add('sent', shown);
    this.#socket.send(Buffer.from(text, 'utf8'));
  }

  /**
   * Waits for output; true when some came in time. @throws ConsoleError when the console was closed; the reason of an aborted
   * signal
   */
  change(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const before = this.received;
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', look);
        this.#waiting = undefined;
        action();
      };
      const look = () => {
        if (signal.aborted) settle(() => reject(signal.reason));
        else if (this.received !== before) settle(() => resolve(true));
        else if (this.#socket.ended !== undefined) {
          settle(() => reject(new ConsoleError(`the console was closed: ${this.#socket.ended}`)));
        }
      };
      const timer = setTimeout(() => settle(() => resolve(false)), Math.max(0, limitMs));
      this.#waiting = look;
      signal.addEventListener('abort', look);
      look();
    });
  }

  close(): void {
    this.#socket.close();
  }
}
