/**
 * Registry of the owners of this compute's TCP and UDP ports. The console range's pool is the registry of all TCP ports: a VNC port is
 * taken in both pools, as the two ranges may overlap.
 */
import { fault } from '../../api/faults.ts';
import { PortPool } from '../../lib/port-pool.ts';
import type { ConsoleType } from '../../schema/node.ts';
import type { Settings } from '../../schema/settings.ts';

export class Ports {
  readonly tcp: PortPool;
  readonly udp: PortPool;
  readonly #vnc: PortPool;

  /**
   * `offsets`: where the ports of telnet consoles and the UDP ports begin. They are bound only while their nodes run, so two servers on one
   * machine that began at the same one would give out the same ports.
   */
  constructor(server: Settings['Server'], consoleHost: string, offsets: { tcp?: number; udp?: number } = {}) {
    const pool = (first: number, last: number, protocol: 'tcp' | 'udp', offset = 0) =>
      new PortPool({ first, last, protocol, host: consoleHost, offset });
    this.tcp = pool(server.console_start_port_range, server.console_end_port_range, 'tcp', offsets.tcp);
    this.#vnc = pool(server.vnc_console_start_port_range, server.vnc_console_end_port_range, 'tcp');
    this.udp = pool(server.udp_start_port_range, server.udp_end_port_range, 'udp', offsets.udp);
  }

  /** The wanted port when it can be had, else another; null for consoles that need none. */
  async takeConsole(type: ConsoleType, wanted?: number | null): Promise<number | null> {
    if (type === 'none') return null;
    if (type === 'vnc') return this.#takeVnc(wanted);
    const port = await this.tcp.take(wanted);
    if (port === undefined) throw exhausted('console', this.tcp);
    return port;
  }

  /** Registers again a port of before the server was started; a process may be listening on it already. False when it has an owner. */
  reserveConsole(type: ConsoleType, port: number): boolean {
    if (!this.tcp.reserve(port)) return false;
    if (type === 'vnc') this.#vnc.reserve(port);
    return true;
  }

  releaseConsole(port: number | null): void {
    if (port === null) return;
    this.tcp.release(port);
    this.#vnc.release(port);
  }

  async takeUdp(): Promise<number> {
    const port = await this.udp.take();
    if (port === undefined) throw exhausted('UDP', this.udp);
    return port;
  }

  async #takeVnc(wanted?: number | null): Promise<number> {
    const passed: number[] = [];
    try {
      for (;;) {
        const port = await this.#vnc.take(wanted);
        if (port === undefined) throw exhausted('VNC', this.#vnc);
        if (this.tcp.reserve(port)) return port;
        passed.push(port);
      }
    } finally {
      for (const port of passed) this.#vnc.release(port);
    }
  }
}

function exhausted(what: string, pool: PortPool): Error {
  return fault('ports_exhausted', { what, first: pool.range.first, last: pool.range.last });
}
