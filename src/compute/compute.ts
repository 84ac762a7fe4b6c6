/**
 * The compute: everything that runs emulators on this machine, behind its routes and its stream of events.
 *
 * Theory of operation. Its memory is a journal (`store.ts`); what was answered with 2xx is in it. Emulators and the fabric are
 * processes of their own that outlive it. At the start it therefore (1) notes which marked processes run, before a driver starts
 * any, reads its journal, and finds or starts the fabric; (2) reserves the ports in the journal; (3) adopts the emulators, all at
 * once; (4) syncs the fabric's links; (5) ends the noted processes that have no owner, and removes what was half copied. Only then it answers. At the end
 * it lets go of everything, or stops everything when asked to.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Route } from '../api/route.ts';
import { makeDrivers } from '../emulators/drivers.ts';
import type { Host } from '../emulators/host/host.ts';
import { ImageStore } from '../emulators/host/images.ts';
import { LinkNamespace } from '../emulators/host/link-namespace.ts';
import { removeUnownedTaps } from '../emulators/port-processes/machine-taps.ts';
import { removeUnowned } from '../emulators/port-processes/veth.ts';
import { BpfCompiler, tcpdumpCommand } from '../fabric/bpf-compile.ts';
import type { FabricClient } from '../fabric/client.ts';
import { bootId, bootMs } from '../lib/boot-clock.ts';
import { EventStream } from '../lib/event-stream.ts';
import type { Metric } from '../lib/metric.ts';
import { removeTree } from '../lib/remove-tree.ts';
import { endMarked, listMarked, type Marked, withoutOwner } from '../process/orphans.ts';
import type { Finding } from '../schema/finding.ts';
import type { Settings } from '../schema/settings.ts';
import { BusyCaptures } from './captures/busy-captures.ts';
import type { ComputeNotice, Context, MachineLease } from './context.ts';
import { fabricOf, removeUnownedPcs } from './fabric.ts';
import { consoleAccess } from './host/console-admission.ts';
import { HostFigures } from './host/host-figures.ts';
import { removeAbandoned } from './host/image-arrivals.ts';
import { ImageClaims } from './host/image-claims.ts';
import { Ports } from './host/ports.ts';
import { MovedPorts } from './links/moved-ports.ts';
import { localAddresses } from './links/nio.ts';
import { FabricWiring } from './links/wiring.ts';
import { Arrivals } from './nodes/arrivals.ts';
import { watchCaptures } from './nodes/capture-watch.ts';
import { Departures } from './nodes/departures.ts';
import { hasMemory } from './nodes/discard-memory.ts';
import { interfacesOf, pidsOf } from './nodes/emulator-facts.ts';
import { LeasedMachines } from './nodes/leased-machines.ts';
import { computeMetrics } from './nodes/metrics.ts';
import type { ComputeNode } from './nodes/node.ts';
import { removeHalfCopies } from './projects/copy.ts';
import { ProjectFreezes } from './projects/freeze.ts';
import { NodeFileLists } from './projects/node-file-lists.ts';
import { ComputeProjects } from './projects/projects.ts';
import { ResumedLinks } from './projects/resumed-links.ts';
import { WarmMachines } from './projects/warm-machines.ts';
import { computeRoutes } from './routes/routes.ts';
import { type LoadedNode, type RunRecord, Store, udpPortsOf, withoutStreams } from './store.ts';

/** The server's log, as pino has it. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

interface ComputeOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** Version of the server. */
  readonly version: string;
  /** Lists the features of this machine that can be used, and those that are missing. */
  readonly findings: () => Promise<readonly Finding[]>;
  /**
   * Lease deadline of a slice: `bootMs()` after which its guard ends, or has ended, all that runs. A host may run several slices, so the
   * consoles of each begin at a place of its own in their range.
   */
  readonly leaseDeadline?: number | undefined;
}

/** Time between SIGTERM and SIGKILL for processes without an owner; the server does not answer yet. */
const orphanGraceMs = 300;

export class HostCompute {
  readonly events: EventStream<ComputeNotice>;
  readonly host: Host;
  readonly #context: Context;
  readonly #projects: ComputeProjects;
  readonly #freezes: ProjectFreezes;
  readonly #resumedLinks: ResumedLinks;
  readonly #warmMachines: WarmMachines;
  readonly #departures: Departures;
  readonly #arrivals = new Arrivals();
  readonly #fabric: FabricClient;
  readonly #routes: Route[];
  #leased: LeasedMachines | undefined;

  private constructor(parts: {
    context: Context;
    events: EventStream<ComputeNotice>;
    host: Host;
    fabric: FabricClient;
    version: string;
    findings: ComputeOptions['findings'];
    isSlice: boolean;
  }) {
    const { context, events, host, isSlice, ...rest } = parts;
    const { Server, Qemu } = context.settings;
    this.#context = context;
    this.#fabric = rest.fabric;
    this.events = events;
    this.host = host;
    this.#projects = new ComputeProjects(context);
    const figures = new HostFigures(context.settings.Server.projects_path);
    this.#freezes = new ProjectFreezes(context, this.#projects, rest.fabric);
    this.#resumedLinks = new ResumedLinks(context, this.#projects, rest.fabric);
    this.#departures = new Departures(context);
    const movedPorts = new MovedPorts(rest.fabric, context.wiring, join(context.settings.runtimeDirectory, 'm'), (message) =>
      context.log('warning', message),
    );
    const moves = {
      departures: this.#departures,
      arrivals: this.#arrivals,
      // Only its controller has the password of a slice; users of a local server are those of this host.
      areOpenToApi: isSlice || Server.local || Qemu.allow_unsafe_options,
      movedPorts,
      files: new NodeFileLists(context, this.#projects),
    };
    this.#warmMachines = new WarmMachines(context, this.#projects);
    const ofProjects = { projects: this.#projects, freezes: this.#freezes, resumedLinks: this.#resumedLinks, moves };
    this.#routes = computeRoutes({ context, ...ofProjects, warmMachines: this.#warmMachines, events, host, figures, ...rest });
  }

  /** Resolves when all is as it was before, and ready to answer. */
  static async open({ settings, log: logger, version, findings, leaseDeadline }: ComputeOptions): Promise<HostCompute> {
    const { dataDirectory, runtimeDirectory, Server } = settings;
    const state = join(dataDirectory, 'state');
    await mkdir(Server.projects_path, { recursive: true });
    await mkdir(state, { recursive: true });
    // The folder holds the secrets of links.
    await chmod(state, 0o700);
    await mkdir(runtimeDirectory, { recursive: true, mode: 0o700 });
    const log: Host['log'] = (level, message) => logger[level === 'warning' ? 'warn' : level](message);
    const lease = leaseUntil(leaseDeadline);
    const fabric = fabricOf(runtimeDirectory, join(state, 'fabric.log'), lease, log);
    // Looked for before a process is started here.
    const [leftovers, store] = await Promise.all([
      listMarked(runtimeDirectory),
      Store.open(join(state, 'compute.journal'), (message) => log('error', message)),
    ]);
    fabric.connect().catch((error) => log('error', `the fabric: ${error}`));
    const consoles = consoleAccess(Server, (message) => log('warning', message));
    const ports = portsOf(settings, consoles.consoleHost, leaseDeadline !== undefined);
    const events = new EventStream<ComputeNotice>();
    const images = new ImageStore(() => settings);
    const linkNamespace = new LinkNamespace(settings, fabric, log);
    const ofFabric = { switches: fabric, pcs: fabric, fabric };
    const host: Host = { settings, images, linkNamespace, udpPorts: ports.udp, tcpPorts: ports.tcp, ...ofFabric, log };
    const context: Context = {
      settings,
      store,
      ports,
      wiring: new FabricWiring(fabric, localAddresses()),
      captures: new BusyCaptures(),
      imageClaims: new ImageClaims(),
      lease,
      drivers: makeDrivers(host),
      bpf: new BpfCompiler(),
      ...consoles,
      log,
      emit: (event) => events.emit(event),
    };
    const compute = new HostCompute({ context, events, host, fabric, version, findings, isSlice: leaseDeadline !== undefined });
    try {
      const opening = new Opening(context, host);
      if (leftovers.length > 0) await linkNamespace.adopt();
      const halfCopies = await opening.restore(compute.#projects);
      const synced = opening.tellFabric();
      // Where nothing ran there is no fabric to find and no link to sync: it starts in parallel.
      if (leftovers.length > 0) {
        await synced.then(() => removeUnownedPcs(fabric, log));
        await opening.endUnowned(leftovers, [fabric.pid, ...pidsIn(compute.#projects, linkNamespace)]);
      }
      // The processes that copied into these folders have ended.
      await removeHalfCopies(context, halfCopies);
      removeUnfinished(images, context.drivers);
      await watchPeers(context, compute.#projects);
      watchCaptures({ context, stats: (ids) => fabric.stats(ids), nodes: () => compute.#projects.allNodes() });
      return compute;
    } catch (error) {
      await compute.stop();
      throw error;
    }
  }

  /** Everything below `/v2/compute`. */
  routes(): Route[] {
    return this.#routes;
  }

  /** Returns the command that runs tcpdump for clients. */
  tcpdump = tcpdumpCommand;

  /** Machines of a slice, which follow its lease. */
  get leased(): LeasedMachines {
    this.#leased ??= new LeasedMachines(this.#context, () => this.#projects.allNodes());
    return this.#leased;
  }

  metrics(): Promise<Metric[]> {
    return computeMetrics(this.#projects.allNodes(), () => this.#fabric.load());
  }

  /** Ends the compute; with `stopNodes` also every emulator. The fabric keeps running while there is a link or a machine. */
  async stop({ stopNodes = false }: { stopNodes?: boolean } = {}): Promise<void> {
    this.#context.captures.close();
    this.#resumedLinks.close();
    await Promise.allSettled([this.#freezes.close(), this.#warmMachines.close()]);
    await Promise.allSettled([this.#departures.close(), this.#arrivals.close()]);
    const nodes = this.#projects.allNodes();
    // Nodes that always run serve machines: without a link or a machine they end with the server.
    const isMachine = (node: ComputeNode) => node.emulator !== undefined && !node.driver.kind.alwaysRunning;
    const endsAll = stopNodes || !(this.#context.wiring.hasLinks || nodes.some(isMachine));
    if (endsAll) await Promise.allSettled(nodes.map((node) => node.halt()));
    await Promise.allSettled(nodes.map((node) => node.release()));
    await this.#fabric[endsAll ? 'quit' : 'close']();
    await this.host.linkNamespace.close({ ends: endsAll });
    await this.host.images.close();
    await this.#context.store.close();
  }
}

/** Returns the process ids of the emulators and of the holder of the link namespace. */
function pidsIn(projects: ComputeProjects, { pid }: LinkNamespace): number[] {
  return [...(pid === undefined ? [] : [pid]), ...projects.allNodes().flatMap((node) => pidsOf(node.emulator))];
}

/**
 * Shows guests from now on when the nodes at the other ends of their links start and end, and first what happened while the server was
 * away.
 */
async function watchPeers({ wiring }: Context, projects: ComputeProjects): Promise<void> {
  const isAffected = (node: ComputeNode | undefined) =>
    node?.emulator !== undefined && node.project.record.replicate_link_state === true;
  wiring.peerChanges.subscribe((nodeId) => {
    const node = projects.findNode(nodeId);
    if (isAffected(node)) void node?.showLinkStates();
  });
  await Promise.all(projects.allNodes().map((node) => isAffected(node) && node.showLinkStates()));
}

/** The steps of a start. */
class Opening {
  readonly #context: Context;
  readonly #host: Host;

  constructor(context: Context, host: Host) {
    this.#context = context;
    this.#host = host;
  }

  /** @returns folders of copies that are incomplete */
  async restore(projects: ComputeProjects): Promise<readonly string[]> {
    const { store, log } = this.#context;
    const { projects: records, nodes, copies } = store.load();
    const loaded = projects.load(records, nodes);
    for (const [node, entry] of loaded) await this.#retake(node, entry);
    await Promise.all(
      [...loaded].map(([node, { run }]) => {
        if (run) return node.adopt(run).catch((error) => this.#adoptionFailed(node, run, error));
        return node.begin().catch((error) => log('error', `node ${node.name}: ${error}`));
      }),
    );
    await this.#noteEnds(loaded);
    await this.#removeOldSockets(projects.allNodes());
    await this.#removeOldInterfaces(projects.allNodes());
    return copies;
  }

  /**
   * Notes how the machines ended that do not run any more. A machine was lost if its host was booted since. On a slice it was lost if the
   * lease is over, or none of the slice's machines runs. One that the server stopped with its memory was, too, should the server have died
   * before it noted that. Otherwise it failed by itself. PCs are no programs and do not count.
   */
  async #noteEnds(loaded: ReadonlyMap<ComputeNode, LoadedNode>): Promise<void> {
    const ran = [...loaded].filter(([, { run }]) => run);
    const machines = ran.filter(([{ driver }]) => !driver.kind.alwaysRunning);
    const { lease } = this.#context;
    const isByLease =
      lease.isSlice && (bootMs() >= lease.deadline || !machines.some(([{ emulator }]) => pidsOf(emulator).length > 0));
    for (const [node, { run }] of ran) {
      if (node.status !== 'stopped') continue;
      const isMachine = machines.some(([one]) => one === node);
      // The memory of one that was sent to another compute is there.
      const hasEnded = isByLease || isOfEarlierBoot(run) || (!run?.departed && (await hasMemory(node)));
      const isLost = run?.interrupted === true || (isMachine && hasEnded);
      await node.endedAway(isLost ? 'lost' : 'failed');
    }
  }

  /** Never rejects: without a fabric, nodes run, and their links are made with the next change of a link. */
  async tellFabric(): Promise<void> {
    const { wiring, log } = this.#context;
    try {
      for (const failure of await wiring.sync()) log('error', `link ${failure.id} is not up: ${failure.error}`);
    } catch (error) {
      log('error', `the links could not be given to the fabric: ${error}`);
    }
  }

  /** Ports are the node's again, in use or not; NIOs are bound. Nothing is asked of the fabric yet. */
  async #retake(node: ComputeNode, { record, nios }: LoadedNode): Promise<void> {
    const { ports, wiring, log, settings } = this.#context;
    if (record.console !== null && !ports.reserveConsole(record.console_type, record.console)) {
      log('warning', `console port ${record.console} of node ${record.name} is given twice`);
    }
    for (const { adapter, port, nio } of nios) {
      for (const own of udpPortsOf(nio)) ports.udp.reserve(own);
      await wiring.bind({ nodeId: node.id, adapter, port }, settings.Server.link_streams ? nio : withoutStreams(nio));
    }
  }

  /** Ends the run of a node that could not be adopted. Its processes are ended with the other processes without an owner. */
  async #adoptionFailed(node: ComputeNode, { command_line }: RunRecord, error: unknown): Promise<void> {
    this.#context.log('error', `node ${node.name} could not be taken over: ${error}`);
    await this.#context.store
      .endRun(node.id, node.runs.endRecord('failed', { commandLine: command_line }))
      .catch((cause) => this.#context.log('error', `node ${node.name}: ${cause}`));
  }

  async endUnowned(leftovers: readonly Marked[], owned: readonly number[]): Promise<void> {
    const unowned = withoutOwner(leftovers, owned);
    if (unowned.length === 0) return;
    this.#context.log(
      'warning',
      `ending ${unowned.length} processes without an owner: ${unowned.map(({ pid }) => pid).join(', ')}`,
    );
    await endMarked(unowned, orphanGraceMs);
    // Processes that a start under way has made since the list was read belong to the session of a listed process.
    const begun = new Set(unowned.map(({ pid }) => pid));
    const later = (await listMarked(this.#context.settings.runtimeDirectory)).filter(({ sid }) => begun.has(sid));
    await endMarked(later, 0);
  }

  /** Removes the interfaces of containers that ended while no server ran. */
  async #removeOldInterfaces(nodes: readonly ComputeNode[]): Promise<void> {
    const owned = new Set(nodes.flatMap((node) => interfacesOf(node.emulator)));
    const [ofHost, ofMachines] = await Promise.all([
      removeUnowned(this.#context.settings.runtimeDirectory, owned),
      removeUnownedTaps(this.#host.linkNamespace, owned),
    ]);
    const removed = ofHost + ofMachines;
    if (removed > 0) this.#context.log('warning', `removed ${removed} network interfaces without an owner`);
  }

  async #removeOldSockets(nodes: readonly ComputeNode[]): Promise<void> {
    const { runtimeDirectory } = this.#context.settings;
    await removeTree(join(runtimeDirectory, 'm'));
    const folder = join(runtimeDirectory, 'n');
    const used = new Set(nodes.filter((node) => node.emulator).map((node) => node.view().runtimeDirectory));
    for (const name of await readdir(folder).catch(() => [])) {
      if (!used.has(join(folder, name))) await removeTree(join(folder, name));
    }
  }
}

/** Whether a run is from an earlier boot of the host. Runs by earlier versions do not note the boot and count as of this one. */
function isOfEarlierBoot(run: RunRecord | undefined): boolean {
  return run?.boot !== undefined && run.boot !== bootId();
}

function leaseUntil(deadline: number | undefined): MachineLease {
  const isSlice = deadline !== undefined;
  return {
    isSlice,
    isOver: false,
    isEnding: false,
    deadline: deadline ?? Number.POSITIVE_INFINITY,
    epoch: 0,
    begun: Promise.withResolvers(),
  };
}

function portsOf({ dataDirectory, Server }: Settings, consoleHost: string, isSlice: boolean): Ports {
  const offset = numberOf(dataDirectory);
  return new Ports(Server, consoleHost, { udp: offset, ...(isSlice && { tcp: offset }) });
}

/** Hashes a text to a number: the same text gives the same number, another text hardly ever does. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}

/** Removes uploads that were not finished, in the background. */
function removeUnfinished(images: ImageStore, drivers: Context['drivers']): void {
  for (const { kind } of drivers.values()) if (kind.images) void removeAbandoned(images.of(kind.images).directory);
  void images.removeLeftovers();
}
