/** Starting a machine, and taking over one that another server started. A failure leaves nothing running and nothing taken. */

import { realpath, writeFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import { adoptChild, type Child, spawnChild } from '../../process/child.ts';
import type { NodeView } from '../driver.ts';
import { openFolders, withOpenFolders } from '../host/confinement/open-folders.ts';
import { commandAs, findRunAs, giveFolders, own, type RunAs, requireReach } from '../host/run-as.ts';
import type { AdapterPort } from './adapters.ts';
import { commandArguments } from './command.ts';
import { ConfigDisk } from './config-disk.ts';
import { savedStateName } from './disks.ts';
import { describeOutcome, type Limits, QemuEmulator } from './emulator.ts';
import { qemuImages } from './kind.ts';
import { Monitor } from './monitor.ts';
import { type Preparation, placesOf, prepare, type QemuFacilities, requireEmulator } from './plan.ts';
import { asQemu, type QemuProperties, slots } from './properties.ts';
import { asRecord, type QemuRecord, udpPortsOf } from './record.ts';
import { Throttle } from './throttle.ts';
import { startTpm } from './tpm.ts';
import { atLeast } from './version.ts';

/** Nice values; raising a priority needs privileges, and is left where it fails. GNS3's table. */
const niceness: Readonly<Record<QemuProperties['process_priority'], number>> = {
  realtime: -20,
  'very high': -15,
  high: -5,
  normal: 0,
  low: 5,
  'very low': 19,
};
/** A Unix socket's path, with its final NUL, has to fit into 108 bytes (unix(7)). */
const maxSocketPath = 107;
/** A machine that does not answer within this time is ended, so it is long: on a busy host QEMU may be slow, but it answers. */
const adoptLimitMs = 20_000;
const lastWordsMs = 300;

export interface Launcher {
  readonly facilities: QemuFacilities;
  readonly limits: Limits;
}

/** @throws qemu_failed with QEMU's last words, and whatever `prepare` refuses */
export async function launch(node: NodeView, launcher: Launcher): Promise<QemuEmulator> {
  const { facilities } = launcher;
  const program = await requireEmulator(asQemu(node.properties), facilities);
  const version = await facilities.binaries.version(program);
  const runAs = await findRunAs(facilities.host.settings);
  const pool = facilities.host.udpPorts;
  const useStreams = atLeast(version, 7, 2) && !facilities.datagrams;
  const count = asQemu(node.properties).adapters;
  const ports = useStreams ? streamPorts(node, count) : await datagramPorts(pool, count);
  let tpm: Child | undefined;
  let started: Started;
  try {
    const preparation = await prepare(node, { program, version }, ports, facilities);
    const runDirectory = facilities.host.settings.runtimeDirectory;
    const table = runAs && (await giveFiles(runAs, node, { ...preparation, program }, facilities));
    const identity = { runDirectory, runAs, table };
    if (preparation.swtpm !== undefined) tpm = await startTpm(preparation.swtpm, node, identity);
    const { child, record } = await facilities.spawning.run(() => spawn(node, program, preparation, identity));
    started = {
      ...preparation,
      child,
      record: { ...record, ports, ...(tpm && { tpm: { pid: tpm.pid, startTime: tpm.startTime } }) },
    };
  } catch (error) {
    await tpm?.stop({ graceMs: 0 });
    free(pool, ports);
    throw error;
  }
  // From here on the emulator owns what was taken, and gives it back when it ends.
  const { emulator, throttle } = assemble(node, launcher, { ...started, tpm });
  await bringUp(node, emulator, throttle, { ...started, limits: launcher.limits });
  return emulator;
}

/** Undefined when the machine no longer runs, or does not answer; then nothing of it is left running. */
export async function adopt(
  node: NodeView,
  given: Readonly<Record<string, unknown>>,
  launcher: Launcher,
): Promise<QemuEmulator | undefined> {
  const record = asRecord(given);
  if (record === undefined) return undefined;
  const { host, binaries } = launcher.facilities;
  const runDirectory = host.settings.runtimeDirectory;
  const places = placesOf(node);
  const child = await adoptChild({ ...record, logFile: places.log, runDirectory });
  const tpm = record.tpm && (await adoptChild({ ...record.tpm, logFile: places.log, runDirectory }));
  if (child === undefined) {
    await tpm?.stop({ graceMs: 0 });
    return undefined;
  }
  for (const port of udpPortsOf(record.ports)) host.udpPorts.reserve(port);
  const { emulator, throttle } = assemble(node, launcher, { child, record, tpm, cpulimit: await binaries.inPath('cpulimit') });
  await throttle.adopt();
  try {
    await emulator.attach(await Monitor.connect(places.qmp, emulator, { limitMs: adoptLimitMs, ended: child.outcome }));
    return emulator;
  } catch (error) {
    host.log('warning', `${node.name} (pid ${record.pid}) runs but does not answer, so it is ended: ${(error as Error).message}`);
    await emulator.stop({ now: true });
    return undefined;
  }
}

interface Assembly {
  readonly child: Child;
  readonly record: QemuRecord;
  readonly tpm: Child | undefined;
  readonly cpulimit: string | undefined;
}

function assemble(node: NodeView, { facilities, limits }: Launcher, { child, record, tpm, cpulimit }: Assembly) {
  const { host, binaries } = facilities;
  const { directory, runtimeDirectory } = node;
  const runDirectory = host.settings.runtimeDirectory;
  const runAs = () => findRunAs(host.settings);
  const throttle = new Throttle({ program: cpulimit, pid: child.pid, directory, runtimeDirectory, runDirectory, runAs });
  const images = host.images.of(qemuImages);
  const emulator = new QemuEmulator({
    node,
    child,
    record,
    throttle,
    tpm,
    limits,
    places: placesOf(node),
    resolveImage: (reference) => images.resolve(reference, node.projectDirectory),
    exportConfig: async () => {
      if (asQemu(node.properties).create_config_disk) await new ConfigDisk(node, binaries).export();
    },
    freed: () => free(host.udpPorts, record.ports),
  });
  return { emulator, throttle };
}

/** Whom the processes of a machine run as. */
export interface Identity {
  readonly runDirectory: string;
  readonly runAs: RunAs | undefined;
  /** Of `openFolders`. */
  readonly table: string | undefined;
}

async function spawn(node: NodeView, program: string, { plan, disks }: Preparation, { runDirectory, runAs, table }: Identity) {
  const args = commandArguments(plan);
  const commandLine = [program, ...args].join(' ');
  const logFile = placesOf(node).log;
  const header = `Command: ${commandLine}\n\nOutput of QEMU:\n`;
  await writeFile(logFile, header).catch((cause: Error) => {
    throw fault('storage_failed', { reason: cause.message }, { cause });
  });
  const priority = plan.properties.process_priority;
  const child = await spawnChild({
    ...withOpenFolders(table, commandAs(runAs, program, args)),
    cwd: node.directory,
    logFile,
    append: true,
    runDirectory,
    ...(priority !== 'normal' && { niceness: niceness[priority] }),
  });
  const record = {
    pid: child.pid,
    startTime: child.startTime,
    commandLine,
    logOffset: Buffer.byteLength(header),
    canSaveState: disks.some((disk) => disk.format === 'qcow2'),
    hasSerialConsole: plan.console.type === 'telnet',
    hasScreenSocket: /^(vnc|spice)/.test(plan.console.type) && plan.console.port !== null,
  };
  return { child, record };
}

interface Started extends Preparation {
  readonly child: Child;
  readonly record: QemuRecord;
}

/** Waits for QEMU's first answer and sets what can only be set then. A failure ends it. */
async function bringUp(
  node: NodeView,
  emulator: QemuEmulator,
  throttle: Throttle,
  started: Started & { limits: Limits },
): Promise<void> {
  const { plan, child, limits } = started;
  try {
    const monitor = await Monitor.connect(plan.sockets.qmp, emulator, { limitMs: limits.startMs, ended: child.outcome });
    await emulator.attach(monitor);
    // Restored once, a state is gone: starting from it again after a crash would undo what was written to the disks since.
    if (plan.savedState !== undefined) await monitor.human(`delvm ${savedStateName}`).catch(() => {});
    for (const index of plan.adapters.keys()) if (!node.carrier(index)) await emulator.setCarrier(index, false);
    if (plan.properties.cpu_throttling > 0 && !(await throttle.set(plan.properties.cpu_throttling))) {
      throw fault('qemu_failed', { reason: 'the processor limit could not be set' });
    }
  } catch (cause) {
    // Its own words explain more than a connection that broke: a QEMU that is about to end may do so.
    await Promise.race([child.outcome, delay(lastWordsMs)]);
    const outcome = await child.stop({ graceMs: 0 });
    await emulator.ended;
    const words = outcome.tail === '' ? '' : `: ${outcome.tail}`;
    const reason = outcome.how === 'killed' ? `${(cause as Error).message}${words}` : describeOutcome(outcome);
    throw fault('qemu_failed', { reason: `${node.name} did not start. ${reason}` }, { cause });
  }
}

/** @returns the table of `openFolders`. @throws run_as_failed with what of the machine's files its user cannot reach */
async function giveFiles(
  runAs: RunAs,
  node: NodeView,
  { plan, disks, program, swtpm }: Preparation & { readonly program: string },
  { host }: QemuFacilities,
): Promise<string | undefined> {
  const { directory, projectDirectory, runtimeDirectory } = node;
  const { images_path, additional_images_path } = host.settings.Server;
  await giveFolders(runAs, node, host.settings.runtimeDirectory);
  const read = [program, swtpm, plan.cdrom, plan.bios, plan.kernel, plan.initrd, plan.uefi?.code].filter(
    (path) => path !== undefined,
  );
  const written = disks.map(({ file }) => file);
  const imageFolders = [images_path, ...additional_images_path.split(';').filter(isAbsolute)];
  await giveDisks(runAs, written, [...imageFolders, projectDirectory]);
  const backing = await backingFiles(node, host);
  const folders = [directory, runtimeDirectory, ...imageFolders];
  const table = await openFolders(runAs, [...folders, ...written, ...read, ...backing], runtimeDirectory);
  await requireReach(runAs, { written: [directory, runtimeDirectory, ...written], read: [...read, ...backing], table });
  return table;
}

/** A disk that is no linked clone is written to where it is. One elsewhere is not ours to give away. */
async function giveDisks(runAs: RunAs, disks: readonly string[], folders: readonly string[]): Promise<void> {
  for (const disk of disks) {
    const ours = await Promise.all(folders.map((folder) => isReallyBelow(folder, disk)));
    if (ours.some(Boolean)) await own(runAs, [await realpath(disk)]);
  }
}

/** The images that linked clones are made from. */
async function backingFiles({ properties, projectDirectory }: NodeView, host: QemuFacilities['host']): Promise<string[]> {
  const qemu = asQemu(properties);
  if (!qemu.linked_clone) return [];
  const references = slots.map((slot) => qemu[`${slot}_disk_image`]).filter((reference) => reference !== '');
  const images = host.images.of(qemuImages);
  const found = references.map((reference) => images.resolve(reference, projectDirectory).catch(() => undefined));
  return (await Promise.all(found)).filter((path) => path !== undefined);
}

function streamPorts(node: NodeView, count: number): AdapterPort[] {
  const places = placesOf(node);
  const longest = places.adapter(count);
  if (Buffer.byteLength(longest) > maxSocketPath) {
    throw fault('qemu_failed', { reason: `The path of the runtime folder is too long for sockets: ${node.runtimeDirectory}` });
  }
  return Array.from({ length: count }, (_, index) => ({ type: 'stream', path: places.adapter(index) }));
}

/** Pairs of ports on the loopback address: the fabric's and QEMU's. */
async function datagramPorts(pool: PortPool, count: number): Promise<AdapterPort[]> {
  const ports: AdapterPort[] = [];
  for (let index = 0; index < count; index++) {
    const lport = await pool.take();
    const rport = await pool.take();
    if (lport === undefined || rport === undefined) {
      if (lport !== undefined) pool.release(lport);
      free(pool, ports);
      throw fault('ports_exhausted', { what: 'UDP', first: pool.range.first, last: pool.range.last });
    }
    ports.push({ type: 'udp', lport, rhost: '127.0.0.1', rport, bind: '127.0.0.1', strict: true });
  }
  return ports;
}

function free(pool: PortPool, ports: readonly AdapterPort[]): void {
  for (const port of udpPortsOf(ports)) pool.release(port);
}
