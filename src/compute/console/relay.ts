/** A console that its emulator serves itself, on a Unix socket: each admitted client of the TCP port has a connection of its own to it. */
import { connect, type Socket } from 'node:net';
import { ConsolePort, type ConsolePortOptions } from './console-port.ts';

export interface RelayOptions extends ConsolePortOptions {
  /** Of the emulator's socket. */
  readonly path: string;
}

export class ConsoleRelay {
  readonly #options: RelayOptions;
  #port: ConsolePort;

  private constructor(options: RelayOptions, port: ConsolePort) {
    this.#options = options;
    this.#port = port;
  }

  /** @throws console_unavailable when the port cannot be listened on */
  static async open(options: RelayOptions): Promise<ConsoleRelay> {
    return new ConsoleRelay(options, await listen(options));
  }

  /** Disconnects all clients, and lets new ones in. */
  async reset(): Promise<void> {
    const port = this.#port.number;
    await this.#port.close();
    this.#port = await listen({ ...this.#options, port });
  }

  /** Resolves when the port is free again. */
  close(): Promise<void> {
    return this.#port.close();
  }
}

function listen(options: RelayOptions): Promise<ConsolePort> {
  return ConsolePort.open(options, (client) => join(client, connect(options.path)));
}

/** What either side has sent is delivered before the other is closed; a side that does not read holds the other. */
function join(client: Socket, emulator: Socket): void {
  // `close` follows.
  emulator.on('error', () => {});
  emulator.on('close', () => client.destroySoon());
  client.on('close', () => emulator.destroySoon());
  client.pipe(emulator);
  emulator.pipe(client);
}
