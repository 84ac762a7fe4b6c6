/** Makes an emulator of a process: one that was started, or one of another server, which is adopted. */
import { adoptChild, type Child } from '../../process/child.ts';
import type { Departure, NodeView } from '../driver.ts';
import { findUserOf } from '../host/run-as.ts';
import { freePorts } from './adapter-ports.ts';
import { ConfigDisk } from './config-disk.ts';
import { type Limits, QemuEmulator } from './emulator.ts';
import type { QemuFacilities } from './facilities.ts';
import { qemuImages } from './kind.ts';
import { settleMigration } from './memory/migration.ts';
import { prepareSaving } from './memory/save.ts';
import { Monitor } from './monitor.ts';
import { QemuDeparture } from './move/depart.ts';
import { cancelMirrors } from './move/disk-mirror.ts';
import { offerOf, type RunningMachine } from './move/offer.ts';
import { placesOf } from './places.ts';
import { asQemu } from './properties.ts';
import { asRecord, type QemuRecord, udpPortsOf } from './record.ts';
import { Throttle } from './throttle.ts';
import { findTpm } from './tpm.ts';

export interface Launcher {
  readonly facilities: QemuFacilities;
  readonly limits: Limits;
}

interface Assembly {
  readonly child: Child;
  readonly record: QemuRecord;
  readonly tpm: Child | undefined;
  readonly cpulimit: string | undefined;
}

export function assemble(node: NodeView, { facilities, limits }: Launcher, { child, record, tpm, cpulimit }: Assembly) {
  const { host, binaries, tools } = facilities;
  const memory = { key: facilities.memoryKey, verified: facilities.verified };
  const { directory, runtimeDirectory } = node;
  const runDirectory = host.settings.runtimeDirectory;
  const runAs = () => findUserOf(host.settings, node.nodeId, child.pid);
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
      if (asQemu(node.properties).create_config_disk) await new ConfigDisk(node, binaries, tools).export();
    },
    prepareSaving: (monitor, folder, suspended) =>
      prepareSaving({ node, host, ...memory, record, monitor, suspended, findTpm: () => findTpm(binaries) }, folder),
    prepareDeparture: (monitor) => prepareDeparture({ node, host, record, monitor }),
    freed: () => freePorts(host, record.ports),
  });
  return { emulator, throttle };
}

/** @returns the reason, for people, where the machine cannot be moved. @throws qemu_failed, run_as_failed, and errors of the system */
async function prepareDeparture(machine: RunningMachine): Promise<Departure | string> {
  const { node, host, monitor, record } = machine;
  const offer = await offerOf(machine);
  if (typeof offer === 'string') return offer;
  const { runtimeDirectory } = node;
  const runAs = await findUserOf(host.settings, node.nodeId, record.pid);
  return QemuDeparture.prepare({ offer, monitor, runtimeDirectory, consoleLog: placesOf(node).consoleLog, runAs });
}

/** A machine that does not answer within this time is ended, so it is long: on a busy host QEMU may be slow, but it answers. */
const adoptLimitMs = 20_000;

/**
 * Adopts a machine that another server started. Undefined when it no longer runs, or does not answer; then nothing of it is left running
 * and nothing taken.
 */
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
    const monitor = await Monitor.connect(places.qmp, emulator, { limitMs: adoptLimitMs, ended: child.outcome });
    await settleMigration(monitor);
    await cancelMirrors(monitor);
    await emulator.attach(monitor);
    return emulator;
  } catch (error) {
    host.log('warning', `${node.name} (pid ${record.pid}) runs but does not answer, so it is ended: ${(error as Error).message}`);
    await emulator.stop({ now: true });
    return undefined;
  }
}
