/** Makes streams of the engine reachable the way consoles of other emulators are: on a socket of this host. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export class Bridge {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `open` is called for each client; one whose stream cannot be opened is hung up on. */
  static async listen({ path }: { readonly path: string }, open: () => Promise<Duplex>): Promise<Bridge> {
    const bridge = new Bridge(createServer((client) => bridge.#serve(client, open)));
    await rm(path, { force: true });
    bridge.#server.listen(path);
    await once(bridge.#server, 'listening');
    return bridge;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  #serve(client: Socket, open: () => Promise<Duplex>): void {
    this.#clients.add(client);
    // Input that comes before the stream is there waits in the socket.
    client.pause();
    client.on('error', () => undefined);
    client.on('close', () => this.#clients.delete(client));
    open().then(
      (stream) => {
        stream.on('error', () => undefined);
        // The last data of the stream may still wait for the client.
        stream.on('close', () => client.destroySoon());
        client.on('close', () => stream.destroy());
        stream.pipe(client);
        client.pipe(stream);
        if (client.destroyed) stream.destroy();
      },
      () => client.destroy(),
    );
  }
}
