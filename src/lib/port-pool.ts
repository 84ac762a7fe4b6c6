/**
 * Assigns TCP or UDP ports of a range to one owner each. A port is assigned only when it can be bound exclusively, on the given
 * host and on every address. The next port to try rotates through the range. So the cost does not grow with the number of assigned
 * ports, and a port that was just released is not the next one.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Ports that browsers refuse to open (WHATWG Fetch, "bad port"), within possible ranges. */
const browserBlocked = new Set([5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080]);

interface PortRange {
  readonly first: number;
  readonly last: number;
  readonly protocol: 'tcp' | 'udp';
  /** Address of the future listener. */
  readonly host: string;
  /** Number of ports at the start of the range that are skipped at first. */
  readonly offset?: number;
}

export class PortPool {
  readonly range: PortRange;
  readonly #taken = new Set<number>();
  #next: number;

  constructor(range: PortRange) {
    this.range = range;
    this.#next = range.first + ((range.offset ?? 0) % (range.last - range.first + 1));
  }

  /** Returns the assigned ports, ascending. */
  taken(): number[] {
    return [...this.#taken].sort((a, b) => a - b);
  }

  has(port: number): boolean {
    return this.#taken.has(port);
  }

  /**
   * Assigns the wanted port if it is free and within the range, else another; undefined when none is left. @throws when no file can
   * be opened
   */
  async take(wanted?: number | null): Promise<number | undefined> {
    if (wanted && this.#inRange(wanted) && (await this.#claim(wanted))) return wanted;
    const count = this.range.last - this.range.first + 1;
    for (let tried = 0; tried < count; tried++) {
      const port = this.#next;
      this.#next = port >= this.range.last ? this.range.first : port + 1;
      if (!browserBlocked.has(port) && (await this.#claim(port))) return port;
    }
    return undefined;
  }

  /** Marks a port as assigned to a process that already listens on it. False when the port has an owner. */
  reserve(port: number): boolean {
    if (this.#taken.has(port)) return false;
    this.#taken.add(port);
    return true;
  }

  release(port: number): void {
    this.#taken.delete(port);
  }

  #inRange(port: number): boolean {
    return port >= this.range.first && port <= this.range.last;
  }

  /** Marks the port before the test, so that two callers never get the same one. */
  async #claim(port: number): Promise<boolean> {
    if (!this.reserve(port)) return false;
    const { protocol, host } = this.range;
    let bindable = false;
    try {
      bindable = protocol === 'tcp' ? await canListen(port, host) : await canBind(port);
    } finally {
      if (!bindable) this.#taken.delete(port);
    }
    return bindable;
  }
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (hasNoFiles(error) ? reject(error) : resolve(false)));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Whether a port can be bound on every address: emulators' datagram sockets bind there, and another program's narrower socket would
 * take frames.
 */
function canBind(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createSocket({ type: 'udp4', reuseAddr: false });
    socket.once('error', (error) => {
      socket.close();
      if (hasNoFiles(error)) reject(error);
      else resolve(false);
    });
    socket.bind({ port, address: '0.0.0.0', exclusive: true }, () => socket.close(() => resolve(true)));
  });
}

/** Whether the process has no file descriptors left, which says nothing about the port. */
function hasNoFiles({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EMFILE' || code === 'ENFILE';
}
