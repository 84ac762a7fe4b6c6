/** Polls the descendants of a server many times a second: records every program that ran, however briefly. */
import { readFileSync, readlinkSync } from 'node:fs';

const everyMs = 15;
/** Programs that a server starts: itself, emulators, the programs that confine them, tools that copy and convert. */
const expected =
  /\/(?:node|qemu-system-[\w-]+|qemu-img|bwrap|true|vpcs|cp|chown|passt|socat|tcpdump|cpulimit|setpriv|unshare|prlimit|mount|env|ip|mknod|nft|nice|nsenter|sleep|tc|chrt|ld-linux[^/]*) /;
/** Shells with our own scripts. */
const expectedShells =
  /\/(?:dash|bash|sh) (?:sh launch |sh -e -c mount -t sysfs |sh -c : <> \/dev\/net\/tun|sh -c (?:while :; do 'setpriv'|while \[ \$# -gt 0)|\/bin\/(?:ba)?sh \S*\/ldd )/;

export class ChildWatch {
  readonly #pid: () => number;
  readonly #foreign = new Set<string>();
  /** The file that a process ran when its words were looked at. */
  readonly #known = new Map<string, string>();
  #count = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: () => number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(this.#pid()), everyMs);
    this.#timer.unref();
  }

  /** Number of times that a child was seen. */
  get count(): number {
    return this.#count;
  }

  /** Programs that no server starts, since the last call. */
  problems(): string[] {
    const problems = [...this.#foreign];
    this.#foreign.clear();
    return problems.map((program) => `${program} ran: no server starts it`);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(pid: number): void {
    for (const child of read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)) {
      const file = target(`/proc/${child}/exe`);
      this.#count += 1;
      this.#look(Number(child));
      if (this.#known.get(child) === file) continue;
      const program = `${file} ${read(`/proc/${child}/cmdline`).replaceAll('\0', ' ').slice(0, 300)}`;
      // A process that begins or ends has no program or no command line; one that becomes another program, the file of one and the words of the other.
      if (!/^\/\S+ \S/.test(program) || target(`/proc/${child}/exe`) !== file) continue;
      if (expected.test(program)) this.#known.set(child, file);
      else if (!expectedShells.test(program)) this.#foreign.add(program);
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

function target(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
