/**
 * The controller: projects, their nodes and links, and the computes these are on. It reaches computes through the compute API only.
 */
import { join } from 'node:path';
import { replySchemas } from '../api/local-transport.ts';
import { NotificationFeeds } from '../api/notification-feeds.ts';
import type { Stream } from '../api/route.ts';
import type { ComputeEvent } from '../api/transport.ts';
import { DiskFloor } from '../lib/disk-floor.ts';
import { EventStream } from '../lib/event-stream.ts';
import type { Log } from '../lib/log.ts';
import type { Metric } from '../lib/metric.ts';
import type { CaptureStopped } from '../schema/capture.ts';
import { applianceHosts, parseImageHosts } from '../schema/image-hosts.ts';
import type { ProjectDuplicate } from '../schema/project.ts';
import type { Settings } from '../schema/settings.ts';
import type { SnapshotFork } from '../schema/snapshot.ts';
import { Checkpoints } from './archive/checkpoints.ts';
import { type ExportWanted, exportProject } from './archive/export.ts';
import { forkSnapshot } from './archive/fork.ts';
import type { ImportOptions } from './archive/import.ts';
import { Snapshots } from './archive/snapshots.ts';
import { WarmTemplates } from './archive/warm-templates.ts';
import { Appliances } from './catalog/appliances.ts';
import { KeptSettings } from './catalog/kept-settings.ts';
import { Symbols } from './catalog/symbols.ts';
import { Templates } from './catalog/templates.ts';
import type { ComputeRecord, RegisteredCompute } from './computes/compute.ts';
import { Computes } from './computes/computes.ts';
import { ImageDownloads } from './computes/image-downloads.ts';
import { describeLocalCompute, type LocalCompute } from './computes/local-compute.ts';
import { RemoteTransport } from './computes/remote-transport.ts';
import { type Usage, UsageMeter } from './computes/usage.ts';
import type { ControllerContext } from './context.ts';
import type { NodeCopies } from './copies/node-copies.ts';
import { CaptureStore } from './live/captures/capture-store.ts';
import type { NodeInputs, Notice } from './live/host/project-context.ts';
import { DesktopClients } from './live/links/desktop-clients.ts';
import { canonical } from './model/canonical.ts';
import type { ComputeNodeObject } from './model/node.ts';
import type { Topology } from './model/topology.ts';
import type { ComputeWatch } from './projects/compute-watch.ts';
import { type Duplicated, duplicateProject } from './projects/duplicate.ts';
import { keepProjects } from './projects/keep-projects.ts';
import { controllerMetrics } from './projects/metrics.ts';
import type { KnownProject } from './projects/project.ts';
import { KnownProjects } from './projects/projects.ts';
import { Registry } from './projects/registry.ts';
import { Restores } from './projects/snapshot-restores.ts';
import { StagingFolders } from './projects/staging-folders.ts';
import type { LeavingSlices } from './relocation/leaving-slices.ts';
import { makeRelocation, type NodeRecords, openNodeRecords } from './relocation/make-relocation.ts';
import type { Placer } from './relocation/placer.ts';
import type { Relocation } from './relocation/relocation.ts';
import { Cluster } from './slices/cluster.ts';

interface ControllerOptions extends Omit<ControllerContext, 'stateDirectory'> {
  readonly compute: LocalCompute;
  /** Folder of the built-in appliances. Default: no appliances. */
  readonly appliancesFolder?: string;
  /** Ends the server as SIGTERM does; returns at once. */
  readonly end: () => void;
}

interface ControllerParts {
  /** Notices for listeners of the controller. */
  readonly notices: EventStream<Notice>;
  readonly computeEvents: EventStream<EventOfCompute>;
  /** Computes whose connection changed. */
  readonly computeStates: EventStream<RegisteredCompute>;
  readonly registry: Registry;
  readonly staging: StagingFolders;
  readonly captures: CaptureStore;
  readonly restores: Restores;
  readonly kept: KeptSettings;
  readonly nodeRecords: NodeRecords;
  readonly computes: Computes;
  readonly templates: Templates;
  readonly cluster: Cluster;
}

interface EventOfCompute {
  readonly compute: RegisteredCompute;
  readonly event: ComputeEvent;
}

/** GNS3's interval. Its desktop polls the computes when it is notified less often. */
const usageMs = 1_000;
/** The end of the server waits this long for remote computes, for which projects may be waiting. */
const closeMs = 1_000;
/** Time between the pings of a silent notification feed; GNS3's interval. */
const pingMs = 5_000;

export class Controller {
  readonly settings: Settings;
  readonly version: string;
  readonly log: Log;
  readonly kept: KeptSettings;
  readonly end: () => void;
  readonly desktops = new DesktopClients();
  /** Notices for listeners of the controller. */
  readonly notices: EventStream<Notice>;
  readonly #parts: ControllerParts;
  readonly #usage = new UsageMeter();
  readonly feeds = new NotificationFeeds<Notice>({
    silenceMs: pingMs,
    ping: () => this.#usage.read(),
    textOf: ({ action, event, seq }) => JSON.stringify({ action, event, seq }),
  });
  readonly computes: Computes;
  readonly cluster: Cluster;
  readonly placer: Placer;
  readonly copies: NodeCopies;
  readonly relocation: Relocation;
  readonly leavingSlices: LeavingSlices;
  readonly watch: ComputeWatch;
  readonly projects: KnownProjects;
  readonly snapshots: Snapshots;
  readonly checkpoints: Checkpoints;
  readonly templates: Templates;
  readonly warmTemplates: WarmTemplates;
  readonly symbols: Symbols;
  readonly appliances: Appliances;
  readonly imageDownloads: ImageDownloads;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: ControllerOptions, parts: ControllerParts) {
    this.notices = parts.notices;
    this.settings = options.settings;
    this.version = options.version;
    this.log = options.log;
    this.end = options.end;
    this.kept = parts.kept;
    this.#parts = parts;
    this.computes = parts.computes;
    this.templates = parts.templates;
    this.cluster = parts.cluster;
    const { templates, kept } = parts;
    this.warmTemplates = new WarmTemplates({ templates, computes: parts.computes, warn: (text) => options.log.warn(text) });
    const { Server } = options.settings;
    this.symbols = new Symbols(Server.symbols_path);
    const builtIn = Server.install_builtin_appliances ? options.appliancesFolder : undefined;
    this.appliances = new Appliances({ builtIn, own: Server.appliances_path }, options.log);
    this.imageDownloads = new ImageDownloads(
      () => imageHosts(Server.image_hosts, this.appliances),
      Server.upload_idle_timeout * 1000,
      new DiskFloor([options.settings.dataDirectory, Server.projects_path, Server.images_path], Server.min_free_bytes),
      Server.max_uploads_per_client,
    );
    const restoreFiles: NodeInputs['restoreFiles'] = (...given) => this.relocation.restoreFiles(...given);
    this.projects = new KnownProjects({
      computes: parts.computes,
      registry: parts.registry,
      captures: parts.captures,
      restores: parts.restores,
      nodeInputs: { configsPath: Server.configs_path, license: () => kept.iouLicense, restoreFiles },
      symbols: this.symbols,
      projectsPath: Server.projects_path,
      local: Server.local,
      autoClose: { graceMs: Server.auto_close_grace * 1000, evenRunning: Server.auto_close_running },
      version: options.version,
      log: options.log,
      reconciler: parts.nodeRecords.reconciler,
      notClosedOn: (compute, projectId) => this.watch.leftovers.failed(compute, projectId),
      closedOnLocal: (projectId) => this.watch.leftovers.closed(parts.computes.local, projectId),
      announce: (action, project) => {
        this.notices.emit({ action, event: project.object });
        this.checkpoints.follow(project);
        this.copies.follow(action, project);
      },
    });
    const moving = makeRelocation({ ...options, ...parts, projects: this.projects });
    this.placer = moving.placer;
    this.copies = moving.copies;
    this.relocation = moving.relocation;
    this.leavingSlices = moving.leavingSlices;
    this.watch = moving.watch;
    parts.computeEvents.subscribe(({ compute, event }) => this.#pass(compute, event));
    parts.computeStates.subscribe((compute) => this.watch.changed(compute));
    const { computes, staging, restores } = parts;
    const limits = { floorBytes: Server.min_free_bytes, asArchives: Server.snapshot_archives };
    this.snapshots = new Snapshots({ computes, staging, restores, version: options.version, ...limits });
    this.checkpoints = new Checkpoints({ snapshots: this.snapshots, log: options.log });
  }

  /** Resolves when every known project is listed; those that were open are opened meanwhile, and requests for them wait. */
  static async open(options: ControllerOptions): Promise<Controller> {
    const { settings, log, version } = options;
    const { clear_credentials: clearCredentials, same_compute_version: sameVersion } = settings.Server;
    const stateDirectory = join(settings.dataDirectory, 'state');
    const context: ControllerContext = { settings, log, version, stateDirectory };
    const replies = replySchemas(options.compute.routes());
    const warn = (message: string) => log.error(message);
    const registry = await Registry.open(stateDirectory, settings.Server.projects_path, log);
    const [staging, captures, restores, kept, nodeRecords, local] = await Promise.all([
      StagingFolders.open(stateDirectory, log),
      CaptureStore.open(stateDirectory, warn),
      Restores.open(stateDirectory, log),
      KeptSettings.open(stateDirectory, warn),
      openNodeRecords(stateDirectory, log),
      describeLocalCompute(settings, options.compute),
    ]);
    const notices = new EventStream<Notice>();
    const computeEvents = new EventStream<EventOfCompute>();
    const computeStates = new EventStream<RegisteredCompute>();
    const makeTransport = (record: ComputeRecord) =>
      new RemoteTransport({ ...record, clearCredentials }, { version, sameVersion, warn: (text) => log.warn(text), replies });
    const computes = await Computes.open(context, local, makeTransport, {
      announce: (action, compute) => notices.emit({ action, event: compute.object }),
      onEvent: (compute, event) => computeEvents.emit({ compute, event }),
      onState: (compute) => computeStates.emit(compute),
    });
    const templates = await Templates.open(context, (action, template) => notices.emit({ action, event: template }));
    const onEnding = (compute: RegisteredCompute, isEnding: boolean) => controller.leavingSlices.onSliceEnding(compute, isEnding);
    const cluster = await Cluster.open(context, computes, onEnding);
    const streams = { notices, computeEvents, computeStates };
    const controller = new Controller(options, {
      ...streams,
      registry,
      staging,
      captures,
      restores,
      kept,
      nodeRecords,
      computes,
      templates,
      cluster,
    });
    await controller.warmTemplates.prune();
    await controller.projects.load();
    controller.watch.begin(computes.all());
    controller.#timer = setInterval(() => controller.#announceUsage(), usageMs).unref();
    controller.#announceUsage();
    return controller;
  }

  metrics(): Promise<Metric[]> {
    return controllerMetrics(this.projects.all());
  }

  /** The server listens here: the local compute's address. */
  async listening(url: string): Promise<void> {
    const { local } = this.computes;
    const { hostname: host, port, protocol } = new URL(url);
    const bare = host.replace(/^\[|\]$/g, '');
    const record: ComputeRecord = {
      ...local.record,
      host: bare,
      port: Number(port),
      protocol: protocol === 'https:' ? 'https' : 'http',
    };
    local.replace(canonical(record), local.transport);
    this.computes.changed(local);
    this.cluster.begin(url);
    this.copies.begin();
  }

  /** The server is about to end, and all nodes with it if `stopsNodes`. */
  keep(stopsNodes: boolean): Promise<void> {
    this.relocation.ends();
    return keepProjects(this.projects.all(), stopsNodes);
  }

  /** Closes everything and leaves nodes running. Nothing is written any more when it resolves: the next server may begin. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.copies.stop();
    for (const part of [this.checkpoints, this.watch.leftovers, this.imageDownloads]) part.close();
    await this.cluster.stop();
    await this.leavingSlices.close();
    await this.relocation.close();
    this.feeds.close();
    const released = Promise.allSettled(Array.from(this.projects.all(), (project) => project.release()));
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, closeMs);
    await Promise.race([released, enough]);
    clearTimeout(timer);
    await this.computes.close();
    await released;
    await this.projects.close();
    const { registry, staging, captures, restores, cluster } = this.#parts;
    for (const store of [cluster, registry, staging, captures, restores, this.kept, this.copies]) await store.close();
  }

  async duplicate(projectId: string, body: ProjectDuplicate): Promise<KnownProject> {
    const { settings, version, computes, projects } = this;
    const { project, ...place }: Duplicated = await duplicateProject(projects.get(projectId), body, {
      settings,
      version,
      computes,
      staging: this.#parts.staging,
      isKnown: (id) => projects.find(id) !== undefined,
      freeName: (base) => projects.freeName(base),
    });
    return projects.register(project, place);
  }

  /** New projects from a snapshot, opened. `taken`: content of one that is discarded; without its memory there are none. @throws snapshot_failed */
  async fork(projectId: string, snapshotId: string, wanted: SnapshotFork, taken?: Topology): Promise<KnownProject[]> {
    const { settings, version, computes, projects, snapshots } = this;
    const project = projects.get(projectId);
    const snapshot = await snapshots.find(project, snapshotId);
    const fork = async () => {
      const memory = await snapshots.memories.find(project, snapshot, { what: 'forked', isRequired: taken !== undefined });
      const options = { settings, version, computes, projects, staging: this.#parts.staging };
      return forkSnapshot({ project, snapshot, memory, taken }, wanted, options);
    };
    return snapshots.uses.during(snapshot.snapshot_id, () => project.whileThere(fork));
  }

  /** Forks a project in its current state, from a snapshot made for this purpose. */
  async forkNow(projectId: string, wanted: SnapshotFork): Promise<KnownProject[]> {
    const project = this.projects.get(projectId);
    const name = `fork ${new Date().toISOString().replaceAll(':', '-')}`;
    let taken: Topology | undefined;
    const snapshot = await this.snapshots.create(project, { name, memory: true }, (topology) => {
      taken = topology;
    });
    try {
      return await this.fork(projectId, snapshot.snapshot_id, wanted, taken);
    } finally {
      // Files of the snapshot are removed while the forks run already.
      await new Promise<void>((unlisted) => {
        this.snapshots
          .discard(project, snapshot, unlisted)
          .catch((error: unknown) => {
            this.log.warn({ err: error }, `the snapshot "${name}" of ${project.name} could not be deleted`);
          })
          .finally(unlisted);
      });
    }
  }

  export(projectId: string, wanted: ExportWanted): Promise<Stream> {
    return exportProject(this.projects.get(projectId), wanted, this.portableOptions());
  }

  /** A compute is no longer used: its projects are closed first. */
  async forgetCompute(computeId: string): Promise<void> {
    for (const project of await this.projects.openOn(computeId)) await project.close();
    await this.cluster.forget(computeId, () => this.computes.delete(computeId));
  }

  /** Passes on an event of a compute. Not its `node.deleted`: the controller announces that itself. */
  #pass(compute: RegisteredCompute, { action, event, project_id, run }: ComputeEvent): void {
    if (action === 'ping') {
      if (!compute.isLocal) this.#announceUsage(compute, event as Usage);
      return;
    }
    if (action === 'node.deleted') return;
    const projectId = (event as { project_id?: string } | null)?.project_id ?? project_id;
    if (action === 'node.updated') {
      this.#projectOf(projectId)?.report(event as ComputeNodeObject, compute, run);
      return;
    }
    if (action === 'capture.stopped') {
      const live = this.#projectOf(projectId)?.findLive();
      void live?.then((project) => project?.captures.ended(event as CaptureStopped)).catch(() => undefined);
      return;
    }
    const notice: Notice = { action, event };
    if (projectId === undefined) for (const project of this.projects.all()) project.notices.emit(notice);
    else this.#projectOf(projectId)?.notices.emit(notice);
  }

  /** Returns the parts that exports, imports and copies of projects work with. */
  portableOptions(): ImportOptions {
    const { settings, version, computes, projects } = this;
    const announce = (action: string, event: object) => this.notices.emit({ action, event });
    return { settings, version, computes, projects, staging: this.#parts.staging, announce };
  }

  #projectOf(projectId: string | undefined): KnownProject | undefined {
    return projectId === undefined ? undefined : this.projects.find(projectId);
  }

  #announceUsage(compute = this.computes.local, usage = this.#usage.read()): void {
    if (compute.setUsage(usage) || this.notices.listeners > 0) this.computes.changed(compute);
  }
}

/** Origins of a list as it is configured. */
async function imageHosts(list: string, appliances: Appliances): Promise<readonly string[]> {
  const origins = parseImageHosts(list).map((entry) => (entry === applianceHosts ? appliances.downloadHosts() : [entry]));
  return [...new Set((await Promise.all(origins)).flat())];
}
