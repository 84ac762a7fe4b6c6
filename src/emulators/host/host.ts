/** What drivers are given of the compute they work for. */
import type { AddressEntry, FabricCapabilities, SwitchStats, TrafficFigures, TrafficSpec } from '../../fabric/protocol.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import type { Settings } from '../../schema/settings.ts';
import type { ImageStore } from './images.ts';

/** What can be asked of the fabric about the switches in it, by their id. */
export interface FabricSwitches {
  addresses(id: string): Promise<AddressEntry[]>;
  forgetAddresses(id: string): Promise<void>;
  switchStats(ids: string[]): Promise<SwitchStats[]>;
  startTraffic(flow: TrafficSpec): Promise<TrafficFigures | null>;
  /** Null: there is no such flow. */
  readTraffic(id: string): Promise<TrafficFigures | null>;
  removeTraffic(id: string): Promise<void>;
}

/** What can be asked of the fabric about the ways of frames on this host. */
export interface FabricPaths {
  /** @throws fabric_unavailable */
  capabilities(): Promise<FabricCapabilities>;
}

export interface Host {
  /** Read at use, so that a change of the configuration takes effect at the next start. */
  readonly settings: Settings;
  readonly images: ImageStore;
  /** UDP ports of links and of emulators that speak datagrams. */
  readonly udpPorts: PortPool;
  /** TCP ports of consoles, and of emulators that offer their console over TCP. */
  readonly tcpPorts: PortPool;
  readonly switches: FabricSwitches;
  readonly fabric: FabricPaths;
  /** For the server's log; never shown to clients. */
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): void;
}
