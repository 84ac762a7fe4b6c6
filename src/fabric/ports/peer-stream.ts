/**
 * The TCP connection between the two ends of a link that are on two computes of ours, as one end has it.
 *
 * Theory of operation. One end accepts at the TCP port with the number of its UDP port, the other one connects, and connects again
 * after every loss. Both prove that they have the link's secret (`stream-hello.ts`) before a frame is looked at; a connection that
 * proves it takes the place of the one before, for only the end that connects knows that it has begun anew. An empty frame goes each
 * way every second in which nothing is still being written: an end that hears nothing for some of them, though it reads, gives the
 * connection up, long before TCP would. With probes it is a mark that the other end answers, which gives the round trip.
 *
 * Where a relay is given, an end that has no connection after a few seconds meets the other one there, and keeps trying the direct way: a
 * direct connection takes the place of the relayed one.
 */
import { once } from 'node:events';
import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { relayHello } from '../../lib/relay-hello.ts';
import { Retry } from '../../lib/retry.ts';
import { headerBytes } from '../frames.ts';
import type { PeerPath, PortSpec, StreamSpec } from '../protocol.ts';
import { FramedSocket } from './framed-socket.ts';
import { type PortOwner, portRetry } from './port.ts';
import { RoundTrips } from './round-trips.ts';
import { shakeHands } from './stream-hello.ts';

export type PeerSpec = Extract<PortSpec, { type: 'udp' }> & { stream: StreamSpec };

const beatMs = 1000;
/** A connection is dead when so many beats were missed. */
const deadBeats = 5;
/** Most connections that have proved nothing yet; the one that has been there longest makes room. */
const maxStrangers = 8;
/**
 * A network can carry hellos and datagrams and lose whole segments, when it says nothing of its MTU: after a connection that fell
 * silent the next one waits, longer each time, and frames go as datagrams.
 */
const firstRestMs = 2_000;
const longestRestMs = 60_000;
/** A connection that lived this long did not fall silent because of the MTU. */
const soundMs = 30_000;

/** Time without a direct connection after which the ends meet at the relay. */
const relayAfterMs = 3_500;
/** Times at which the direct way is tried again, less and less often, while frames go through the relay. */
const directTimes = { firstMs: 4_000, longestMs: 30_000 };

const emptyFrame = Buffer.alloc(headerBytes);

export class PeerStream {
  connected = false;
  readonly #frames: FramedSocket;
  readonly #trips = new RoundTrips();
  /** Way of the present connection. */
  #via: PeerPath['via'] = 'direct';
  readonly #closing = new AbortController();
  /** The end waits at the relay for the other one, or is about to. */
  #isAtRelay = false;
  #probeTimer: NodeJS.Timeout | undefined;
  #relayTimer: NodeJS.Timeout | undefined;
  readonly #direct = new Retry(directTimes, () => void this.#tryDirectly());
  readonly #retry = new Retry(portRetry, () => this.#begin());
  readonly #strangers = new Set<Socket>();
  #spec: PeerSpec;
  #server: Server | undefined;
  #socket: Socket | undefined;
  #since = 0;
  #hasReceived = false;
  #missedBeats = 0;
  /** Pauses after a connection that fell silent. */
  readonly #rest = new Retry({ firstMs: firstRestMs, longestMs: longestRestMs }, () => this.#begin());
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(spec: PeerSpec, owner: PortOwner) {
    this.#spec = spec;
    const onMark = (mark: number) => {
      const answer = this.#trips.received(mark);
      if (!answer) this.#probeSoon();
      // A socket with unsent bytes gets no answer: answers would pile up for an end that does not read.
      else if (this.#socket?.writableLength === 0) this.#socket.write(answer);
    };
    this.#frames = spec.stream.probes ? new FramedSocket(owner, onMark) : new FramedSocket(owner);
    this.#begin();
    this.#relayLater();
  }

  /** Undefined while there is no connection. */
  get path(): PeerPath | undefined {
    return this.connected ? { via: this.#via, rttMs: this.#trips.shortestMs } : undefined;
  }

  /** The secret of connections to come, and where the ends meet. */
  change(spec: PeerSpec): void {
    this.#spec = spec;
    if (!this.connected) this.#relayLater();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  /** Sends frames, as `FabricPort.send`. */
  send(buffer: Buffer, start: number, end: number): boolean {
    return this.#frames.send(buffer, start, end);
  }

  resume(): void {
    this.#frames.resume();
  }

  close(): void {
    this.#closed = true;
    this.#closing.abort();
    this.#direct.stop();
    clearTimeout(this.#relayTimer);
    clearTimeout(this.#probeTimer);
    this.#retry.stop();
    this.#rest.stop();
    this.#server?.close();
    for (const stranger of this.#strangers) stranger.destroy();
    this.#giveUp();
    clearTimeout(this.#timer);
  }

  #begin(): void {
    if (this.#closed) return;
    if (this.#spec.stream.role === 'accept') this.#listen();
    else void this.#call();
  }

  /** The process that has the port keeps it; frames go as datagrams meanwhile. */
  #listen(): void {
    const { lport, rhost, bind } = this.#spec;
    const server = createServer({ noDelay: true }, (socket) => void this.#greet(socket));
    this.#server = server;
    server.on('error', () => {
      server.close();
      if (!this.#closed) this.#retry.failed();
    });
    server.on('listening', () => this.#retry.succeeded());
    server.listen({ port: lport, host: bind ?? (isIPv6(rhost) ? '::' : '0.0.0.0'), exclusive: true });
  }

  async #call(): Promise<void> {
    const { rhost, rport } = this.#spec;
    const isThere = await this.#greet(connect({ host: rhost, port: rport, noDelay: true }));
    if (isThere) this.#retry.succeeded();
    else if (!this.#closed && !this.connected) this.#retry.failed();
  }

  #relayLater(): void {
    if (!this.#spec.stream.relay || this.#isAtRelay || this.#closed) return;
    this.#isAtRelay = true;
    this.#relayTimer = setTimeout(() => void this.#meetAtRelay(), relayAfterMs);
  }

  /** Meets the other end at the relay, again and again until there is a connection, this way or directly. */
  async #meetAtRelay(): Promise<void> {
    const retry = new Retry({ firstMs: 200, longestMs: 5_000 });
    while (!this.connected && !this.#closed) {
      const socket = await this.#atRelay();
      if (socket && !this.connected && (await this.#greet(socket, 'relay'))) break;
      socket?.destroy();
      if (!this.connected) await retry.pause(this.#closing.signal);
    }
    this.#isAtRelay = false;
    if (!this.connected) this.#relayLater();
  }

  /** A direct connection, in the meantime, ends the wait. */
  async #atRelay(): Promise<Socket | undefined> {
    const enough = new AbortController();
    const { stream } = this.#spec;
    const isOver = () => this.connected || this.#spec.stream.relay?.ticket !== stream.relay?.ticket;
    const timer = setInterval(() => isOver() && enough.abort(), beatMs);
    try {
      return await callRelay(stream, AbortSignal.any([enough.signal, this.#closing.signal]));
    } finally {
      clearInterval(timer);
    }
  }

  get #isRelayed(): boolean {
    return this.connected && this.#via === 'relay';
  }

  async #tryDirectly(): Promise<void> {
    if (!this.#isRelayed) return;
    await this.#greet(connect({ host: this.#spec.rhost, port: this.#spec.rport, noDelay: true }));
    if (this.#isRelayed) this.#direct.failed();
  }

  /** Whether frames go over it now. */
  async #greet(socket: Socket, via: PeerPath['via'] = 'direct'): Promise<boolean> {
    // Whatever it is, 'close' follows.
    socket.on('error', () => undefined);
    const strangers = this.#strangers;
    for (const oldest of strangers) {
      if (strangers.size < maxStrangers) break;
      strangers.delete(oldest);
      oldest.destroy();
    }
    strangers.add(socket);
    const admitted = await shakeHands(socket, this.#spec.stream);
    strangers.delete(socket);
    if (admitted && !socket.destroyed && !admitted.destroyed && !this.#closed) {
      this.#use(admitted, via);
      return true;
    }
    admitted?.destroy();
    socket.destroy();
    return false;
  }

  #use(socket: Socket, via: PeerPath['via']): void {
    this.#giveUp();
    this.#via = via;
    this.#trips.forget();
    this.#socket = socket;
    this.#since = performance.now();
    this.#frames.use(socket);
    socket.on('close', () => this.#lost(socket, { isSilent: false }));
    // A chunk is one read of libuv, 64 KiB at most, and fits.
    socket.on('data', (chunk: Buffer) => {
      this.#hasReceived = true;
      chunk.copy(this.#frames.area);
      this.#frames.took(socket, chunk.length);
    });
    this.#missedBeats = 0;
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#beat(socket), beatMs);
    this.connected = true;
    if (via === 'relay' && this.#spec.stream.role === 'connect') this.#direct.failed();
    this.#probe(socket);
    socket.resume();
    this.#frames.ready();
  }

  #beat(socket: Socket): void {
    this.#missedBeats = this.#hasReceived || this.#frames.held ? 0 : this.#missedBeats + 1;
    this.#hasReceived = false;
    if (this.#missedBeats >= deadBeats) {
      this.#lost(socket, { isSilent: true });
      socket.destroy();
    } else this.#probe(socket);
  }

  /** Or a beat, where the other end answers no probes; nothing while frames are still being written. */
  #probe(socket: Socket): void {
    if (socket.writableLength > 0) return;
    socket.write(this.#spec.stream.probes ? this.#trips.probe() : emptyFrame);
  }

  /** Sends the next probe without waiting for a beat until the round trip is known. Called after an answer. */
  #probeSoon(): void {
    const { nextMs } = this.#trips;
    const socket = this.#socket;
    if (nextMs === undefined || !socket) return;
    clearTimeout(this.#probeTimer);
    this.#probeTimer = setTimeout(() => this.#socket === socket && this.#probe(socket), nextMs);
  }

  /** Another one takes the place of the connection, or none. */
  #giveUp(): void {
    const socket = this.#socket;
    if (!socket) return;
    this.#forget();
    socket.destroy();
  }

  #lost(socket: Socket, { isSilent }: { isSilent: boolean }): void {
    if (socket !== this.#socket) return;
    this.#forget();
    if (this.#closed || this.#spec.stream.role === 'accept') return;
    if (performance.now() - this.#since > soundMs) {
      this.#rest.succeeded();
      if (this.#via === 'direct') this.#direct.succeeded();
    }
    if (isSilent) this.#rest.failed();
    else this.#retry.failed();
  }

  #forget(): void {
    this.#socket = undefined;
    this.connected = false;
    this.#relayLater();
    clearTimeout(this.#timer);
    this.#frames.lost();
  }
}

const ready = Buffer.from([1]);

/**
 * Meets the other end of a link at a relay (`src/controller/relay/`), where neither can be connected to directly. What follows on the socket is
 * what two ends send each other on a connection of their own: the relay has no part in their proofs and keys.
 *
 * ```
 * end:    hello (lib/relay-hello.ts)
 * relay → accept: 1    accept → relay: 1    relay → connect: 1
 * ```
 *
 * The end that accepts answers before the other one is notified: no byte of the other end comes together with one of the relay.
 *
 * @returns the socket when the other end has come, too; undefined when that fails or `signal` aborts. Never rejects.
 */
async function callRelay({ relay, role }: StreamSpec, signal: AbortSignal): Promise<Socket | undefined> {
  if (!relay) return undefined;
  const socket = connect({ host: relay.host, port: relay.port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
  socket.on('error', () => undefined);
  const end = () => socket.destroy();
  signal.addEventListener('abort', end);
  try {
    socket.write(relayHello(role, relay.ticket));
    while (socket.read(ready.length) === null) {
      if (socket.readableEnded || socket.destroyed) return undefined;
      await Promise.race([once(socket, 'readable', { signal }), once(socket, 'close', { signal })]);
    }
    if (role === 'accept') socket.write(ready);
    return socket;
  } catch {
    socket.destroy();
    return undefined;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
