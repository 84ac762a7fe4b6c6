/** Interfaces of the compute that drivers get. */
import type { ProbeLimits } from '../../fabric/client.ts';
import type {
  AddressEntry,
  FabricCapabilities,
  PcProbe,
  PcReport,
  PcSpec,
  ProbeAnswer,
  SwitchStats,
  TrafficFigures,
  TrafficSpec,
} from '../../fabric/protocol.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import type { Settings } from '../../schema/settings.ts';
import type { ImageStore } from './images.ts';
import type { LinkNamespace } from './link-namespace.ts';

/** The fabric's requests about its switches, by their id. */
export interface FabricSwitches {
  addresses(id: string): Promise<AddressEntry[]>;
  forgetAddresses(id: string): Promise<void>;
  switchStats(ids: string[]): Promise<SwitchStats[]>;
  readonly traffic: {
    start(flow: TrafficSpec): Promise<TrafficFigures | null>;
    /** Null: there is no such flow. */
    read(id: string): Promise<TrafficFigures | null>;
    remove(id: string): Promise<void>;
  };
}

/** PCs inside the fabric. Each method may throw `fabric_unavailable`. */
export interface FabricPcs {
  /** Makes a PC unless it exists; answers how it is. */
  applyPc(pc: PcSpec): Promise<PcReport>;
  removePc(id: string): Promise<void>;
  /** Everything of a PC, with which another one continues; null: it does not run. */
  pcState(id: string): Promise<unknown>;
  /** The signal ends the probe. Null: the PC does not run. */
  probePc(id: string, probe: PcProbe, limits: ProbeLimits): Promise<ProbeAnswer | null>;
  /** Calls back when the PC has other settings, or has ended by itself; one listener for each PC. Returns how to stop that. */
  onPc(id: string, listener: (report: PcReport) => void): () => void;
  /** Control socket of the fabric, where consoles of PCs are reached. */
  readonly socketPath: string;
}

/** The fabric's requests about the paths of frames on this host. */
export interface FabricPaths {
  /** @throws fabric_unavailable */
  capabilities(): Promise<FabricCapabilities>;
  /** Ports can be in the namespace that this process holds. @throws fabric_unavailable, and what the fabric says */
  useNamespace(holder: number): Promise<void>;
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
  readonly pcs: FabricPcs;
  readonly fabric: FabricPaths;
  readonly linkNamespace: LinkNamespace;
  /** Writes to the server's log; never shown to clients. */
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): void;
}
