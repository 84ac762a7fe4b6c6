/** Adapts the command line's client to the API of checks. */

import type { CheckApi } from '../../lab/checks/api/check-api.ts';
import type { ConsoleWire } from '../../lab/checks/console/console-connection.ts';
import type { Method } from '../../src/api/route.ts';
import { type ConsoleSocket, openConsole } from '../lab/console-socket.ts';
import type { ServerClient } from '../server-client.ts';

export function checkApi(client: ServerClient): CheckApi {
  return {
    json: <T>(method: Method, path: string, body?: unknown, signal?: AbortSignal) => client.json<T>(method, path, body, signal),
    text: (path) => client.text(path),
    upload: (path, text) => client.upload(path, text),
    async stream(path, signal) {
      const { body } = await client.send('GET', path);
      if (!body) throw new Error(`${path} was answered without a body`);
      signal.addEventListener('abort', () => void body.cancel().catch(() => undefined), { once: true });
      return body;
    },
    console: async (projectPath, nodeId) => wireOf(await openConsole(client, projectPath, nodeId)),
    auxiliary: async (projectPath, nodeId) => wireOf(await openConsole(client, projectPath, nodeId, 'aux')),
  };
}

function wireOf(socket: ConsoleSocket): ConsoleWire {
  const early: Uint8Array[] = [];
  let receive: ConsoleWire['onReceive'] | undefined;
  let ended: string | undefined;
  socket.onData((data) => {
    if (receive) receive(data);
    else early.push(data);
  });
  void socket.closed.then((reason) => {
    ended = reason || 'the server closed it';
    receive?.();
  });
  return {
    get ended() {
      return ended;
    },
    set onReceive(listener: ConsoleWire['onReceive']) {
      receive = listener;
      for (const data of early.splice(0)) listener(data);
    },
    send: (bytes) => socket.send(new Uint8Array(bytes)),
    close: () => socket.close(),
  };
}
