/** Looks many times a second at the processes below a server: which programs ran, however short. */
import { readFileSync, readlinkSync } from 'node:fs';

const everyMs = 15;
/** What a server starts: itself, emulators, the tools that copy and convert. */
const expected = /\/(?:node|qemu-system-\w+|qemu-img|vpcs|cp|passt|socat|tcpdump|cpulimit|setpriv|unshare|nft)$/;

export class ChildWatch {
  readonly #pid: () => number;
  readonly #seen = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(pid: () => number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(this.#pid()), everyMs);
    this.#timer.unref();
  }

  /** Of the programs seen so far. */
  get count(): number {
    return this.#seen.size;
  }

  /** Programs that no server starts, since the last call. */
  problems(): string[] {
    const foreign = [...this.#seen].filter(([program]) => !expected.test(program));
    for (const [program] of foreign) this.#seen.delete(program);
    return foreign.map(([program, command]) => `${program} ran: ${command}`);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(pid: number): void {
    for (const child of read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)) {
      try {
        this.#seen.set(readlinkSync(`/proc/${child}/exe`), read(`/proc/${child}/cmdline`).replaceAll('\0', ' ').slice(0, 300));
      } catch {
        // It has ended meanwhile.
      }
      this.#look(Number(child));
    }
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
