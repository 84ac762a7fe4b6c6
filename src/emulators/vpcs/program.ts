/**
 * The program vpcs, as servers before 0.3 started it for each node: one that still runs is adopted, and keeps running until it is stopped. The
 * next start makes a PC inside the fabric. It has a helper process, relays, and UDP ports on the loopback between it and the fabric.
 */
import { adoptChild, type Child, type Outcome } from '../../process/child.ts';
import { endMarked, type Marked } from '../../process/orphans.ts';
import type { ConsoleSource, Emulator, Ending, NodeView } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { logPath } from './script.ts';

/** Time between SIGTERM and SIGKILL. */
const stopGraceMs = 3000;
/** The helper follows its parent within a few milliseconds when that ends politely. */
const helperGraceMs = 500;

interface ProgramRecord extends Record<string, unknown> {
  readonly pid: number;
  readonly startTime: number;
  readonly helpers: readonly Marked[];
  readonly ports: { readonly console?: number; readonly local: number; readonly fabric: number; readonly relay?: number };
  /** Path of the Unix socket of its console. Absent: the console is at the TCP port `ports.console`. */
  readonly socket?: string;
  readonly commandLine: string;
}

export function isProgram(record: Readonly<Record<string, unknown>>): record is ProgramRecord {
  return typeof record.pid === 'number';
}

export async function adoptProgram(host: Host, { directory }: NodeView, record: ProgramRecord): Promise<Emulator | undefined> {
  const { pid, startTime, helpers, ports } = record;
  const { runtimeDirectory: runDirectory } = host.settings;
  const child = await adoptChild({ pid, startTime, logFile: logPath(directory), runDirectory });
  if (child === undefined) {
    await endMarked(helpers, 0);
    return undefined;
  }
  const { console, local, fabric, relay = fabric } = ports;
  const udpPorts = new Set([local, fabric, relay]);
  if (console !== undefined) host.tcpPorts.reserve(console);
  for (const port of udpPorts) host.udpPorts.reserve(port);
  const ended = wholeEnd(child, helpers).then((ending) => {
    if (console !== undefined) host.tcpPorts.release(console);
    for (const port of udpPorts) host.udpPorts.release(port);
    return ending;
  });
  const address = { rhost: '127.0.0.1', bind: '127.0.0.1', strict: record.socket !== undefined };
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
    port: (_adapter, port) => (port === 0 ? { type: 'udp', lport: fabric, rport: local, ...address } : undefined),
    setCarrier: async () => {},
    console: () => consoleOf(record),
    changed: async () => {},
    release: () => child.release(),
  };
}

function consoleOf({ socket, ports }: ProgramRecord): ConsoleSource | undefined {
  if (socket !== undefined) return { type: 'unix', path: socket, telnet: true };
  return ports.console === undefined ? undefined : { type: 'tcp', port: ports.console, telnet: true };
}

/** Settles when neither the child nor one of its helpers runs. */
async function wholeEnd(child: Child, helpers: readonly Marked[]): Promise<Ending> {
  const outcome = await child.outcome;
  await endMarked(helpers, outcome.how === 'killed' ? 0 : helperGraceMs);
  return endingOf(outcome);
}

function endingOf({ how, code, signal, tail }: Outcome): Ending {
  if (how === 'stopped' || how === 'killed') return { how: 'stopped', reason: 'it was stopped' };
  const cause = signal === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
  const reason = `vpcs ended ${how === 'lost' ? 'by itself' : `with ${cause}`}${tail === '' ? '' : `: ${tail}`}`;
  return { how: code === 0 ? 'exited' : 'failed', reason };
}
