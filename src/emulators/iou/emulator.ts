/** A running IOU. While it runs, its configuration is written to text files whenever it has saved it. */
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Child, Outcome } from '../../process/child.ts';
import type { Emulator, Ending, NodeView } from '../driver.ts';
import { ConfigWatch } from '../ios-nvram/config-watch.ts';
import { frameHeader, hasPort, peerOf } from './command.ts';
import { consoleSocket, endMark, netioFolder } from './confined.ts';
import { asIou } from './properties.ts';

/** Record from which a restarted server adopts a running IOU. */
export interface IouRecord extends Record<string, unknown> {
  readonly pid: number;
  readonly startTime: number;
  /** The process of the image itself. */
  readonly image?: { readonly pid: number };
  readonly commandLine: string;
  /** The `license_check` of the start request; absent: the request had none. */
  readonly license_check?: unknown;
}

/** Log of the image's console output and of its launcher's messages. */
export const logName = 'console.log';

/** Time between SIGTERM and SIGKILL. */
const stopGraceMs = 2000;

export function makeEmulator(node: NodeView, child: Child, record: IouRecord): Emulator {
  const { directory, runtimeDirectory } = node;
  const properties = asIou(node.properties);
  const { application_id } = properties;
  const configs = new ConfigWatch(node, { id: application_id, log: join(directory, logName) });
  const ended = child.outcome.then(async (outcome): Promise<Ending> => {
    await configs.finish();
    return endingOf(outcome);
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
    port: (adapter, port) => {
      if (!hasPort(properties, adapter, port)) return undefined;
      const sockets = netioFolder(runtimeDirectory);
      return {
        type: 'datagrams',
        path: join(sockets, String(peerOf(adapter, port))),
        peer: join(sockets, String(application_id)),
        header: frameHeader(application_id, adapter, port),
      };
    },
    setCarrier: async () => {},
    console: () => ({ type: 'unix', path: consoleSocket(runtimeDirectory), log: join(directory, logName) }),
    changed: async () => {},
    release: () => {
      configs.stop();
      child.release();
    },
  };
}

function endingOf(outcome: Outcome): Ending {
  const { how, code } = outcome;
  if (how === 'stopped' || how === 'killed') return { how: 'stopped', reason: 'it was stopped' };
  return { how: code === 0 ? 'exited' : 'failed', reason: wordsOf(outcome) };
}

/** Why it has ended, for people, with the last of what it has shown. */
export function wordsOf({ how, code, signal, tail }: Outcome): string {
  const words = tail
    .replace(endMark, '')
    .replace(/[^\P{Cc}\n]/gu, '')
    .trim()
    .slice(-1000);
  const said = words === '' ? '' : `: ${words}`;
  if (how === 'failed-to-start') return `its programs could not be started${said}`;
  if (how === 'lost') return `it ended by itself${said}`;
  const name = signal ?? signalName(code);
  return name === undefined ? `it ended with exit code ${code ?? 'unknown'}${said}` : `it ended with ${name}${said}`;
}

/** A shell adds 128 to the number of the signal that has ended its child. */
function signalName(code = 0): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}
