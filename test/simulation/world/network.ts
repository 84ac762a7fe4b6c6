/**
 * The network between the controller and the hosts of other computes. Packets take time; a cable that is pulled holds them until it is plugged
 * in again, or until who sent them has given up. What was sent may arrive although its sender does not wait for it any more.
 */
import { isFault } from '../../../src/api/faults.ts';
import { LocalTransport } from '../../../src/api/local-transport.ts';
import { epochHeader } from '../../../src/api/own-agent.ts';
import type { Method } from '../../../src/api/route.ts';
import type { Kernel, Process } from '../engine/kernel.ts';
import type { Connection, Internet, Wire, WireAnswer, WireRequest } from '../engine/simulation.ts';
import type { SimulatedCompute } from './compute.ts';

interface OpenConnection {
  readonly connection: Connection;
  readonly owner: Process;
}

export interface ControllerAnswer {
  readonly status: number;
  readonly value: Readonly<Record<string, unknown>>;
}

class Host {
  readonly compute: SimulatedCompute;
  readonly transport: LocalTransport<unknown>;
  isCut = false;
  cuts = 0;
  cutAt = 0;
  /** Time until which events of the compute come late, each later than the answers of requests. */
  lateUntil = 0;
  /** Packets on the way while the cable is pulled. */
  stuck: (() => void)[] = [];
  readonly connections = new Set<OpenConnection>();

  constructor(compute: SimulatedCompute) {
    this.compute = compute;
    const capabilities = { version: null, node_types: [] };
    this.transport = new LocalTransport({ routes: compute.routes(), events: compute.events, capabilities });
  }
}

/** Longest time between two repetitions of TCP. */
const repeatedMs = 60_000;
/** TCP's: probes that are not answered. */
const probesMs = 11_000;
const connectMs = 5_000;
/** Less often than by a real one: a controller gives up on one that is silent for a minute. */
const pingMs = 40_000;

export class Network implements Internet {
  readonly #kernel: Kernel;
  readonly #hosts = new Map<string, Host>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  add(name: string, compute: SimulatedCompute): void {
    this.#hosts.set(name, new Host(compute));
  }

  request({ host: name, connection, ...sent }: WireRequest): Promise<WireAnswer> {
    const host = this.#host(name);
    const owner = this.#kernel.current;
    const { promise, resolve } = Promise.withResolvers<WireAnswer>();
    const answered = (answer: WireAnswer) =>
      this.#travel(host, () => {
        // The process that sent the request may have been killed.
        if (connection.isOpen) this.#kernel.after(0, () => resolve(answer), owner);
      });
    const arrived = () => {
      const isWaited = connection.isOpen && owner.isAlive;
      if (!isWaited && this.#kernel.chance.next() < 0.5) return;
      const { process } = host.compute;
      if (!process) return this.#end(connection, owner, 'other side closed');
      this.#kernel.after(0, () => void handle(host, sent).then(answered), process);
    };
    /** The kernel sends again what was not acknowledged, less and less often, also after its program has closed the connection. */
    const repeated = () =>
      connection.isOpen && owner.isAlive
        ? arrived()
        : this.#kernel.after(this.#kernel.chance.between(0, repeatedMs), () => this.#travel(host, arrived), this.#kernel.world);
    this.#connect(host, { connection, owner }, () => this.#travel(host, repeated));
    return promise;
  }

  /** A request from a host to the controller. @throws why it has no answer */
  async toController(
    name: string,
    handle: () => Promise<ControllerAnswer> | undefined,
    signal: AbortSignal,
  ): Promise<ControllerAnswer> {
    const host = this.#host(name);
    const owner = this.#kernel.current;
    const { promise, resolve, reject } = Promise.withResolvers<ControllerAnswer>();
    const back = (run: () => void) => this.#travel(host, () => this.#kernel.after(0, run, owner));
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    const release = () => signal.removeEventListener('abort', abort);
    promise.then(release, release);
    this.#travel(host, () => {
      const refused = () => back(() => reject(new Error('connect ECONNREFUSED')));
      const answer = handle();
      if (answer) answer.then((value) => back(() => resolve(value)), refused);
      else refused();
    });
    return promise;
  }

  openSocket(name: string, _path: string, connection: Connection): Wire {
    const host = this.#host(name);
    const owner = this.#kernel.current;
    const wire: Wire = { onOpen: () => undefined, onMessage: () => undefined, onClose: () => undefined, close: () => undefined };
    this.#connect(host, { connection, owner }, () =>
      this.#travel(host, () => {
        const { events, process } = host.compute;
        if (!process || !connection.isOpen) return this.#end(connection, owner, 'other side closed');
        /** Messages on the way: they arrive in order, also those that a pulled cable has held. */
        const sent: string[] = [];
        const arrive = () => {
          const text = sent.shift();
          if (connection.isOpen && text !== undefined) this.#kernel.after(0, () => wire.onMessage(text), owner);
        };
        const send = (text: string) => {
          sent.push(text);
          const isLate = this.#kernel.now < host.lateUntil;
          this.#travel(host, arrive, isLate ? this.#kernel.chance.between(50, 2_000) : undefined);
        };
        const unsubscribe = events.subscribe((event) =>
          connection.isOpen && owner.isAlive ? send(JSON.stringify(event)) : unsubscribe(),
        );
        const ping = () => {
          if (!connection.isOpen || !owner.isAlive) return;
          send(JSON.stringify({ action: 'ping', event: { cpu_usage_percent: 1, memory_usage_percent: 1 } }));
          this.#kernel.after(pingMs, ping, process);
        };
        this.#kernel.after(1_000, ping, process);
        this.#travel(host, () => this.#kernel.after(0, () => wire.onOpen(), owner));
      }),
    );
    return wire;
  }

  /** The process of a compute ended: its kernel closes what it had open. */
  closed(compute: SimulatedCompute): void {
    for (const host of this.#hosts.values())
      if (host.compute === compute)
        for (const open of host.connections) this.#travel(host, () => this.#end(open.connection, open.owner, 'other side closed'));
  }

  /** A program in between closes all connections. */
  reset(name: string): void {
    for (const { connection, owner } of this.#host(name).connections) this.#end(connection, owner, 'read ECONNRESET');
  }

  /** Events of a host come late for a time. */
  delayEvents(name: string, durationMs: number): void {
    this.#host(name).lateUntil = this.#kernel.now + durationMs;
  }

  cut(name: string): void {
    const host = this.#host(name);
    if (host.isCut) return;
    host.isCut = true;
    host.cuts += 1;
    host.cutAt = this.#kernel.now;
    const { cuts } = host;
    this.#kernel.after(
      probesMs,
      () => {
        if (!host.isCut || host.cuts !== cuts) return;
        for (const { connection, owner } of host.connections) this.#end(connection, owner, 'read ETIMEDOUT', 'ETIMEDOUT');
      },
      this.#kernel.world,
    );
  }

  isCut(name: string): boolean {
    return this.#host(name).isCut;
  }

  heal(name: string): void {
    const host = this.#host(name);
    if (!host.isCut) return;
    host.isCut = false;
    const { stuck } = host;
    host.stuck = [];
    for (const arrive of stuck) this.#travel(host, arrive);
  }

  #connect(host: Host, open: OpenConnection, connected: () => void): void {
    const { connection, owner } = open;
    host.connections.add(open);
    const watch = connection.onEnd;
    connection.onEnd = (error) => {
      host.connections.delete(open);
      watch(error);
    };
    this.#kernel.after(
      this.#latency(),
      () => {
        // A connection that was kept open takes a request until its end is noticed.
        const isKept = host.isCut && this.#kernel.now < host.cutAt + probesMs && this.#kernel.chance.next() < 0.5;
        if (host.isCut && !isKept) {
          this.#kernel.after(connectMs, () => this.#end(connection, owner, 'Connect Timeout Error'), this.#kernel.world);
        } else if (!host.compute.process) this.#end(connection, owner, 'connect ECONNREFUSED');
        else connected();
      },
      this.#kernel.world,
    );
  }

  /** Has something arrive at a host after a delay, unless the hosts are cut off. */
  #travel(host: Host, arrive: () => unknown, delayMs = this.#latency()): void {
    if (host.isCut) {
      host.stuck.push(() => void arrive());
      return;
    }
    this.#kernel.after(
      delayMs,
      () => {
        if (host.isCut) host.stuck.push(() => void arrive());
        else arrive();
      },
      this.#kernel.world,
    );
  }

  #end(connection: Connection, owner: Process, reason: string, code?: string): void {
    this.#kernel.after(0, () => connection.end(Object.assign(new Error(reason), code && { code })), owner);
  }

  #latency(): number {
    const { chance } = this.#kernel;
    const isLate = chance.next() < 0.03;
    return isLate ? chance.next() * 4_000 : 0.2 + chance.next() * 15;
  }

  #host(name: string): Host {
    const host = this.#hosts.get(name);
    if (!host) throw new Error(`there is no host ${name}`);
    return host;
  }
}

async function handle(
  { compute, transport }: Host,
  { method, path, body, headers }: Pick<WireRequest, 'method' | 'path' | 'body' | 'headers'>,
): Promise<WireAnswer> {
  try {
    compute.held.refuseOutdated(headers[epochHeader]);
    const answer = await transport.raw(method as Method, path, body === null ? undefined : Buffer.from(body));
    return { status: answer.status, text: Buffer.from(answer.body as Uint8Array).toString() };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { status: error.status, text: JSON.stringify({ message: error.message, status: error.status }) };
  }
}
