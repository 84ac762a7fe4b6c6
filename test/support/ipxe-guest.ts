/**
 * A guest that needs no image, for tests. iPXE sits in QEMU's own network ROMs; with `graphics=off` its console is the first serial
 * port, Ctrl-B brings a prompt, and 32 MiB are plenty. Always under TCG.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isFault } from '../../src/api/faults.ts';
import type { Emulator, NodeView, Properties } from '../../src/emulators/driver.ts';
import type { Host } from '../../src/emulators/host/host.ts';
import { type QemuDriverOptions, qemuDriver } from '../../src/emulators/qemu/driver.ts';
import { qemuKind } from '../../src/emulators/qemu/kind.ts';
import type { Settings } from '../../src/schema/settings.ts';
import { Bench } from './contract-bench.ts';
import { sendSlowly } from './ipxe.ts';

export const ipxe: Properties = { ram: 32, boot_priority: 'n', options: '-machine accel=tcg,graphics=off' };

export function qemuBench(folder: string, firstPort: number, options: QemuDriverOptions = {}, settings: Changes = {}): Bench {
  const makeDriver = (host: Host) => qemuDriver(unaccelerated(host, settings), options);
  return new Bench({ kind: qemuKind, makeDriver, properties: ipxe, firstPort }, folder);
}

export interface Changes {
  readonly Qemu?: Partial<Settings['Qemu']>;
  readonly Server?: Partial<Settings['Server']>;
}

/** No probe guest in the background of these tests. */
function unaccelerated(host: Host, { Qemu, Server }: Changes): Host {
  const { settings } = host;
  const sections = { Qemu: { ...settings.Qemu, acceleration: 'off', ...Qemu }, Server: { ...settings.Server, ...Server } };
  return { ...host, settings: { ...settings, ...sections } };
}

/** A started node; the bench's folders belong to it alone. */
export async function startNode(
  bench: Bench,
  more: Properties = {},
  view: Partial<NodeView> = {},
): Promise<{ emulator: Emulator; view: NodeView }> {
  const made = { ...(await bench.view(await bench.create(more))), ...view };
  return { emulator: await bench.driver.start(made), view: made };
}

/** Checks, for `assert.rejects`, that the error is this fault, with these words in its sentence. */
export const refused = (code: Parameters<typeof isFault>[1], words: RegExp) => (error: unknown) =>
  isFault(error, code) && words.test(error.message);

/** The serial console: types until something is shown or done. */
export class Terminal {
  readonly socket: Socket;
  shown = '';
  constructor(emulator: Emulator) {
    const source = emulator.console();
    assert.ok(source?.type === 'unix');
    this.socket = connect(source.path);
    // The machine may end while something is typed.
    this.socket.on('error', () => {});
    this.socket.on('data', (bytes) => {
      this.shown += bytes.toString('latin1');
    });
  }
  /** Types `text` every 200 ms until `pattern` appears in new output: typed characters may get lost. */
  async ask(text: string, pattern: RegExp): Promise<string> {
    const from = this.shown.length;
    const seen = Promise.withResolvers<void>();
    const look = () => pattern.test(this.shown.slice(from)) && seen.resolve();
    this.socket.on('data', look);
    await this.typeUntil(text, seen.promise).finally(() => this.socket.off('data', look));
    return this.shown.slice(from);
  }

  /**
   * Types a command at the prompt until `pattern` appears in new output, for at most 60 s. Lines that follow each other too soon mix in a
   * guest that gets too little of a busy host. What lost characters left of an earlier line is erased first (Ctrl-U).
   */
  async command(line: string, pattern: RegExp): Promise<string> {
    const from = this.shown.length;
    const limit = performance.now() + 60_000;
    while (performance.now() < limit) {
      await sendSlowly({ send: (character) => void this.socket.write(character) }, `\x15\x15${line}\r`);
      const until = performance.now() + 3000;
      while (performance.now() < until && !pattern.test(this.shown.slice(from))) await pause(20);
      if (pattern.test(this.shown.slice(from))) return this.shown.slice(from);
    }
    throw new Error(`only shown: ${this.shown.slice(from)}`);
  }

  /** Types `text` every 200 ms until `done`, for at most 60 s. */
  async typeUntil(text: string, done: Promise<unknown>): Promise<void> {
    const from = this.shown.length;
    const late = Promise.withResolvers<never>();
    const typing = setInterval(() => this.socket.write(text), 200);
    const limit = setTimeout(() => late.reject(new Error(`only shown: ${this.shown.slice(from)}`)), 60_000);
    try {
      await Promise.race([done, late.promise]);
    } finally {
      clearInterval(typing);
      clearTimeout(limit);
    }
  }
}
