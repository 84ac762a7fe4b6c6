/**
 * A client of QEMU's machine protocol (QMP): JSON lines over a Unix socket. The greeting comes first, then `qmp_capabilities`;
 * commands carry an id, answers come with the same id, events come in between.
 * QEMU serves one client at a time: a second connection hangs until the first has gone.
 * @see QEMU docs/interop/qmp-spec.txt
 */
import type { Socket } from 'node:net';
import { connectSocket } from '../../process/unix-socket.ts';

export interface QmpEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface PendingCommand {
  resolve(value: unknown): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

/** An error that QEMU answered with, in its words. */
class QmpError extends Error {}

/** Longest line in characters: the largest answer that is asked for has some 100 KiB, and a line is parsed in one turn. */
const longestLine = 1 << 20;
/** Longest words of QEMU that are passed on. */
const longestReason = 1000;

export class Qmp {
  readonly #socket: Socket;
  readonly #onEvent: (event: QmpEvent) => void;
  readonly #waiting = new Map<number, PendingCommand>();
  readonly closed: Promise<void>;
  #greeted: PromiseWithResolvers<void> = Promise.withResolvers();
  #rest = '';
  #lastId = 0;

  private constructor(socket: Socket, onEvent: (event: QmpEvent) => void) {
    this.#socket = socket;
    this.#onEvent = onEvent;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        const error = new QmpError('QEMU closed the connection');
        this.#greeted.reject(error);
        for (const waiting of this.#waiting.values()) waiting.reject(error);
        resolve();
      });
    });
    this.#greeted.promise.catch(() => {});
  }

  /** Connects and agrees on capabilities. Rejects when no process listens, or nothing is answered within `limitMs`. */
  static async connect(path: string, onEvent: (event: QmpEvent) => void, limitMs: number): Promise<Qmp> {
    const socket = connectSocket(path);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    const qmp = new Qmp(socket, onEvent);
    const timer = setTimeout(() => socket.destroy(), limitMs);
    try {
      await qmp.#greeted.promise;
      await qmp.execute('qmp_capabilities', {}, limitMs);
      return qmp;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs a command. Rejects with QEMU's words, or when no answer came in time. */
  execute(command: string, args: Readonly<Record<string, unknown>> = {}, limitMs = 10_000): Promise<unknown> {
    if (this.#socket.destroyed) return Promise.reject(new QmpError('QEMU closed the connection'));
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => reject(new QmpError(`QEMU did not answer ${command} within ${limitMs / 1000} s`)), limitMs);
    this.#waiting.set(id, { resolve, reject, timer });
    this.#socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(id);
    });
  }

  /** Runs a line of the human monitor. It answers with text; what it printed is returned, empty for success of most commands. */
  async human(line: string, limitMs?: number): Promise<string> {
    const text = await this.execute('human-monitor-command', { 'command-line': line }, limitMs);
    return typeof text === 'string' ? text.trim() : '';
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#rest += text;
    if (this.#rest.length > longestLine) return void this.#socket.destroy();
    for (let end = this.#rest.indexOf('\n'); end >= 0; end = this.#rest.indexOf('\n')) {
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 1);
      if (line.trim() !== '') this.#takeLine(line);
    }
  }

  #takeLine(line: string): void {
    const message = objectOf(line);
    if (message === undefined) {
      this.#socket.destroy();
      return;
    }
    if ('QMP' in message) this.#greeted.resolve();
    else if (typeof message.event === 'string') {
      this.#onEvent({ event: message.event, data: asObject(message.data) ?? {} });
    } else if (typeof message.id === 'number') {
      const waiting = this.#waiting.get(message.id);
      if (message.error === undefined) waiting?.resolve(message.return);
      else waiting?.reject(new QmpError(reasonOf(message.error)));
    }
  }
}

/** Parses a line; undefined: it is no JSON object, and did not come from QEMU as it is distributed. */
function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function reasonOf(error: unknown): string {
  const desc = asObject(error)?.desc;
  return typeof desc === 'string' ? desc.slice(0, longestReason) : 'QEMU reported an error';
}
