/** What drivers are given of the compute they work for. */
import type { PortPool } from '../lib/port-pool.ts';
import type { Settings } from '../schema/settings.ts';
import type { ImageStore } from './images.ts';

export interface Host {
  /** Read at use, so that a change of the configuration takes effect at the next start. */
  readonly settings: Settings;
  readonly images: ImageStore;
  /** UDP ports of links and of emulators that speak datagrams. */
  readonly udpPorts: PortPool;
  /** TCP ports of consoles, and of emulators that offer their console over TCP. */
  readonly tcpPorts: PortPool;
  /** For the server's log; never shown to clients. */
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): void;
}
