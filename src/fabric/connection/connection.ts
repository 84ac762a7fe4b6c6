/** A client's connection to the fabric's control socket: requests are sent at once, answers are matched by id. */
import { connect, type Socket } from 'node:net';
import { fault } from '../../api/faults.ts';
import { LineSplitter } from '../../lib/line-splitter.ts';
import type { PcLine, PcReport, Reply, ReplyLine, Request } from '../protocol.ts';

/** The connection ended before the answer came. Whether the request was carried out is not known. */
export class ConnectionLost extends Error {}

interface PendingRequest {
  settle(result: unknown): void;
  refuse(error: Error): void;
}

export class Connection {
  /** Settles when it has ended. */
  readonly ended: Promise<void>;
  /** Called for each change of a PC, once `watch_pcs` was asked. */
  onPc: ((report: PcReport) => void) | undefined;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, PendingRequest>();
  #lastId = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const splitter = new LineSplitter((line) => this.#answered(line));
    socket.on('data', (chunk) => {
      if (!splitter.add(chunk)) socket.destroy();
    });
    socket.on('error', () => undefined);
    this.ended = new Promise((settle) => {
      socket.once('close', () => {
        for (const { refuse } of this.#waiting.values()) refuse(new ConnectionLost('the connection to the fabric was lost'));
        this.#waiting.clear();
        settle();
      });
    });
  }

  /** Undefined when no process listens there. */
  static open(path: string): Promise<Connection | undefined> {
    return new Promise((settle) => {
      const socket = connect(path);
      socket.once('connect', () => settle(new Connection(socket)));
      socket.once('error', () => settle(undefined));
    });
  }

  /** @throws ConnectionLost, or fabric_unavailable when the fabric refuses or does not answer in time. */
  request<R extends Request>(request: R, limitMs: number): Promise<Reply<R>> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<Reply<R>>((resolve, reject) => {
      if (this.#socket.destroyed) {
        reject(new ConnectionLost('the connection to the fabric was lost'));
        return;
      }
      const limit = setTimeout(() => {
        this.#waiting.delete(id);
        reject(fault('fabric_unavailable', { reason: `no answer to ${request.op} within ${Math.round(limitMs)} ms` }));
      }, limitMs);
      this.#waiting.set(id, {
        settle: (result) => {
          clearTimeout(limit);
          resolve(result as Reply<R>);
        },
        refuse: (error) => {
          clearTimeout(limit);
          reject(error);
        },
      });
      // Requests that are made one after the other leave in one write.
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
      this.#socket.write(`${JSON.stringify({ id, ...request })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #answered(line: string): void {
    let reply: ReplyLine | PcLine;
    try {
      reply = JSON.parse(line) as ReplyLine | PcLine;
    } catch {
      this.#socket.destroy();
      return;
    }
    if ('pc' in reply) {
      this.onPc?.(reply.pc);
      return;
    }
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('error' in reply) waiting?.refuse(fault('fabric_unavailable', { reason: reply.error }));
    else waiting?.settle(reply.result);
  }
}
