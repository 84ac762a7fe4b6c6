/** A compute as the controller knows it: its address, its connection, its load. */

import type { Transport } from '../../api/transport.ts';
import type { ComputeApi } from '../../compute/api.ts';
import type { ComputeObject, LinkFeature } from '../../schema/compute.ts';
import { canonical } from '../model/canonical.ts';
import type { ComputeEntry } from '../model/topology.ts';
import type { Usage } from './usage.ts';

/** The typed client of a compute, whose table of calls is derived from the compute's routes. */
export type ComputeTransport = Transport<ComputeApi>;

/** Stored fields of a compute. */
export interface ComputeRecord extends ComputeEntry {
  readonly user: string | null;
  readonly password: string | null;
}

/** The compute of this process. */
export const localComputeId = 'local';

/** Hosts that mean the machine itself. */
export const ownHosts = /^(127\.|0\.0\.0\.0$|::1?$|localhost$)/;

export class RegisteredCompute {
  #record: ComputeRecord;
  #transport: ComputeTransport;
  #usage: Usage | null = null;
  #object: Readonly<ComputeObject> | undefined;
  #consoleHost: string;
  #fenced: string | null = null;
  #epoch: number | null = null;

  constructor(record: ComputeRecord, transport: ComputeTransport, consoleHost = record.host) {
    this.#record = record;
    this.#transport = transport;
    this.#consoleHost = consoleHost;
  }

  get id(): string {
    return this.#record.compute_id;
  }

  get isLocal(): boolean {
    return this.id === localComputeId;
  }

  /** Whether the compute is on this machine: it is reached through the loopback interface. */
  get isHere(): boolean {
    return ownHosts.test(this.#record.host);
  }

  /** A stock GNS3 compute, as far as it has answered: only computes of ours say whether they have streams. */
  get isStock(): boolean {
    const { version, link_streams } = this.#transport.state.capabilities;
    return version !== null && link_streams === undefined;
  }

  /** Numbers of its nodes can begin elsewhere than at 0. */
  get hasNumberRanges(): boolean {
    return this.#transport.state.capabilities.number_ranges === true;
  }

  /** Running machines can leave it and come to it. */
  get hasLiveMoves(): boolean {
    return this.#transport.state.capabilities.live_moves === true;
  }

  /** The streams of machines that leave or come can be authenticated there. */
  get hasSealedMoves(): boolean {
    return this.#transport.state.capabilities.sealed_moves === true;
  }

  /** Machines with offloads of the kernel can continue there. */
  get hasMachineTaps(): boolean {
    return this.#transport.state.capabilities.machine_taps === true;
  }

  /** Whether the compute records by which start its nodes run, and how their last runs ended. */
  get hasNodeRuns(): boolean {
    return this.#transport.state.capabilities.node_runs === true;
  }

  /** The compute removes machines and files of a project that was rewound since. */
  get hasIncarnations(): boolean {
    return this.#transport.state.capabilities.incarnations === true;
  }

  /** Images can be sent to it piece by piece, and other computes can read those that it has. */
  get hasImageTransfers(): boolean {
    return this.#transport.state.capabilities.image_transfers === true;
  }

  /** Links to other computes can go over TCP there. */
  get hasLinkStreams(): boolean {
    return this.#transport.state.capabilities.link_streams === true;
  }

  hasLinkFeature(feature: LinkFeature): boolean {
    return this.#transport.state.capabilities.link_features?.includes(feature) ?? false;
  }

  /** Encryption of links over TCP at this compute; undefined: none. */
  get linkEncryption(): 'preferred' | 'required' | undefined {
    return this.#transport.state.capabilities.link_encryption;
  }

  /** Whether this is a slice without a connection: its pending work is done when it reconnects. */
  get isAwaited(): boolean {
    return this.epoch !== null && !this.#transport.state.connected;
  }

  /** A slice that has no lease: nothing of it runs. */
  get isFenced(): boolean {
    return this.#fenced !== null;
  }

  /** Epoch of the compute's lease; null without a lease, as for computes registered by hand. */
  get epoch(): number | null {
    return this.#epoch;
  }

  set epoch(epoch: number | null) {
    this.#epoch = epoch;
    this.#transport.setEpoch?.(epoch);
  }

  get record(): ComputeRecord {
    return this.#record;
  }

  get transport(): ComputeTransport {
    return this.#transport;
  }

  /** Where clients find the consoles of its nodes; may be `0.0.0.0` or `::`, which they replace by the controller's address. */
  get consoleHost(): string {
    return this.#consoleHost;
  }

  /** Entry of the compute in project files; undefined for the local compute. */
  get entry(): ComputeEntry | undefined {
    const { user: _user, password: _password, ...entry } = this.#record;
    return this.isLocal ? undefined : canonical(entry);
  }

  /** The object of the API, frozen. */
  get object(): Readonly<ComputeObject> {
    const { password: _password, ...record } = this.#record;
    const { connected, lastError } = this.#transport.state;
    // A matter between controller and compute.
    const {
      link_features: _features,
      link_streams: _streams,
      link_encryption: _encryption,
      number_ranges: _ranges,
      live_moves: _moves,
      sealed_moves: _sealed,
      machine_taps: _taps,
      node_runs: _runs,
      incarnations: _incarnations,
      image_transfers: _transfers,
      resources: _resources,
      ...capabilities
    } = this.#transport.state.capabilities;
    this.#object ??= canonical<ComputeObject>({
      ...record,
      capabilities,
      connected,
      last_error: lastError,
      cpu_usage_percent: connected ? (this.#usage?.cpu_usage_percent ?? null) : null,
      memory_usage_percent: connected ? (this.#usage?.memory_usage_percent ?? null) : null,
    });
    return this.#object;
  }

  /** Whether the figures are others than before. */
  setUsage(usage: Usage): boolean {
    const isSame =
      this.#usage?.cpu_usage_percent === usage.cpu_usage_percent && this.#usage.memory_usage_percent === usage.memory_usage_percent;
    this.#usage = usage;
    if (!isSame) this.#object = undefined;
    return !isSame;
  }

  /** The address or the transport is another one now. */
  replace(record: ComputeRecord, transport: ComputeTransport): void {
    this.#record = record;
    this.#transport = transport;
    if (!this.isLocal) this.#consoleHost = record.host;
    this.#object = undefined;
    transport.hold?.(this.#fenced);
    transport.setEpoch?.(this.#epoch);
  }

  /** Fences the compute after it lost its lease: requests to it fail for this reason until it has a new lease (null). */
  fence(reason: string | null): void {
    this.#fenced = reason;
    this.#transport.hold?.(reason);
  }

  /** The transport's state changed. */
  touch(): void {
    if (!this.#transport.state.connected) this.#usage = null;
    this.#object = undefined;
  }
}
