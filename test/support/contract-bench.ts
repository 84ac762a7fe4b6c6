/** The place in which the tests of `contract.ts` start one node: a compute as far as drivers see it, in a folder of its own. */
import assert from 'node:assert/strict';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Driver, Emulator, NodeView, Properties } from '../../src/emulators/driver.ts';
import type { FabricPcs, Host } from '../../src/emulators/host/host.ts';
import { ImageStore } from '../../src/emulators/host/images.ts';
import { LinkNamespace } from '../../src/emulators/host/link-namespace.ts';
import type { Kind } from '../../src/emulators/kind.ts';
import { PortPool } from '../../src/lib/port-pool.ts';
import { listMarked } from '../../src/process/orphans.ts';
import { defaultSettings, type Settings } from '../../src/schema/settings.ts';
import { waitFor } from './wait-for.ts';

export interface BenchOptions {
  readonly kind: Kind;
  readonly makeDriver: (host: Host) => Driver;
  /** A creation request for a node that starts within a few seconds. */
  readonly properties: Properties;
  /** Ports of a TCP and of a UDP pool of these tests: 40 each from here on, not used by the tests of another kind. */
  readonly firstPort: number;
}

/** A compute as far as drivers see it, with everything below `folder`. */
export function contractHost(folder: string, firstPort: number, change: (settings: Settings) => Settings = (same) => same): Host {
  const sections = defaultSettings();
  sections.Server.projects_path = join(folder, 'projects');
  sections.Server.images_path = join(folder, 'images');
  sections.Server.configs_path = join(folder, 'configs');
  sections.Server.resources_path = join(folder, 'resources');
  const settings = change({ ...sections, dataDirectory: folder, runtimeDirectory: join(folder, 'run') });
  const reason = 'there is no fabric here';
  const fabric = {
    capabilities: async () => ({ taps: false, kernelObstacle: reason, linkObstacle: reason }),
    useNamespace: async () => {},
  };
  return {
    settings,
    linkNamespace: Object.assign(new LinkNamespace(settings, fabric, () => {}), { obstacle: async () => reason }),
    images: new ImageStore(() => settings),
    udpPorts: new PortPool({ first: firstPort, last: firstPort + 39, protocol: 'udp', host: '127.0.0.1' }),
    tcpPorts: new PortPool({ first: firstPort, last: firstPort + 39, protocol: 'tcp', host: '127.0.0.1' }),
    fabric,
    pcs: noPcs,
    switches: { addresses: async () => [], forgetAddresses: async () => {}, switchStats: async () => [], ...noTraffic },
    log: () => {},
  };
}

const refuse = async () => {
  throw new Error('there is no fabric');
};
const noPcs: FabricPcs = {
  applyPc: refuse,
  removePc: refuse,
  pcState: refuse,
  probePc: refuse,
  onPc: () => () => {},
  socketPath: '/nowhere',
};
const noTraffic = { traffic: { start: refuse, read: async () => null, remove: async () => {} } };

/** A place for one node, with its prerequisites and a check for leftovers. */
export class Bench<Options extends BenchOptions = BenchOptions> {
  readonly options: Options;
  readonly folder: string;
  readonly host: Host;
  readonly driver: Driver;
  readonly warnings: string[] = [];
  readonly nodeId = crypto.randomUUID();
  readonly name = 'bench';

  constructor(options: Options, folder: string) {
    this.options = options;
    this.folder = folder;
    this.host = contractHost(folder, options.firstPort);
    this.driver = options.makeDriver(this.host);
  }

  get projectDirectory(): string {
    return join(this.folder, 'projects', 'one');
  }
  get directory(): string {
    return join(this.projectDirectory, 'project-files', this.options.kind.folder, this.nodeId);
  }
  get runtimeDirectory(): string {
    return join(this.host.settings.runtimeDirectory, 'node');
  }

  create(more: Properties = {}): Promise<Properties> {
    const node = { nodeId: this.nodeId, projectDirectory: this.projectDirectory };
    return this.driver.create({ ...this.options.properties, ...more }, node);
  }

  /** The node with its folders, as the compute makes them before a start. */
  async view(properties: Properties): Promise<NodeView> {
    await mkdir(this.directory, { recursive: true });
    await mkdir(this.runtimeDirectory, { recursive: true });
    return {
      projectId: crypto.randomUUID(),
      projectDirectory: this.projectDirectory,
      nodeId: this.nodeId,
      name: 'bench',
      directory: this.directory,
      runtimeDirectory: this.runtimeDirectory,
      properties,
      numbers: { from: 0, lastCommandLine: '' },
      console: { type: this.options.kind.defaults.console_type ?? 'none', port: null, host: '127.0.0.1' },
      carrier: () => true,
      requireLease: () => undefined,
      warn: (message) => void this.warnings.push(message),
    };
  }

  async start(): Promise<{ emulator: Emulator; view: NodeView }> {
    const properties = await this.create();
    await this.driver.populate?.(this.directory, this.options.properties, 'bench');
    const view = await this.view(properties);
    return { emulator: await startWith(this.driver, view), view };
  }

  /** Fails when a process, a port or a socket is left. A process that was killed may take a while to end on a busy machine. */
  async assertNothingRuns(host: Host = this.host): Promise<void> {
    const left = () => listMarked(this.host.settings.runtimeDirectory);
    await waitFor(async () => (await left()).length === 0, { what: 'the end of all processes' }).catch(() => undefined);
    assert.deepEqual(await left(), [], 'processes');
    assert.deepEqual([host.tcpPorts.taken(), host.udpPorts.taken()], [[], []], 'ports');
    const names = await readdir(this.runtimeDirectory).catch(() => []);
    for (const name of names) {
      const facts = await stat(join(this.runtimeDirectory, name)).catch(() => undefined);
      if (facts?.isSocket()) assert.equal(await connects({ path: join(this.runtimeDirectory, name) }), false, `${name} answers`);
    }
  }
}

/** Starts a node and makes its first port ready, as the compute does for a NIO. */
export async function startWith(driver: Driver, view: NodeView): Promise<Emulator> {
  const emulator = await driver.start(view);
  await emulator.openPort?.(0, 0);
  return emulator;
}

function connects(to: { path: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(to);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
