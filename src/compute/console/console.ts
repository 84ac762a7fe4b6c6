import type { ConsoleSource } from '../../emulators/driver.ts';

export interface ConsoleOptions {
  readonly source: ConsoleSource;
  /** Address to listen on. */
  readonly host: string;
  /** TCP port to listen on; 0 picks a free one. */
  readonly port: number;
  /** A line for people, shown to each new client and in answer to "are you there". */
  readonly banner?: string;
}

/** Where output goes that is not a TCP connection: a WebSocket. */
export interface Sink {
  send(bytes: Uint8Array): void;
  /** Bytes queued for a client that does not read; absent: never waits. */
  bufferedAmount?(): number;
  close(): void;
}

export interface NodeConsole {
  readonly port: number;
  /** Cuts all clients and both sides' connections, and opens them anew. */
  reset(): Promise<void>;
  close(): Promise<void>;
  /** Adds a client that speaks as a TCP client would: telnet negotiation, doubled 0xff. */
  attach(sink: Sink): { write(bytes: Uint8Array): void; detach(): void };
}

export function openConsole(_options: ConsoleOptions): Promise<NodeConsole> {
  return Promise.reject(new Error('not written yet'));
}
