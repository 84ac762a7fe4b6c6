/** A PC inside the fabric: a small host with one Ethernet port and a console, driven by frames, input and its clock. It does no I/O. */
import { onesSum } from '../ports/ones-sum.ts';
import type { PcOptions, ProbeAnswer } from './pc-options.ts';
import type { PcProbe, PcSettings, PcState } from './pc-shapes.ts';

const banner = "Press '?' to get help.\r\n";

export class Pc {
  readonly #options: PcOptions;
  readonly #mac: Uint8Array;
  #settings: PcSettings;
  #line = '';
  #isClosed = false;

  constructor(options: PcOptions) {
    this.#options = options;
    this.#mac = Uint8Array.from(options.mac.split(':'), (digits) => Number.parseInt(digits, 16));
    this.#settings = options.settings ?? { name: options.name, mtu: 1500, dns: [] };
    this.#write(banner);
    this.#prompt();
  }

  /** Continues where `state` was taken. @throws Error when the state is not valid */
  static restore(state: PcState, options: PcOptions): Pc {
    return new Pc({ ...options, mac: state.mac, settings: state.settings });
  }

  /** Takes an Ethernet frame without its checksum. The memory is the caller's again afterwards. */
  receive(frame: Uint8Array): void {
    const own = this.#settings.ip4?.address.split('.').map(Number);
    if (this.#isClosed || !own || frame.length < 34) return;
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
    const isMine = (at: number) => own.every((byte, index) => frame[at + index] === byte);
    const type = view.getUint16(12);
    if (type === 0x0806 && frame.length >= 42 && view.getUint16(20) === 1 && isMine(38)) {
      const reply = new Uint8Array(frame.subarray(0, 42));
      reply.set(frame.subarray(6, 12), 0);
      reply.set(this.#mac, 6);
      reply[21] = 2;
      reply.set(this.#mac, 22);
      reply.set(own, 28);
      reply.set(frame.subarray(22, 32), 32);
      this.#options.send(reply);
    } else if (type === 0x0800 && frame[14] === 0x45 && frame[23] === 1 && isMine(30) && frame[34] === 8) {
      const end = 14 + view.getUint16(16);
      if (end < 42 || end > frame.length) return;
      const reply = new Uint8Array(frame.subarray(0, end));
      reply.set(frame.subarray(6, 12), 0);
      reply.set(this.#mac, 6);
      reply.set(frame.subarray(30, 34), 26);
      reply.set(frame.subarray(26, 30), 30);
      reply[34] = 0;
      reply[36] = 0;
      reply[37] = 0;
      const out = new DataView(reply.buffer);
      out.setUint16(36, ~onesSum(out, 34, end) & 0xffff);
      this.#options.send(reply);
    }
  }

  /** Takes what a user or a program types, any bytes. */
  input(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#isClosed) return;
      if (byte === 13) {
        this.#write('\r\n');
        this.#run(this.#line);
        this.#line = '';
        this.#prompt();
      } else if (byte >= 32) {
        this.#line += String.fromCharCode(byte);
        this.#write(String.fromCharCode(byte));
      }
    }
  }

  /** Runs the lines of a script, after those that run already. */
  runScript(text: string): void {
    for (const line of text.split(/\r?\n/)) this.#run(line);
  }

  /** Whether the port's link is there. */
  setCarrier(_up: boolean): void {}

  settings(): PcSettings {
    return this.#settings;
  }

  state(): PcState {
    return { version: 1, mac: this.#options.mac, settings: this.#settings };
  }

  /** Answers with numbers. Never rejects: a failure is part of the answer. */
  async probe(request: PcProbe): Promise<ProbeAnswer> {
    if (request.type === 'arp') return { type: 'arp', entries: [] };
    const { name, mtu, dns } = this.#settings;
    if (request.type === 'addresses')
      return { type: 'addresses', addresses: { name, mtu, dns, mac: this.#options.mac, linkLocal: 'fe80::' } };
    throw new Error(`the probe ${request.type} is not supported yet`);
  }

  close(): void {
    this.#isClosed = true;
  }

  #run(line: string): void {
    const [verb, ...words] = line.trim().split(/\s+/);
    const [, address, prefix = '24'] = /^([\d.]+)(?:\/(\d+))?$/.exec(words[0] ?? '') ?? [];
    if (verb === 'ip' && address) this.#settings = { ...this.#settings, ip4: { address, prefix: Number(prefix) } };
    else if (verb === 'set' && words[0] === 'pcname' && words[1]) this.#settings = { ...this.#settings, name: words[1] };
    else return;
    this.#options.onChanged?.();
  }

  #prompt(): void {
    this.#write(`\r\n${this.#settings.name}> `);
  }

  #write(text: string): void {
    this.#options.write(new TextEncoder().encode(text));
  }
}
