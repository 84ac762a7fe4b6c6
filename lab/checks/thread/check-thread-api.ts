/** The server's API for checks, inside a thread: requests are messages to the server, consoles and streams are ports to it. */
import type { MessagePort } from 'node:worker_threads';
import type { Method } from '../../../src/api/route.ts';
import { ThreadApi } from '../../thread/thread-api.ts';
import type { WireMessage } from '../../thread/thread-wires.ts';
import type { CaptureLimits, CheckApi, HostCommand } from '../api/check-api.ts';
import type { ConsoleWire } from '../console/console-connection.ts';

export class CheckThreadApi extends ThreadApi implements CheckApi {
  readonly captures: CaptureLimits;

  /** `tcpdump`: confined, as it reads an expression of a client and frames of guests. */
  constructor(port: MessagePort, tcpdump: HostCommand) {
    super(port);
    this.captures = { bytes: 16 * 2 ** 20, tcpdump, isPrinted: false };
  }

  override async json<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    if (!signal) return super.json<T>(method, path, body);
    signal.throwIfAborted();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    const answer = super.json<T>(method, path, body);
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async console(projectPath: string, nodeId: string): Promise<ConsoleWire> {
    return new ThreadConsole(this.connect(`${projectPath}/nodes/${nodeId}/console/ws`, 'socket'));
  }

  async auxiliary(projectPath: string, nodeId: string): Promise<ConsoleWire> {
    return new ThreadConsole(this.connect(`${projectPath}/nodes/${nodeId}/aux/ws`, 'socket'));
  }

  async stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return piecesOf(this.connect(path, 'stream'), signal);
  }
}

class ThreadConsole implements ConsoleWire {
  ended: string | undefined;
  readonly #port: MessagePort;
  readonly #early: Uint8Array[] = [];
  #receive: ConsoleWire['onReceive'] | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: WireMessage) => {
      if ('ended' in message) this.#end(message.ended);
      else {
        port.postMessage('read');
        if (this.#receive) this.#receive(message.bytes);
        else this.#early.push(message.bytes);
      }
    });
    port.on('close', () => this.#end('the server closed it'));
  }

  set onReceive(listener: ConsoleWire['onReceive']) {
    this.#receive = listener;
    for (const bytes of this.#early.splice(0)) listener(bytes);
  }

  send(bytes: Uint8Array): void {
    this.#port.postMessage({ bytes: new Uint8Array(bytes) } satisfies WireMessage);
  }

  close(): void {
    this.#port.close();
  }

  #end(reason: string): void {
    if (this.ended !== undefined) return;
    this.ended = reason || 'the server closed it';
    this.#port.close();
    this.#receive?.();
  }
}

/** Yields what arrives on a port until it ends. @throws Error why the stream failed */
async function* piecesOf(port: MessagePort, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const arrived: WireMessage[] = [];
  let wake: () => void = () => undefined;
  const push = (message: WireMessage) => {
    arrived.push(message);
    wake();
  };
  const end = () => push({ ended: '' });
  port.on('message', push);
  port.on('close', end);
  signal.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      const message = arrived.shift();
      if (!message) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      } else if ('bytes' in message) {
        yield message.bytes;
        port.postMessage('read');
      } else if (message.ended === '') return;
      else throw new Error(message.ended);
    }
  } finally {
    signal.removeEventListener('abort', end);
    port.close();
  }
}
