/**
 * The telnet layer of a console connection, without I/O: takes negotiation out of what arrives, says what to answer, and doubles
 * 0xff in what is sent. Pieces may be split anywhere. Sources: RFC 854 (commands), RFC 1143 (no loops), RFC 856 (binary).
 *
 * Theory of operation: an option is answered when its state changes and never again, so two ends that both answer everything cannot
 * keep each other busy. Of subnegotiations the window size (RFC 1073) is decoded; others are swallowed, and nothing of them is
 * kept.
 */
import type { TerminalSize } from '../../emulators/driver.ts';

const SE = 240;
const AYT = 246;
const SB = 250;
const WILL = 251;
const WONT = 252;
const DO = 253;
const DONT = 254;
const IAC = 255;

const telnetOptions = { binary: 0, echo: 1, suppressGoAhead: 3, windowSize: 31 } as const;
const { binary, echo, suppressGoAhead, windowSize } = telnetOptions;

/** First bytes of a console to a client: WILL ECHO, WILL SUPPRESS-GO-AHEAD, WILL BINARY, DO BINARY. */
export const offers: Uint8Array = Uint8Array.of(IAC, WILL, echo, IAC, WILL, suppressGoAhead, IAC, WILL, binary, IAC, DO, binary);

/** The first bytes of a console whose terminal has a size: the offers, and DO NAWS. Source: GNS3's consoles of Docker nodes. */
export const offersWithSize: Uint8Array = Uint8Array.of(...offers, IAC, DO, windowSize);

/** A subnegotiation longer than this was never one: what follows is data again. */
const maxSubnegotiation = 512;
/** Length of a window size. */
const sizeBytes = 4;

export interface TelnetRole {
  /** Options this end performs (answers WILL to DO), and those it has offered already (a DO is then the answer). */
  readonly performs: readonly number[];
  readonly offered: readonly number[];
  /** Options the other end may perform (answers DO to WILL), and those it was asked for already. */
  readonly accepts: readonly number[];
  readonly asked: readonly number[];
}

/**
 * We are the server of a client. DO SUPPRESS-GO-AHEAD is answered once although it was offered, because clients of the
 * GNS3 server are used to that.
 */
export const towardsClient: TelnetRole = {
  performs: [echo, suppressGoAhead, binary],
  offered: [echo, binary],
  accepts: [binary],
  asked: [binary],
};
/** Telnet role towards clients of a console whose terminal has a size, which the client is asked for. */
export const towardsSizedClient: TelnetRole = {
  ...towardsClient,
  accepts: [binary, windowSize],
  asked: [binary, windowSize],
};
/** We are the only client of an emulator that speaks telnet itself. */
export const towardsEmulator: TelnetRole = {
  performs: [suppressGoAhead, binary],
  offered: [],
  accepts: [echo, suppressGoAhead, binary],
  asked: [],
};

interface Decoded {
  readonly data: Uint8Array;
  /** Bytes to send back unchanged; empty most of the time. */
  readonly reply: Uint8Array;
  /** Number of "are you there" requests of the other end. */
  readonly areYouThere: number;
  /** The last window size that the other end has sent, if it was asked for one. */
  readonly size?: TerminalSize;
}

type State = 'data' | 'command' | 'option' | 'sub' | 'sub-command';
const nothing = new Uint8Array(0);

export class TelnetDecoder {
  readonly #role: TelnetRole;
  #state: State = 'data';
  /** WILL, WONT, DO or DONT, while its option is awaited. */
  #verb = 0;
  #subLength = 0;
  /** The first bytes of the subnegotiation, with 0xff undoubled: one more than those of a window size. */
  #sub: number[] = [];
  #size: TerminalSize | undefined;
  /** The last byte of data was CR: without BINARY, a NUL behind it is padding (RFC 854). */
  #afterReturn = false;
  /** Answers given so far for each option, so that none is given twice: DO/DONT side and WILL/WONT side. */
  readonly #ours = new Map<number, boolean>();
  readonly #theirs = new Map<number, boolean>();

  constructor(role: TelnetRole) {
    this.#role = role;
    for (const option of role.offered) this.#ours.set(option, true);
  }

  push(bytes: Uint8Array): Decoded {
    if (this.#state === 'data' && !this.#afterReturn && bytes.indexOf(IAC) < 0 && bytes.indexOf(0) < 0) {
      this.#afterReturn = bytes.at(-1) === 13;
      return { data: bytes, reply: nothing, areYouThere: 0 };
    }
    const data = new Uint8Array(bytes.length);
    const reply: number[] = [];
    let length = 0;
    let areYouThere = 0;
    for (const byte of bytes) {
      switch (this.#step(byte, reply)) {
        case 'data':
          data[length++] = byte;
          break;
        case 'there':
          areYouThere += 1;
          break;
      }
    }
    const size = this.#size;
    this.#size = undefined;
    const decoded = { data: data.subarray(0, length), reply: reply.length > 0 ? Uint8Array.from(reply) : nothing, areYouThere };
    return size ? { ...decoded, size } : decoded;
  }

  #step(byte: number, reply: number[]): 'data' | 'there' | undefined {
    switch (this.#state) {
      case 'data':
        return this.#data(byte);
      case 'command':
        return this.#command(byte);
      case 'option':
        this.#state = 'data';
        this.#negotiate(byte, reply);
        return undefined;
      case 'sub':
        this.#subLength += 1;
        if (byte === IAC) this.#state = 'sub-command';
        else if (this.#subLength >= maxSubnegotiation) this.#state = 'data';
        else this.#keepOfSub(byte);
        return undefined;
      case 'sub-command':
        this.#state = byte === SE ? 'data' : 'sub';
        if (byte === SE) this.#endSub();
        else if (byte === IAC) this.#keepOfSub(byte);
        return undefined;
    }
  }

  #keepOfSub(byte: number): void {
    if (this.#sub.length < sizeBytes + 2) this.#sub.push(byte);
  }

  /** RFC 1073: option, columns and rows, two bytes each; 0 means "not said". */
  #endSub(): void {
    const [option, ...bytes] = this.#sub;
    if (option !== windowSize || bytes.length !== sizeBytes || this.#theirs.get(windowSize) !== true) return;
    const view = Buffer.from(bytes);
    this.#size = { columns: view.readUInt16BE(0), rows: view.readUInt16BE(2) };
  }

  #data(byte: number): 'data' | undefined {
    if (byte === IAC) {
      this.#state = 'command';
      return undefined;
    }
    const padding = this.#afterReturn && byte === 0 && this.#theirs.get(binary) !== true;
    this.#afterReturn = byte === 13;
    return padding ? undefined : 'data';
  }

  #command(byte: number): 'data' | 'there' | undefined {
    this.#state = 'data';
    if (byte === IAC) {
      this.#afterReturn = false;
      return 'data';
    }
    if (byte === AYT) return 'there';
    if (byte === SB) {
      this.#state = 'sub';
      this.#subLength = 0;
      this.#sub = [];
    } else if (byte >= WILL) {
      this.#state = 'option';
      this.#verb = byte;
    }
    // NOP and the other commands of RFC 854 mean nothing to a console.
    return undefined;
  }

  #negotiate(option: number, reply: number[]): void {
    const { performs, accepts, asked } = this.#role;
    if (this.#verb === DO || this.#verb === DONT) {
      const on = this.#verb === DO && performs.includes(option);
      // Refusing an option that was never on needs no answer; requesting it does.
      if (this.#ours.get(option) === on || (this.#verb === DONT && !this.#ours.has(option))) return;
      this.#ours.set(option, on);
      reply.push(IAC, on ? WILL : WONT, option);
    } else {
      const on = this.#verb === WILL && accepts.includes(option);
      const known = this.#theirs.get(option);
      if (known === on || (this.#verb === WONT && known === undefined)) return;
      this.#theirs.set(option, on);
      if (!(on && known === undefined && asked.includes(option))) reply.push(IAC, on ? DO : DONT, option);
    }
  }
}

/** Doubles each 0xff, as telnet wants data to be sent. Returns the given bytes when there is none. */
export function escapeTelnet(bytes: Uint8Array): Uint8Array {
  let count = 0;
  for (let at = bytes.indexOf(IAC); at >= 0; at = bytes.indexOf(IAC, at + 1)) count += 1;
  if (count === 0) return bytes;
  const escaped = new Uint8Array(bytes.length + count);
  let length = 0;
  for (const byte of bytes) {
    escaped[length++] = byte;
    if (byte === IAC) escaped[length++] = IAC;
  }
  return escaped;
}
