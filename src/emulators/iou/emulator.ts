/** A running IOU. While it runs, its configuration is written to text files whenever it has saved it. */
import { lstat } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Child, Outcome } from '../../process/child.ts';
import type { Emulator, Ending, NodeView } from '../driver.ts';
import { frameHeader, hasPort, peerOf } from './command.ts';
import { exportConfigs, nvramFile } from './configs.ts';
import { consoleSocket, endMark, netioFolder } from './confined.ts';
import { shortenLog } from './node-files.ts';
import { asIou } from './properties.ts';

/** What is kept to find a running IOU again. */
export interface IouRecord extends Record<string, unknown> {
  readonly pid: number;
  readonly startTime: number;
  /** The process of the image itself. */
  readonly image?: { readonly pid: number };
  readonly commandLine: string;
  /** As the start was asked for; absent: it was not. */
  readonly license_check?: unknown;
}

/** What the image has shown, and what its launcher says. */
export const logName = 'console.log';

/** Between SIGTERM and SIGKILL. */
const stopGraceMs = 2000;
/** How often the NVRAM and the size of the log are looked at. */
const watchMs = 2000;
/** Bytes: an image that repeats a message for days must not fill the disk. */
const logSize = { most: 8 * 2 ** 20, keep: 2 ** 20 };

export function makeEmulator(node: NodeView, child: Child, record: IouRecord): Emulator {
  const { directory, runtimeDirectory } = node;
  const properties = asIou(node.properties);
  const { application_id } = properties;
  const configs = new ConfigWatch(node, application_id);
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

/** Exports the configuration when the NVRAM is another, and keeps the log short. */
class ConfigWatch {
  readonly #node: NodeView;
  readonly #id: number;
  readonly #timer: NodeJS.Timeout;
  #seen: string | undefined;
  /** Of which the failure was reported. */
  #failed: string | undefined;
  #isLogReported = false;
  #work: Promise<void> = Promise.resolve();

  constructor(node: NodeView, id: number) {
    this.#node = node;
    this.#id = id;
    this.#timer = setInterval(() => this.#look(), watchMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The image has ended: what it has saved last. Never rejects. */
  finish(): Promise<void> {
    this.stop();
    this.#look();
    return this.#work;
  }

  #look(): void {
    this.#work = this.#work.then(() => this.#exportOnce()).then(() => this.#shortenLog());
  }

  async #shortenLog(): Promise<void> {
    await shortenLog(join(this.#node.directory, logName), logSize).catch((error: Error) => {
      if (!this.#isLogReported) this.#node.warn(`The console log of ${this.#node.name} cannot be shortened: ${error.message}`);
      this.#isLogReported = true;
    });
  }

  async #exportOnce(): Promise<void> {
    const { directory, name } = this.#node;
    const facts = await lstat(nvramFile(directory, this.#id)).catch(() => undefined);
    const seen = facts && `${facts.mtimeMs} ${facts.size} ${facts.ino}`;
    if (seen === undefined || seen === this.#seen) return;
    try {
      // The first look can be at a node of an earlier server: a file that was edited after IOS saved is the next configuration.
      await exportConfigs(directory, this.#id, { keepsNewer: this.#seen === undefined });
      this.#seen = seen;
    } catch (error) {
      // It is tried again: at the next start the old files would replace what IOS has saved.
      if (seen !== this.#failed)
        this.#node.warn(`The configuration of ${name} could not be read from its NVRAM: ${(error as Error).message}`);
      this.#failed = seen;
    }
  }
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
