/**
 * The verbs of vpcs. A node is two processes with their relays, and a pair of UDP ports on the loopback between it and the fabric; all of
 * them are taken at start and given back when the last process has ended.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { adoptChild, type Child, spawnChild } from '../../process/child.ts';
import { isServed, whenListening, whenListeningInside } from '../../process/listening.ts';
import { endMarked, type Marked } from '../../process/orphans.ts';
import type { ConsoleSource, Driver, Emulator, NodeView } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { commandAs, findRunAs, ownNodeFolder } from '../host/run-as.ts';
import { whenReady } from '../port-processes/port-processes.ts';
import { knowsRelayOption, VpcsBinaries } from './binary.ts';
import { type VpcsPorts, vpcsArguments } from './command.ts';
import { confineVpcs, consoleSocket, innerConsoleSocket, innerPorts } from './confined.ts';
import { sendsFrames } from './first-frame.ts';
import { vpcsKind } from './kind.ts';
import { MacIds } from './mac-id.ts';
import { type HeldPorts, releasePorts, retakePorts, takeLinkPorts, takePorts } from './ports.ts';
import { endingOf, helpersOf, wholeEnd } from './process.ts';
import { prepareScript, renameScript, scriptName, writeScript } from './script.ts';

/** Between SIGTERM and SIGKILL. vpcs ends within 60 ms of the first. */
const stopGraceMs = 3000;
const logName = 'vpcs.log';
/** So many times a PC that does not send is started once more. */
const mutedStarts = 2;

/** What is kept to find a running vpcs again. */
interface VpcsRecord extends Record<string, unknown> {
  readonly pid: number;
  readonly startTime: number;
  readonly helpers: readonly Marked[];
  readonly ports: HeldPorts;
  /** Of its console; absent: it is at `ports.console`. */
  readonly socket?: string;
  readonly commandLine: string;
}

interface Known {
  readonly binaries: VpcsBinaries;
  readonly macIds: MacIds;
  /** Emulators of this compute. */
  readonly running: Set<Emulator>;
}

export function vpcsDriver(host: Host): Driver {
  const known: Known = { binaries: new VpcsBinaries(), macIds: new MacIds(), running: new Set() };
  const count = (emulator: Emulator) => {
    known.running.add(emulator);
    void emulator.ended.then(() => known.running.delete(emulator));
    return emulator;
  };
  return {
    kind: vpcsKind,
    create: async () => ({}),
    update: async (current) => current,
    present: () => ({}),
    start: async (node) => count(await startVpcs(host, node, known)),
    async adopt(node, record) {
      const adopted = await adoptVpcs(host, node, record);
      return adopted && count(adopted);
    },
    renamed: (directory, _from, to) => renameScript(directory, to),
    async populate(directory, input, name) {
      if (typeof input.startup_script === 'string') await writeScript(directory, input.startup_script, name);
    },
  };
}

async function startVpcs(host: Host, node: NodeView, known: Known): Promise<Emulator> {
  const binary = await known.binaries.find(host.settings.VPCS.vpcs_path);
  const macId = await known.macIds.of(node.directory, node.numberFrom);
  const { script, removed } = await prepareScript(node.directory);
  if (removed > 0)
    node.warn(`${node.name}: ${removed} lines of ${scriptName} that begin with "!" were removed: they run commands on the host`);
  const runAs = await findRunAs(host.settings);
  if (runAs) await ownNodeFolder(runAs, node.directory);
  const { confine } = host.settings.VPCS;
  const ports = confine ? await takeLinkPorts(host) : await takePorts(host, !knowsRelayOption(binary.version));
  let child: Child | undefined;
  try {
    const launched = { version: binary.version, ports: confine ? innerPorts : (ports as VpcsPorts), macId, script };
    const args = vpcsArguments(launched);
    const { directory, runtimeDirectory } = node;
    const command = confine
      ? await confineVpcs({ directory, runtimeDirectory, binary, args, ports, runAs, running: known.running.size })
      : { ...commandAs(runAs, binary.path, args), cwd: directory };
    const { runtimeDirectory: runDirectory } = host.settings;
    const startOnce = async () => {
      child = await spawnChild({ ...command, logFile: join(directory, logName), runDirectory });
      await requireListening(child, launched.ports.console, confine);
      // Input that comes before the relay of the console listens would be lost.
      if (confine) await requireRelay(child);
      return child;
    };
    let started = await startOnce();
    for (let left = mutedStarts; !(await sendsFrames({ ports, macId, ended: started.outcome })); left--) {
      if (left === 0) {
        node.warn(`${node.name} runs and has sent no frame: if it cannot be reached, stop it and start it again`);
        break;
      }
      await endAll(started);
      await rm(consoleSocket(runtimeDirectory), { force: true });
      started = await startOnce();
    }
    const { pid, startTime } = started;
    const helpers = await helpersOf(pid);
    const socket = confine ? { socket: consoleSocket(runtimeDirectory) } : {};
    return makeEmulator(host, started, {
      pid,
      startTime,
      helpers,
      ports,
      ...socket,
      commandLine: [binary.path, ...args].join(' '),
    });
  } catch (error) {
    await endAll(child);
    releasePorts(host, ports);
    throw error;
  }
}

/** @throws vpcs_failed, confinement_failed with its last words */
async function requireListening(child: Child, port: number, confine: boolean): Promise<void> {
  const found = await (confine ? whenListeningInside(child) : whenListening(child, port));
  if (found === 'timeout') throw fault('vpcs_failed', { reason: `vpcs did not open its console in time: ${await child.tail()}` });
  if (found === 'listening') return;
  // Said by the programs that come before it, in their own words.
  if (confine && /^(unshare|mount|setpriv|prlimit|RTNETLINK)\b/m.test(found.tail))
    throw fault('confinement_failed', { program: 'vpcs', reason: found.tail });
  throw fault('vpcs_failed', { reason: endingOf(found).reason });
}

async function requireRelay(child: Child): Promise<void> {
  const outcome = await whenReady(child, () => isServed(child.pid, innerConsoleSocket));
  if (outcome) throw fault('vpcs_failed', { reason: endingOf(outcome).reason });
}

async function adoptVpcs(host: Host, node: NodeView, kept: Readonly<Record<string, unknown>>): Promise<Emulator | undefined> {
  const record = kept as VpcsRecord;
  const { pid, startTime, helpers, ports } = record;
  const logFile = join(node.directory, logName);
  const child = await adoptChild({ pid, startTime, logFile, runDirectory: host.settings.runtimeDirectory });
  if (child === undefined) {
    await endMarked(helpers, 0);
    return undefined;
  }
  retakePorts(host, ports);
  return makeEmulator(host, child, record);
}

function makeEmulator(host: Host, child: Child, record: VpcsRecord): Emulator {
  const { ports } = record;
  const ended = wholeEnd(child, record.helpers).then((ending) => {
    releasePorts(host, ports);
    return ending;
  });
  return {
    record,
    commandLine: record.commandLine,
    ended,
    state: 'started',
    onState: () => {},
    suspend: async () => {},
    resume: async () => {},
    reset: async () => false,
    async stop(options) {
      await child.stop({ graceMs: options?.now ? 0 : stopGraceMs });
      await ended;
    },
    port: (_adapter, port) =>
      port === 0
        ? {
            type: 'udp',
            lport: ports.fabric,
            rhost: '127.0.0.1',
            rport: ports.local,
            bind: '127.0.0.1',
            strict: record.socket !== undefined,
          }
        : undefined,
    setCarrier: async () => {},
    console: () => consoleOf(record),
    changed: async () => {},
    release: () => child.release(),
  };
}

function consoleOf({ socket, ports }: VpcsRecord): ConsoleSource | undefined {
  if (socket !== undefined) return { type: 'unix', path: socket, telnet: true };
  return ports.console === undefined ? undefined : { type: 'tcp', port: ports.console, telnet: true };
}

/** Ends what a start that failed has left. */
async function endAll(child: Child | undefined): Promise<void> {
  if (child === undefined || child.pid === 0) return;
  const helpers = await helpersOf(child.pid);
  await child.stop({ graceMs: 0 });
  await endMarked(helpers, 0);
}
