/** An emulator from a process, started or found. */
import type { Child } from '../../process/child.ts';
import type { NodeView } from '../driver.ts';
import { findUserOf } from '../host/run-as.ts';
import { freePorts } from './adapter-ports.ts';
import { ConfigDisk } from './config-disk.ts';
import { type Limits, QemuEmulator } from './emulator.ts';
import type { QemuFacilities } from './facilities.ts';
import { qemuImages } from './kind.ts';
import { prepareSaving } from './memory/save.ts';
import { prepareDeparture } from './move/prepare.ts';
import { placesOf } from './places.ts';
import { asQemu } from './properties.ts';
import type { QemuRecord } from './record.ts';
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
