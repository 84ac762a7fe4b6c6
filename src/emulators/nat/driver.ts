/**
 * The verbs of nat. The node itself is nothing but its port; while that is connected a process serves it, which needs no privileges.
 * It takes one connection after another, so a fabric that starts again finds it there.
 */
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { Driver, Emulator, NodeView } from '../driver.ts';
import { confine, confinedCommand } from '../host/confinement/confine.ts';
import type { Host } from '../host/host.ts';
import { findRunAs, giveFolders, type RunAs } from '../host/run-as.ts';
import { type KeptPort, PortProcesses, type PortService, whenReady } from '../port-processes/port-processes.ts';
import { portsEmulator } from '../port-processes/ports-emulator.ts';
import { chooseLaunch, type Launch } from './engine.ts';
import { natKind } from './kind.ts';

interface NatFacts extends Launch {
  readonly socket: string;
  readonly logFile: string;
  /** User that runs the program: the same at each start, as the arguments depend on it. */
  readonly runAs?: RunAs;
}

export function natDriver(host: Host): Driver {
  const ports = (node: NodeView) => {
    const place = { cwd: node.directory, runDirectory: host.settings.runtimeDirectory, warn: node.warn };
    return new PortProcesses(natService(host, node), place);
  };
  return {
    kind: natKind,
    create: async () => ({}),
    update: async (current) => current,
    present: () => ({
      ports_mapping: [{ interface: host.settings.Server.default_nat_interface, name: 'nat0', port_number: 0, type: 'ethernet' }],
    }),
    start: async (node): Promise<Emulator> => portsEmulator(ports(node)),
    async adopt(node, record) {
      const adopted = ports(node);
      await adopted.adopt((record as { ports?: Record<string, KeptPort<NatFacts>> }).ports ?? {});
      return portsEmulator(adopted);
    },
  };
}

function natService(host: Host, node: NodeView): PortService<NatFacts> {
  return {
    async open() {
      const socket = join(node.runtimeDirectory, 'nat0.sock');
      const runAs = await findRunAs(host.settings, node.nodeId);
      const isRoot = process.geteuid?.() === 0 && runAs === undefined;
      const launch = await chooseLaunch(host.settings.NAT, { socket, isRoot });
      return { ...launch, socket, logFile: join(node.directory, 'nat.log'), ...(runAs && { runAs }) };
    },
    retake: () => {},
    close: () => {},
    async command({ program, args, socket, logFile, runAs }) {
      // A killed process leaves its socket, which would be taken for the new one's.
      await rm(socket, { force: true });
      if (runAs) await giveFolders(runAs, node, host.settings.runtimeDirectory);
      const writes = [node.directory, node.runtimeDirectory];
      const confinement = await confine({ program, runAs, reads: [], writes, runDirectory: host.settings.runtimeDirectory });
      // passt makes namespaces itself; QEMU has a sandbox.
      const place = { workingFolder: node.directory, isolatesItself: !args.includes('-sandbox') };
      return { ...confinedCommand(confinement, program, args, place), logFile };
    },
    ready: ({ socket }, child) =>
      whenReady(child, () =>
        stat(socket).then(
          (facts) => facts.isSocket(),
          () => false,
        ),
      ),
    failure: ({ program }, { tail, code, signal }) =>
      fault('nat_failed', {
        reason: `${basename(program)} ended with ${signal ?? `exit code ${code ?? 'unknown'}`}: ${meaning(tail)}`,
      }),
    spec: ({ socket, admits, directsLeases }) => ({
      type: 'stream',
      path: socket,
      ...(admits && { admits }),
      ...(directsLeases && { directsLeases }),
    }),
  };
}

/** passt complains of a system log that does not answer, which does no harm. */
function meaning(tail: string): string {
  return tail
    .split('\n')
    .filter((line) => !/^Failed to send \d+ bytes to syslog/.test(line) && line.trim() !== '')
    .join('\n');
}
