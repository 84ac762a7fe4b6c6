/** Starts a router: its hypervisor, its definition, and the router in it; and takes over one that runs. */
import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { adoptChild } from '../../process/child.ts';
import type { NodeView } from '../driver.ts';
import { takeAuxPort } from '../host/aux-port.ts';
import { allows } from '../host/file-access.ts';
import type { Host } from '../host/host.ts';
import { imageFolders, makeReadable } from '../host/readable-images.ts';
import { findRunAs, own, type RunAs } from '../host/run-as.ts';
import type { DynamipsBinaries } from './binary.ts';
import { extractConfigs, presentConfigs } from './configs.ts';
import { dynamipsArguments, socketOf } from './confined.ts';
import { nioKey, RouterEmulator, type RouterParts, type RouterRecord, vmStates } from './emulator.ts';
import type { GhostImages } from './ghosts.ts';
import { Hypervisor } from './hypervisor.ts';
import { dynamipsImages } from './kind.ts';
import { asFault, failed, launchHypervisor, type RunningHypervisor, sendAll } from './launch.ts';
import { framesScript, relayScript } from './relays.ts';
import { type RouterFacts, routerCommands } from './router-commands.ts';

export interface DynamipsFacilities {
  readonly host: Host;
  readonly binaries: DynamipsBinaries;
  readonly ghosts: GhostImages;
}

const logName = 'dynamips.log';
/** A dynamic engine of its own, which cannot map the memory of another router (GNS3's rule). */
const engineWithoutGhosts = 'npe-g2';

/** A start that fails leaves nothing. `endsWithServer`: it runs for one request of this server. @throws image_missing, image_refused, dynamips_failed, confinement_failed, run_as_failed, tool_missing, ports_exhausted */
export async function startRouter(
  facilities: DynamipsFacilities,
  node: NodeView,
  { endsWithServer = false }: { readonly endsWithServer?: boolean } = {},
): Promise<RouterEmulator> {
  const { host, binaries, ghosts } = facilities;
  const { Dynamips: support } = host.settings;
  const binary = await binaries.find(support.dynamips_path);
  const runAs = await findRunAs(host.settings, node.nodeId);
  const image = await findImage(host, node, runAs);
  const { properties, directory, runtimeDirectory } = node;
  if (runAs) await own(runAs, [directory]);
  const hasGhost =
    support.ghost_ios_support && support.mmap_support && properties.mmap === true && properties.npe !== engineWithoutGhosts;
  const ghost = hasGhost
    ? await ghosts.prepare({
        properties,
        binary,
        image,
        runAs: await findRunAs(host.settings),
        sparsemem: support.sparse_memory_support,
      })
    : undefined;
  const aux = await takeAux(host, node);
  if (ghost !== undefined) ghosts.hold(ghost);
  const released = () => {
    if (aux !== undefined) host.tcpPorts.release(aux);
    if (ghost !== undefined) void ghosts.release(ghost);
  };
  let launched: RunningHypervisor | undefined;
  try {
    const place = { work: directory, runtimeDirectory, ...(ghost && { ghosts: ghosts.folder }) };
    const confined = { binary, image, runAs, endsWithServer, ...place };
    launched = await launchHypervisor(host, confined, join(directory, logName));
    await writeFile(join(runtimeDirectory, framesScript), await relayScript(runAs), { mode: 0o600 });
    const facts: RouterFacts = {
      name: routerName(node.name),
      properties,
      ...(await presentConfigs(directory, Number(properties.dynamips_id))),
      hasAux: aux !== undefined,
      ...(ghost !== undefined && { ghost: ghosts.path(ghost) }),
      mmap: support.mmap_support,
      sparsemem: support.sparse_memory_support,
    };
    await define(launched, facts, node.nodeId);
    node.requireLease();
    await startIn(launched, facts, host);
    const { child, hypervisor, namespacePid } = launched;
    const configs = await extractConfigs(hypervisor, facts.name);
    const commandLine = [binary.path, ...dynamipsArguments].join(' ');
    const kept = { pid: child.pid, startTime: child.startTime, namespacePid, router: facts.name, commandLine };
    const record = { ...kept, ...(aux !== undefined && { aux }), ...(ghost !== undefined && { ghost }) };
    return new RouterEmulator({ host, node, child, hypervisor, record, configs, released });
  } catch (error) {
    launched?.hypervisor.close();
    await launched?.child.stop({ graceMs: 0 });
    released();
    throw error;
  }
}

/** A router that does not answer within this time is ended, as a QEMU machine is: the server waits for it at its start. */
const adoptLimitMs = 20_000;

/** Undefined when it no longer runs; then nothing of it is left. */
export async function adoptRouter(
  { host, ghosts }: DynamipsFacilities,
  node: NodeView,
  record: RouterRecord,
): Promise<RouterEmulator | undefined> {
  const { pid, startTime, aux, ghost, router } = record;
  // The ghost is held before anything is awaited: another router of this image may be found ended meanwhile.
  if (ghost !== undefined) ghosts.hold(ghost);
  const { runtimeDirectory: runDirectory } = host.settings;
  const child = await adoptChild({ pid, startTime, logFile: join(node.directory, logName), runDirectory });
  const releaseGhost = () => ghost !== undefined && void ghosts.release(ghost);
  if (child === undefined) {
    releaseGhost();
    return undefined;
  }
  const hypervisor = await Hypervisor.connect(socketOf(node.runtimeDirectory, 'control')).catch(() => undefined);
  const overdue = setTimeout(() => hypervisor?.close(), adoptLimitMs);
  const state = await hypervisor?.ask('vm', 'get_status', router).catch(() => undefined);
  const nios = state && (await hypervisor?.ask('nio', 'list').catch(() => undefined));
  clearTimeout(overdue);
  const found = Number(state?.text ?? vmStates.inactive);
  if (!hypervisor || !nios || (found !== vmStates.running && found !== vmStates.suspended)) {
    hypervisor?.close();
    await child.stop({ graceMs: 0 });
    releaseGhost();
    return undefined;
  }
  if (aux !== undefined) host.tcpPorts.reserve(aux);
  const released = () => {
    if (aux !== undefined) host.tcpPorts.release(aux);
    releaseGhost();
  };
  const { ports, ...kept } = record;
  const parts: RouterParts = { host, node, child, hypervisor, record: kept, configs: undefined, released };
  const emulator = new RouterEmulator(
    parts,
    nios.rows.flatMap((name) => nioKey(name) ?? []),
  );
  emulator.state = found === vmStates.suspended ? 'suspended' : 'started';
  await emulator.adoptPorts(ports);
  return emulator;
}

/** The router's console shows it. The protocol has no way to write quotes. */
function routerName(name: string): string {
  return name.replace(/[^\w .-]/g, '_').slice(0, 60);
}

/** Boards that the hypervisor has put into their slots are there already. */
async function define({ hypervisor }: RunningHypervisor, facts: RouterFacts, nodeId: string): Promise<void> {
  await sendAll(hypervisor, routerCommands(facts, nodeId));
}

/** @throws dynamips_failed with the last words of Dynamips, which say why: its answer does not */
async function startIn({ hypervisor, child }: RunningHypervisor, { name, ghost }: RouterFacts, host: Host): Promise<void> {
  const start = () => hypervisor.ask('vm', 'start', name);
  const started = start().catch(async (error: Error) => {
    if (ghost === undefined) throw error;
    host.log('warning', `router ${name} starts without its ghost image: ${error.message}`);
    await hypervisor.ask('vm', 'set_ghost_status', name, 0);
    return start();
  });
  await started.catch(async (error: unknown) => {
    const words = await child.tail();
    throw words === '' ? asFault(error, ['vm', 'start']) : failed(`Dynamips cannot start the router: ${words}`);
  });
}

/** @throws image_missing, image_not_allowed, image_refused, run_as_failed */
async function findImage(
  host: Host,
  { properties, projectDirectory, warn, name }: NodeView,
  runAs: RunAs | undefined,
): Promise<string> {
  const images = host.images.of(dynamipsImages);
  const reference = String(properties.image);
  const path = await images.resolve(reference, projectDirectory);
  if (runAs) await makeReadable(runAs, [path], { folders: [...imageFolders(host.settings), projectDirectory], need: 0o4 });
  const facts = await stat(path);
  if (runAs && !allows(runAs, facts, 0o4)) throw fault('run_as_failed', { reason: `the user ${runAs.user} cannot read ${path}` });
  const head = await headOf(path).catch((cause: NodeJS.ErrnoException) => {
    throw fault('image_refused', { image: reference, reason: `it cannot be read (${cause.code})` }, { cause });
  });
  if (!dynamipsImages.isImage(head))
    throw fault('image_refused', {
      image: reference,
      reason: 'it is not an IOS image (a 32-bit big-endian ELF file). Unpack it if it is packed',
    });
  await images.accept(reference, projectDirectory);
  const sum = images.md5(reference);
  const { image_md5sum: expected } = properties;
  if (typeof expected === 'string' && sum !== null && expected !== sum)
    warn(`${name}: the image ${reference} has the MD5 sum ${sum}; the project was made with ${expected}`);
  return path;
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    return (await file.read(Buffer.alloc(7), 0, 7, 0)).buffer;
  } finally {
    await file.close();
  }
}

/** @throws ports_exhausted */
async function takeAux(host: Host, node: NodeView): Promise<number | undefined> {
  const { tcpPorts, settings } = host;
  const wanted = typeof node.properties.aux === 'number' ? node.properties.aux : null;
  if (wanted === null && !settings.Dynamips.allocate_aux_console_ports) return undefined;
  const port = await takeAuxPort(host, node, { wanted });
  if (port === undefined)
    throw fault('ports_exhausted', { what: 'console', first: tcpPorts.range.first, last: tcpPorts.range.last });
  return port;
}
