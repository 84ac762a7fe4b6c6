/** A telnet client for the demo: types commands at a node's console and reads their output. */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** Commands of telnet (RFC 854) and the supported options: binary (RFC 856), echo (857), suppress go-ahead (858). */
const telnet = { iac: 255, dont: 254, do: 253, wont: 252, will: 251, sb: 250, se: 240 } as const;
const accepted = new Set([0, 1, 3]);
/** ESC sequences with which a shell queries or moves the cursor. */
const escapeCharacter = String.fromCharCode(27);
const escapeSequence = new RegExp(`${escapeCharacter}\\[[0-9;?]*[A-Za-z]`, 'g');
/** An incomplete sequence at the end of the received text. */
const begunSequence = new RegExp(`${escapeCharacter}(\\[[0-9;?]*)?$`);

export class Console {
  readonly #socket: Socket;
  #text = '';
  /** Start of the text that no match has consumed yet. */
  #seen = 0;
  /** An incomplete telnet command or escape sequence. */
  #pending = Buffer.alloc(0);
  #begun = '';
  #answered = new Set<string>();
  #commands = 0;
  /** Tags this console's commands: the server may still replay the output of earlier ones. */
  readonly #mark = randomUUID().slice(0, 4);
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#receive(data));
    socket.on('close', () => this.#wake());
    // A pending wait reports the end of the console.
    socket.on('error', () => {});
  }

  /** `at`: a TCP port of `host`, or the path of a Unix socket. */
  static async open(at: number | string, host = '127.0.0.1'): Promise<Console> {
    const socket = connect(typeof at === 'string' ? { path: at } : { port: at, host, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new Console(socket);
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  /** Waits for a match in the text after the last match; returns the text up to its end. */
  async expect(pattern: RegExp, limitMs: number): Promise<string> {
    const limit = performance.now() + limitMs;
    for (;;) {
      const match = pattern.exec(this.#text.slice(this.#seen));
      if (match) {
        const from = this.#seen;
        this.#seen += match.index + match[0].length;
        return this.#text.slice(from, this.#seen);
      }
      const left = limit - performance.now();
      if (left <= 0 || this.#socket.destroyed) {
        const why = this.#socket.destroyed ? 'the console was closed' : `nothing in ${limitMs / 1000} s`;
        throw new Error(`Waiting for ${pattern} on the console: ${why}; last output: ${JSON.stringify(this.#text.slice(-200))}`);
      }
      await this.#more(left);
    }
  }

  /** Runs a shell command in the guest and returns its output. */
  async run(command: string, limitMs = 20_000): Promise<string> {
    this.#commands += 1;
    const mark = `=${this.#mark}${this.#commands}=`;
    // The echo of the typed line holds "$?" in the place of the number.
    this.send(`${command}; echo ${mark}$?=\r`);
    return this.expect(new RegExp(`${mark}\\d+=`), limitMs);
  }

  /** Discards the text received so far. */
  skip(): void {
    this.#seen = this.#text.length;
  }

  close(): void {
    this.#socket.destroy();
  }

  #more(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #receive(data: Buffer): void {
    const bytes = Buffer.concat([this.#pending, data]);
    const plain: number[] = [];
    let at = 0;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte !== telnet.iac) {
        plain.push(byte);
        continue;
      }
      const length = this.#command(bytes.subarray(at));
      if (length === 0) break;
      if (bytes[at + 1] === telnet.iac) plain.push(telnet.iac);
      at += length - 1;
    }
    this.#pending = bytes.subarray(at);
    const text = (this.#begun + Buffer.from(plain).toString('latin1')).replace(escapeSequence, '');
    this.#begun = begunSequence.exec(text)?.[0] ?? '';
    this.#text += text.slice(0, text.length - this.#begun.length);
    this.#wake();
  }

  /** Length of the telnet command at the start of `bytes`, 0 while it is incomplete. Answers each option once. */
  #command(bytes: Buffer): number {
    const [, verb, option] = bytes;
    if (verb === undefined) return 0;
    if (verb === telnet.sb) {
      const end = bytes.indexOf(Buffer.from([telnet.iac, telnet.se]));
      return end < 0 ? 0 : end + 2;
    }
    if (verb < telnet.will || verb === telnet.iac) return 2;
    if (option === undefined) return 0;
    const isRequest = verb === telnet.do || verb === telnet.will;
    if (isRequest && !this.#answered.has(`${verb} ${option}`)) {
      this.#answered.add(`${verb} ${option}`);
      // We accept every option but echo, which is the server's.
      const agree = accepted.has(option) && !(verb === telnet.do && option === 1);
      const [yes, no] = verb === telnet.do ? [telnet.will, telnet.wont] : [telnet.do, telnet.dont];
      this.#socket.write(Buffer.from([telnet.iac, agree ? yes : no, option]));
    }
    return 3;
  }
}
