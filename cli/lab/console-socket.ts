/** Opens a node's console over its WebSocket: bytes of a serial line, without telnet commands. */
import { TelnetStripper } from '../../src/lib/telnet.ts';
import { CliUsageError } from '../command.ts';
import type { ServerClient } from '../server-client.ts';

export interface ConsoleSocket {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  onData(listener: (data: Uint8Array) => void): void;
  /** Resolves with the reason when the console is closed. */
  readonly closed: Promise<string>;
  close(): void;
}

/** Opens the console. @throws the reason why it cannot be opened */
export async function openConsole(
  api: ServerClient,
  projectPath: string,
  nodeId: string,
  which: 'console' | 'aux' = 'console',
): Promise<ConsoleSocket> {
  const path = `${projectPath}/nodes/${nodeId}/${which}/ws`;
  const { ticket } = await api.json<{ ticket: string }>('POST', '/v2/tickets', { path });
  const url = new URL(`${api.url}${path}`);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.searchParams.set('ticket', ticket);
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  const stripper = new TelnetStripper();
  const listeners: ((data: Uint8Array) => void)[] = [];
  socket.addEventListener('message', ({ data }) => {
    const bytes = typeof data === 'string' ? Buffer.from(data) : new Uint8Array(data as ArrayBuffer);
    for (const listener of listeners) listener(stripper.push(bytes));
  });
  const closed = new Promise<string>((resolve) => {
    socket.addEventListener('close', ({ reason }) => resolve(reason));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () =>
      reject(new CliUsageError('the console cannot be opened: is the node started, and does it have one?')),
    );
  });
  return {
    send: (data) => socket.send(data),
    onData: (listener) => void listeners.push(listener),
    closed,
    close: () => socket.close(),
  };
}
