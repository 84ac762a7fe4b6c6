/** Types lines at the prompt of any console, whose prompt it learns, and reads what is shown until the prompt comes back. */
import { stripVTControlCharacters } from 'node:util';
import { LabError } from '../../lab/file/lab-error.ts';
import type { ConsoleSocket } from './console-socket.ts';

/** Output that ends with a prompt and has not grown for this long is complete. Milliseconds. */
const quietMs = 400;
/** Silence that is awaited where the typed line is not seen: the prompt may be the answer to an earlier Enter, on a busy machine. */
const withoutEchoMs = 3000;

export class PromptDialogue {
  readonly #socket: ConsoleSocket;
  readonly #reader: ConsoleReader;
  #prompt: string | undefined;

  /** The prompt; empty until it was seen. */
  get prompt(): string {
    return this.#prompt ?? '';
  }

  constructor(socket: ConsoleSocket, signal: AbortSignal) {
    this.#socket = socket;
    this.#reader = new ConsoleReader(socket, signal);
  }

  /** Types a line at the prompt, and returns the output up to the next prompt. @throws LabError at the time limit */
  async ask(command: string): Promise<string> {
    this.#prompt ??= await this.#findPrompt();
    this.#reader.forget();
    this.#socket.send(`${command}\r`);
    const text = await this.#reader.untilQuiet((output) => {
      if (!/[\r\n]/.test(output) || lastLine(output) !== this.#prompt) return undefined;
      return echoOf(command, linesOf(output)) === undefined ? withoutEchoMs : quietMs;
    });
    const lines = linesOf(text);
    const echo = echoOf(command, lines) ?? 0;
    return lines
      .slice(echo + 1, -1)
      .join('\n')
      .replaceAll('\r', '')
      .trimEnd();
  }

  async #findPrompt(): Promise<string> {
    this.#socket.send('\r');
    return lastLine(await this.#reader.untilQuiet((text) => (lastLine(text) === '' ? undefined : quietMs)));
  }
}

function linesOf(text: string): string[] {
  return stripVTControlCharacters(text).split(/\r?\n/);
}

/** Returns the index of the line with which the typed command is shown completely; a long one is wrapped. */
function echoOf(command: string, lines: readonly string[]): number | undefined {
  const squeeze = (text: string) => text.replaceAll(/\s+/g, '');
  const wanted = squeeze(command);
  let shown = '';
  for (const [index, line] of lines.entries()) {
    shown += squeeze(line);
    if (shown.includes(wanted)) return index;
  }
  return undefined;
}

function lastLine(text: string): string {
  // Shells request the cursor position after their prompt.
  return stripVTControlCharacters(text.split(/[\r\n]/).at(-1) ?? '').trimEnd();
}

class ConsoleReader {
  readonly #signal: AbortSignal;
  readonly #decoder = new TextDecoder();
  #text = '';
  #changed: () => void = () => undefined;

  constructor(socket: ConsoleSocket, signal: AbortSignal) {
    this.#signal = signal;
    socket.onData((data) => {
      this.#text += this.#decoder.decode(data, { stream: true });
      this.#changed();
    });
  }

  forget(): void {
    this.#text = '';
  }

  /**
   * Returns the output once no more arrives for the time, ms, that `quietFor` returns for it; undefined: it is not complete.
   * @throws LabError at the time limit
   */
  untilQuiet(quietFor: (text: string) => number | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const check = (): void => {
        clearTimeout(timer);
        const limitMs = quietFor(this.#text);
        if (limitMs !== undefined) timer = setTimeout(() => resolve(this.#text), limitMs);
      };
      this.#changed = check;
      const stop = (): void => {
        clearTimeout(timer);
        const shown = this.#text.trim().slice(-500);
        reject(new LabError(`the console did not return to its prompt in time${shown ? `. It shows:\n${shown}` : ''}`));
      };
      this.#signal.addEventListener('abort', stop, { once: true });
      check();
      // An aborted signal emits no further event.
      if (this.#signal.aborted) stop();
    });
  }
}
