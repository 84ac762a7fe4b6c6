/**
 * The verbs of docker. A container belongs to its node from the node's creation to its deletion, so what was changed in it is still there
 * after a stop; it is made anew at a start when the node's properties or name say that it would be another one.
 */
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { Mutex } from '../../lib/mutex.ts';
import { adoptChild, type Child, type ChildRecord } from '../../process/child.ts';
import { isRunning } from '../../process/proc.ts';
import type { Driver, NodePlace, NodeView } from '../driver.ts';
import { renameInConfigs } from '../facts/config-files.ts';
import { takeAuxPort } from '../host/aux-port.ts';
import type { Host } from '../host/host.ts';
import { saveAfterEnd } from '../ios-nvram/config-watch.ts';
import { configFiles } from '../ios-nvram/configs.ts';
import type { KeptPort, PortProcesses } from '../port-processes/port-processes.ts';
import { type AdapterFacts, containerAdapters } from './adapters.ts';
import { type ContainerBody, containerBody, ensureContainer, findContainer, makeFolders, removeContainer } from './container.ts';
import { DockerEmulator, lastWords, screenHasEnded } from './emulator.ts';
import { DockerEngine, type DockerImage } from './engine.ts';
import { DockerImages } from './images.ts';
import { iolNumberOf } from './iol.ts';
import { iolWord } from './iol-environment.ts';
import { makeNumbered } from './iol-numbers.ts';
import { dockerKind } from './kind.ts';
import { asDocker, changedDocker, type DockerProperties, newDocker } from './properties.ts';
import { installResources, isPrepared } from './resources.ts';
import { dockerRoutes } from './routes.ts';
import { screenSockets, startScreen } from './screen.ts';

interface DockerRecord {
  readonly container_id: string;
  readonly pid: number;
  readonly startTime: number;
  readonly aux?: number;
  readonly screen?: ChildRecord;
  readonly hasScreenSocket?: boolean;
  readonly ports: Record<string, KeptPort<AdapterFacts>>;
}

/** Facts of a node that its presentation needs beside its properties. */
interface KnownContainer {
  containerId: string | null;
  /** Port of the auxiliary console, of this run or the last one. */
  aux: number | null;
}

export function dockerDriver(host: Host): Driver {
  const engine = new DockerEngine(host.settings.Docker.socket_path);
  const facilities = { host, engine, images: new DockerImages(engine), installing: new Mutex(), numbering: new Mutex() };
  const known = new Map<string, KnownContainer>();
  const learn = (nodeId: string, facts: Partial<KnownContainer>) =>
    known.set(nodeId, { containerId: null, aux: null, ...known.get(nodeId), ...facts });
  const running = new Map<string, DockerEmulator>();
  const runs = (nodeId: string, containerId: string, emulator: DockerEmulator) => {
    learn(nodeId, { containerId, aux: emulator.auxiliary()?.port ?? null });
    running.set(nodeId, emulator);
    void emulator.ended.then(() => running.get(nodeId) === emulator && running.delete(nodeId));
    return emulator;
  };
  return {
    kind: dockerKind,
    async create(input, place) {
      const properties = newDocker(input, place.nodeId);
      learn(place.nodeId, { containerId: await makeContainer(facilities, properties, place) });
      return { ...properties };
    },
    async update(current, changes, { nodeId }) {
      const changed = changedDocker(asDocker(current), changes, nodeId);
      // The next start gives the port; a container that runs keeps its own until then.
      if (changed.aux !== asDocker(current).aux && !running.has(nodeId)) learn(nodeId, { aux: null });
      return { ...changed };
    },
    present: (properties, nodeId = '') => {
      const { containerId, aux } = known.get(nodeId) ?? { containerId: null, aux: null };
      const { custom_adapters: _ofRequests, ...shown } = asDocker(properties);
      return { ...shown, ...(containerId !== null && { container_id: containerId }), aux: aux ?? shown.aux };
    },
    async start(node) {
      const containerId = await makeContainer(facilities, asDocker(node.properties), placeOf(node));
      const screen = await startScreen(host, node);
      try {
        const emulator = await startContainer(facilities, node, { containerId, screen, lastAux: known.get(node.nodeId)?.aux });
        return runs(node.nodeId, containerId, emulator);
      } catch (error) {
        await screen?.stop({ graceMs: 0 });
        throw error;
      }
    },
    async adopt(node, record) {
      const emulator = await adoptContainer(facilities, node, record as unknown as DockerRecord);
      return emulator && runs(node.nodeId, String(emulator.record.container_id), emulator);
    },
    async removed(nodeId) {
      known.delete(nodeId);
      await removeContainer(engine, nodeId);
    },
    renamed: (directory, _from, to) => renameInConfigs(directory, configFiles, to),
    routes: (nodes) => dockerRoutes(engine, nodes),
  };
}

interface DockerFacilities {
  readonly host: Host;
  readonly engine: DockerEngine;
  readonly images: DockerImages;
  /** The folder of resources is one for all. */
  readonly installing: Mutex;
  /** Containers of IOL images get numbers that no two share: one is made after the other. */
  readonly numbering: Mutex;
}

type ContainerNode = NodePlace & { readonly directory?: string; readonly screen?: string | undefined };

/** The id of the node's container. @throws docker_failed, iou_failed for a configuration that does not fit */
async function makeContainer(facilities: DockerFacilities, properties: DockerProperties, place: ContainerNode): Promise<string> {
  const { engine, images, numbering } = facilities;
  const directory = directoryOf(place);
  const image = await images.require(properties.image, place.inform ?? (() => undefined));
  const make = async (iol?: number) => {
    const body = await bodyOf(facilities, properties, { ...place, image, iol });
    await makeFolders(body, directory);
    await writeInterfacesSample(directory, properties.adapters);
    return ensureContainer(engine, body);
  };
  if (iolWord(properties.environment) === undefined) return make();
  return numbering.run(() => makeNumbered(engine, place.nodeId, { properties, directory }, make));
}

async function bodyOf(
  { host, installing }: DockerFacilities,
  properties: DockerProperties,
  place: ContainerNode & { readonly image: DockerImage; readonly iol: number | undefined },
): Promise<ContainerBody> {
  const { nodeId, projectDirectory, variables = [], name = nodeId, projectId = '', image, iol } = place;
  const [resources, missing] = await Promise.all([
    installing.run(() => installResources(join(host.settings.Server.resources_path, 'docker'))),
    missingCapabilities(),
  ]);
  const directory = directoryOf(place);
  const names = { name, nodeId, projectId, projectDirectory, variables };
  const { runtimeDirectory: runDirectory } = host.settings;
  const { screen } = place;
  return containerBody(properties, image, { ...names, directory, resources, missing, screen, iol, runDirectory });
}

/** The node's folder, which may not be there yet. */
function directoryOf({ directory, projectDirectory, nodeId }: ContainerNode): string {
  return directory ?? join(projectDirectory, 'project-files', dockerKind.folder, nodeId);
}

function placeOf(node: NodeView): ContainerNode {
  const { nodeId, projectId, projectDirectory, variables = [], name, directory, warn } = node;
  return { nodeId, projectId, projectDirectory, variables, name, directory, inform: warn, screen: screenSockets(node) };
}

async function startContainer(
  { host, engine }: DockerFacilities,
  node: NodeView,
  { containerId, screen, lastAux }: { containerId: string; screen: Child | undefined; lastAux: number | null | undefined },
): Promise<DockerEmulator> {
  const { tcpPorts } = host;
  let pid = 0;
  const adapters = containerAdapters(host, node, () => pid);
  const aux = await takeAuxPort(host, node, { wanted: asDocker(node.properties).aux, last: lastAux });
  const releaseAux = () => aux !== undefined && tcpPorts.release(aux);
  try {
    node.requireLease();
    await engine.post(`/containers/${containerId}/start`);
    const state = await findContainer(engine, node.nodeId);
    pid = state?.State.Pid ?? 0;
    if (!state?.State.Running) throw await endedAtOnce(engine, containerId);
    for (let adapter = 0; adapter < asDocker(node.properties).adapters; adapter++) await adapters.attach(adapter);
    if (!(await isPrepared(pid))) throw await endedAtOnce(engine, containerId);
    return await DockerEmulator.of(
      { host, engine, node, containerId, pid, adapters, screen, hasScreenSocket: true, aux, releaseAux: () => void releaseAux() },
      state,
    );
  } catch (error) {
    await adapters.detachAll();
    await engine.post(`/containers/${containerId}/stop?t=0`).catch(() => undefined);
    releaseAux();
    throw error;
  }
}

async function endedAtOnce(engine: DockerEngine, containerId: string): Promise<Error> {
  return fault('docker_failed', { reason: `The container ended at once${await lastWords(engine, containerId)}` });
}

async function adoptContainer(
  { host, engine }: DockerFacilities,
  node: NodeView,
  record: DockerRecord,
): Promise<DockerEmulator | undefined> {
  const { container_id: containerId, pid, startTime, hasScreenSocket = false, aux, ports } = record;
  const adapters = containerAdapters(host, node, () => pid);
  await adapters.adopt(ports);
  const screen = record.screen && (await adoptChild({ ...record.screen, runDirectory: host.settings.runtimeDirectory }));
  const endHelpers = () => Promise.all([adapters.detachAll(), screen?.stop({ graceMs: 0 })]);
  const state = await findContainer(engine, node.nodeId).catch(async (error) => {
    await endHelpers();
    throw error;
  });
  if (state?.Id !== containerId || state.State.Pid !== pid || !isRunning(pid, startTime)) {
    await endHelpers();
    const iol = state && iolNumberOf(state);
    if (iol !== undefined) await saveAfterEnd(node, iol);
    return undefined;
  }
  if (record.screen && !screen) node.warn(screenHasEnded(node.name));
  await openMissing(adapters, asDocker(node.properties), node);
  if (aux !== undefined) host.tcpPorts.reserve(aux);
  const releaseAux = () => void (aux !== undefined && host.tcpPorts.release(aux));
  const parts = { host, engine, node, containerId, pid, adapters, screen, hasScreenSocket, aux, releaseAux };
  return DockerEmulator.of(parts, state);
}

/** Opens the adapters whose process ended while no server ran. */
async function openMissing(
  adapters: PortProcesses<AdapterFacts>,
  { adapters: count }: { adapters: number },
  node: NodeView,
): Promise<void> {
  for (let adapter = 0; adapter < count; adapter++) {
    await adapters
      .attach(adapter)
      .catch((error: Error) => node.warn(`Adapter ${adapter} of ${node.name} is not there: ${error.message}`));
  }
}

/**
 * Writes `/etc/network/interfaces` of a container that has none yet: clients offer it for editing before the first start. It is older than
 * any file, so that the image's own takes its place when the container starts for the first time; what was edited is newer, and stays.
 *
 * @see interfaces(5)
 */
async function writeInterfacesSample(directory: string, adapters: number): Promise<void> {
  const folder = join(directory, 'etc/network');
  const path = join(folder, 'interfaces');
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(path, interfacesSample(adapters), { flag: 'wx' });
    await utimes(path, 0, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function interfacesSample(adapters: number): string {
  const stanzas = Array.from({ length: adapters }, (_, adapter) => [
    '',
    `# A fixed address of eth${adapter}`,
    `#auto eth${adapter}`,
    `#iface eth${adapter} inet static`,
    `#\taddress 192.168.${adapter}.2`,
    '#\tnetmask 255.255.255.0',
    `#\tgateway 192.168.${adapter}.1`,
    '',
    `# Or one that DHCP gives to eth${adapter}`,
    `#auto eth${adapter}`,
    `#iface eth${adapter} inet dhcp`,
  ]);
  const head = '# The network of this node, read at each start. Take away the # from the lines that should count.';
  return `${[head, ...stanzas.flat()].join('\n')}\n`;
}

/** Names of capabilities by number. @see capabilities(7), linux/capability.h */
const capabilityNames = (
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN ' +
  'NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME ' +
  'SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON ' +
  'BPF CHECKPOINT_RESTORE'
).split(' ');

/**
 * Lists the capabilities that even root does not have on this host. A container gets all others, as network systems expect, but neither
 * the host's devices nor its processes. A capability that this host itself lacks would keep the container from starting.
 */
async function missingCapabilities(): Promise<string[]> {
  return missingIn(await readFile('/proc/self/status', 'latin1').catch(() => ''));
}

export function missingIn(status: string): string[] {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  if (bounding === undefined) return [];
  const bits = BigInt(`0x${bounding}`);
  return capabilityNames.filter((_name, number) => (bits & (1n << BigInt(number))) === 0n);
}
