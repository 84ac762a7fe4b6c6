/**
 * The network namespace that interfaces are in, and how this process reaches it: its own, which is the host's, or the server's link
 * namespace. That one is known by a process in it, its holder, whose mount namespace has a `/sys` of that network.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { enterWords } from '../../process/enter-namespaces.ts';
import type { Native, TapOptions } from './native.ts';
import { TunHelper } from './tun-helper.ts';

export type PlaceName = 'host' | 'links';

export interface SentFrames {
  readonly sent: number;
  readonly dropped: number;
}

/** Columns of transmitted frames, behind the name. @see proc_net_dev(5) */
const [sentColumn, droppedColumn] = [9, 11];

export class InterfacePlace {
  readonly name: PlaceName;
  /** Process id of the holder; undefined in this process's own namespace, and before the link namespace is known. */
  #holder: number | undefined;
  /** Descriptor of the link namespace; it stays while this is open, also without a process in it. */
  #namespace: number | undefined;
  #helper: TunHelper | undefined;

  constructor(name: PlaceName) {
    this.name = name;
  }

  /** Whether interfaces can be there. */
  get isKnown(): boolean {
    return this.name === 'host' || this.#holder !== undefined;
  }

  get holder(): number | undefined {
    return this.#holder;
  }

  /** The descriptor of a TAP interface there, or an errno, negative. */
  openTap(native: Native, name: string, options: TapOptions): number | Promise<number> {
    if (this.#helper === undefined) return native.openTap(name, { ...options, namespace: this.#namespace });
    return this.#helper.open().then((device) => native.openTap(name, { ...options, device }));
  }

  /** Makes known who holds the link namespace now. Throws where there is no such process. */
  use(holder: number, native: Native): void {
    const namespace = native.openNamespace(`/proc/${holder}/ns/net`);
    if (namespace < 0) throw new Error(`the link namespace of process ${holder} cannot be opened`);
    if (this.#namespace !== undefined) native.close(this.#namespace);
    this.#namespace = namespace;
    this.#holder = holder;
    this.#helper?.close();
    if (process.getuid?.() !== 0) this.#helper = new TunHelper(() => this.enter, native);
  }

  /** Words that bring a command there, before its own. */
  get enter(): readonly string[] {
    const holder = this.#holder;
    return holder === undefined ? [] : enterWords(`/proc/${holder}/ns`);
  }

  /** Folder with an entry for each interface. @see sysfs-class-net of the kernel's ABI documents */
  get interfaces(): string {
    return this.#holder === undefined ? '/sys/class/net' : `/proc/${this.#holder}/root/sys/class/net`;
  }

  /** Frames that each interface has sent, and those that it dropped instead. Rejects when the counters cannot be read. */
  async readSent(): Promise<Map<string, SentFrames>> {
    const text = await readFile(this.#holder === undefined ? '/proc/net/dev' : `/proc/${this.#holder}/net/dev`, 'latin1');
    return new Map(
      Array.from(text.matchAll(/^\s*(\S+):(.*)$/gm), ([, name = '', figures = '']) => {
        const columns = figures.trim().split(/\s+/).map(Number);
        return [name, { sent: columns[sentColumn] ?? 0, dropped: columns[droppedColumn] ?? 0 }];
      }),
    );
  }

  /** A figure of an interface, such as `ifindex`; flags are hexadecimal. Undefined when it cannot be read. */
  readFigure(interfaceName: string, figure: string): number | undefined {
    try {
      return Number(readFileSync(`${this.interfaces}/${interfaceName}/${figure}`, 'latin1'));
    } catch {
      return undefined;
    }
  }
}

/** The two namespaces in which a fabric has interfaces. */
export interface InterfacePlaces {
  readonly host: InterfacePlace;
  readonly links: InterfacePlace;
}
