/**
 * The fabric's client, from before it is there: a first start need not wait until the fabric's process answers, requests do. What
 * could not be started is tried again with the next request.
 */
import type { FabricPaths, FabricPcs, FabricSwitches, Host } from '../../emulators/host/host.ts';
import { FabricClient, type FabricPlace, type ProbeLimits } from '../../fabric/client.ts';
import type {
  AddressEntry,
  DirectionPlace,
  FabricCapabilities,
  FabricLinkStats,
  FabricLoad,
  FilterState,
  LinkFailure,
  LinkSpec,
  PcProbe,
  PcReport,
  PcSpec,
  ProbeAnswer,
  SwitchStats,
  TrafficFigures,
  TrafficSpec,
} from '../../fabric/protocol.ts';
import type { FabricLinks } from './wiring.ts';

export class LazyFabricClient implements FabricLinks, FabricPaths, FabricPcs, FabricSwitches {
  readonly #pcListeners = new Map<string, (report: PcReport) => void>();
  readonly #place: FabricPlace;
  readonly #log: Host['log'];
  readonly #mayRunPcs: () => boolean;
  #client: Promise<FabricClient> | undefined;

  /** `mayRunPcs`: false while the lease of a slice is over. */
  constructor(place: FabricPlace, log: Host['log'], mayRunPcs: () => boolean = () => true) {
    this.#place = place;
    this.#log = log;
    this.#mayRunPcs = mayRunPcs;
  }

  /** Finds or starts the fabric. @throws fabric_unavailable */
  connect(): Promise<FabricClient> {
    this.#client ??= FabricClient.connectOrSpawn(this.#place, this.#mayRunPcs).then(
      (client) => this.#watched(client),
      (error) => {
        this.#client = undefined;
        throw error;
      },
    );
    return this.#client;
  }

  async apply(links: LinkSpec[]): Promise<LinkFailure[]> {
    return (await this.connect()).apply(links);
  }

  async remove(ids: string[]): Promise<void> {
    await (await this.connect()).remove(ids);
  }

  async sync(links: LinkSpec[]): Promise<LinkFailure[]> {
    return (await this.connect()).sync(links);
  }

  async stats(ids: string[]): Promise<FabricLinkStats[]> {
    return (await this.connect()).stats(ids);
  }

  async load(): Promise<FabricLoad> {
    return (await this.connect()).load();
  }

  async capabilities(): Promise<FabricCapabilities> {
    return (await this.connect()).capabilities();
  }

  async useNamespace(holder: number): Promise<void> {
    await (await this.connect()).useNamespace(holder);
  }

  async switchStats(ids: string[]): Promise<SwitchStats[]> {
    return (await this.connect()).switchStats(ids);
  }

  async addresses(id: string): Promise<AddressEntry[]> {
    return (await this.connect()).addresses(id);
  }

  async forgetAddresses(id: string): Promise<void> {
    await (await this.connect()).forgetAddresses(id);
  }

  async learnAddresses(id: string, addresses: AddressEntry[]): Promise<void> {
    await (await this.connect()).learnAddresses(id, addresses);
  }

  async hold(ids: string[], leaseMs: number, pcs: string[]): Promise<void> {
    await (await this.connect()).hold(ids, leaseMs, pcs);
  }

  async release(ids: string[], pcs: string[]): Promise<void> {
    await (await this.connect()).release(ids, pcs);
  }

  async applyPc(pc: PcSpec): Promise<PcReport> {
    return (await this.connect()).applyPc(pc);
  }

  async removePc(id: string): Promise<void> {
    await (await this.connect()).removePc(id);
  }

  async retainPcs(): Promise<void> {
    await (await this.connect()).retainPcs();
  }

  async pcState(id: string): Promise<unknown> {
    return (await this.connect()).pcState(id);
  }

  async probePc(pc: string, probe: PcProbe, limits: ProbeLimits): Promise<ProbeAnswer | null> {
    return (await this.connect()).probePc(pc, probe, limits);
  }

  onPc(id: string, listener: (report: PcReport) => void): () => void {
    this.#pcListeners.set(id, listener);
    return () => {
      if (this.#pcListeners.get(id) === listener) this.#pcListeners.delete(id);
    };
  }

  get socketPath(): string {
    return this.#place.socketPath;
  }

  async unconnected(ids: string[]): Promise<string[]> {
    return (await this.connect()).unconnected(ids);
  }

  async saveFrames(path: string, directions: DirectionPlace[]): Promise<number> {
    return (await this.connect()).saveFrames(path, directions);
  }

  async loadFrames(path: string, directions: DirectionPlace[]): Promise<number> {
    return (await this.connect()).loadFrames(path, directions);
  }

  async filterStates(directions: DirectionPlace[]): Promise<FilterState[][]> {
    return (await this.connect()).filterStates(directions);
  }

  async continueFilters(directions: DirectionPlace[], states: FilterState[][]): Promise<void> {
    return (await this.connect()).continueFilters(directions, states);
  }

  async startTraffic(flow: TrafficSpec): Promise<TrafficFigures | null> {
    return (await this.connect()).startTraffic(flow);
  }

  async readTraffic(id: string): Promise<TrafficFigures | null> {
    return (await this.connect()).readTraffic(id);
  }

  async removeTraffic(id: string): Promise<void> {
    await (await this.connect()).removeTraffic(id);
  }

  /** Lets go of the fabric, or ends it. */
  async end(how: 'close' | 'quit'): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.[how]();
  }

  #watched(client: FabricClient): FabricClient {
    client.onPc((report) => this.#pcListeners.get(report.id)?.(report));
    client.onLost((reason) => this.#log('error', `the fabric was lost and is started again: ${reason}`));
    client.onRestored(({ failures, isNew, pcs }) => {
      if (isNew && pcs > 0) this.#log('warning', `${pcs} PCs run again with their addresses; what they were doing is lost`);
      for (const failure of failures) this.#log('error', `link ${failure.id} is not up again: ${failure.error}`);
    });
    return client;
  }
}
