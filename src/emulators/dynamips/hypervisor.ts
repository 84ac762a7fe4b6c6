/**
 * Client of a Dynamips process (a hypervisor): commands as lines over one connection, each answered before the next is sent.
 *
 * An answer is any number of lines `101 row` and a last line `100-text` (success) or `2xx-text` (failure). Source: the recording
 * of Dynamips 0.2.24 in `test/support/dynamips/recording.txt`.
 */
import { connect, type Socket } from 'node:net';
import { Mutex } from '../../lib/mutex.ts';
import { connectSocket } from '../../process/unix-socket.ts';

interface HypervisorAnswer {
  /** The lines `101`, without that number. */
  readonly rows: readonly string[];
  /** Text of the last line, without its number. */
  readonly text: string;
}

export type CommandWord = string | number;

/** The hypervisor refused a command. `code`: 200 to 299; 0 when the connection was lost. */
export class HypervisorError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'HypervisorError';
    this.code = code;
  }
}

/** Most commands are answered within milliseconds; a start reads the image, and idle-PC values take some ten seconds. */
const answerLimitMs = 60_000;
/** Length limit of one answer. A longer answer does not come from a hypervisor: two configurations of a router have some hundred KiB. */
const maxAnswerLength = 8 * 1024 * 1024;

interface Waiting {
  readonly rows: string[];
  settle(answer: HypervisorAnswer | HypervisorError): void;
}

export class Hypervisor {
  readonly #at: string | number;
  readonly #turns = new Mutex();
  #socket: Socket;
  #waiting: Waiting | undefined;
  #text = '';
  /** Characters since the command was sent. */
  #length = 0;
  #isClosed = false;

  private constructor(at: string | number, socket: Socket) {
    this.#at = at;
    this.#socket = this.#use(socket);
  }

  /** `at`: its port on the loopback, or the path of a Unix socket that leads to it. @throws HypervisorError */
  static async connect(at: string | number): Promise<Hypervisor> {
    return new Hypervisor(at, await dial(at));
  }

  /** Sends one command. @throws HypervisorError with its answer when it fails; the connection stays usable */
  ask(...words: readonly CommandWord[]): Promise<HypervisorAnswer> {
    return this.#turns.run(() => this.#ask(commandLine(words)));
  }

  /** The Node process does not wait for the connection. */
  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  /** A connection that was lost is made again. */
  async #ask(line: string): Promise<HypervisorAnswer> {
    if (this.#isClosed) throw new HypervisorError(0, 'its control connection is closed');
    if (this.#socket.destroyed) await this.#connectAgain();
    const { promise, resolve } = Promise.withResolvers<HypervisorAnswer | HypervisorError>();
    this.#waiting = { rows: [], settle: resolve };
    this.#length = 0;
    // A late answer would be taken for that of the next command.
    const limit = setTimeout(() => {
      this.#socket.destroy();
      this.#fail(`no answer within ${answerLimitMs / 1000} s`);
    }, answerLimitMs);
    this.#socket.write(`${line}\n`);
    const answer = await promise;
    clearTimeout(limit);
    if (answer instanceof HypervisorError) throw answer;
    return answer;
  }

  async #connectAgain(): Promise<void> {
    const socket = await dial(this.#at);
    this.#socket = this.#use(socket);
    if (!this.#isClosed) return;
    socket.destroy();
    throw new HypervisorError(0, 'its control connection is closed');
  }

  #use(socket: Socket): Socket {
    this.#text = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#received(text));
    socket.on('error', () => undefined);
    socket.on('close', () => socket === this.#socket && this.#fail('its control connection was closed'));
    return socket;
  }

  #received(text: string): void {
    this.#length += text.length;
    if (this.#length > maxAnswerLength) return void this.#socket.destroy();
    this.#text += text;
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#line(line.trimEnd());
  }

  #line(line: string): void {
    const [, number = '', mark = '', text = ''] = /^(\d{3})([ -])(.*)$/.exec(line) ?? [];
    const waiting = this.#waiting;
    if (!waiting || number === '') return;
    if (mark === ' ') return void waiting.rows.push(text);
    this.#waiting = undefined;
    waiting.settle(number === '100' ? { rows: waiting.rows, text } : new HypervisorError(Number(number), text));
  }

  #fail(reason: string): void {
    this.#waiting?.settle(new HypervisorError(0, reason));
    this.#waiting = undefined;
  }
}

/** @throws HypervisorError */
function dial(at: string | number): Promise<Socket> {
  const socket = typeof at === 'number' ? connect({ port: at, host: '127.0.0.1', noDelay: true }) : connectSocket(at);
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => reject(new HypervisorError(0, `its control port cannot be reached: ${error.message}`));
    socket.once('error', refuse);
    socket.once('connect', () => {
      socket.off('error', refuse);
      resolve(socket);
    });
  });
}

/** Words without quotes are numbers, keywords and names of our own. */
const plainWord = /^[\w.:+-]+$/;

/** @throws HypervisorError for a word that cannot be sent: the protocol has no way to write a quote or a line break */
export function commandLine(words: readonly CommandWord[]): string {
  const written = words.map((word) => {
    const text = String(word);
    if (/["\p{Cc}]/u.test(text)) throw new HypervisorError(204, `"${text.replace(/\p{Cc}/gu, '?')}" holds a quote or a line break`);
    return plainWord.test(text) ? text : `"${text}"`;
  });
  return written.join(' ');
}
