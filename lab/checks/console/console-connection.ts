/** A connection to a console: the text that it shows, and an event for whatever comes. */
import { TelnetStripper } from '../../../src/lib/telnet.ts';
import type { Dialogue } from './dialogue.ts';
import { TerminalText } from './terminal-text.ts';

/** The WebSocket of a console, or what stands for it. */
export interface ConsoleWire {
  send(bytes: Uint8Array): void;
  close(): void;
  /** Why it ended; undefined while it is open. */
  readonly ended: string | undefined;
  /** Called with what comes, and without an argument when it ended. */
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
  /** Counts what came. */
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

  /** `shown` stands for it in the report. @throws ConsoleError */
  send(text: string, shown = text): void {
    if (this.#socket.ended !== undefined) throw new ConsoleError(`the console was closed: ${this.#socket.ended}`);
    this.#dialogue.add('sent', shown);
    this.#socket.send(Buffer.from(text, 'utf8'));
  }

  /** True when something came within the time. @throws ConsoleError when the console was closed; the reason of an aborted signal */
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
