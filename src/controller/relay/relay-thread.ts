/**
 * The thread of the relay: a TCP port at which the two ends of a link meet, by its ticket, when neither reaches the other.
 *
 * Theory of operation. An end says its role and ticket (`lib/relay-hello.ts`); one whose ticket is not known is disconnected. When
 * both are here, the end that accepts is notified, answers, and then the other one is notified; from then on bytes are passed on,
 * both ways. A side that is not read stops the other one: no more is held than the buffers of two sockets. What passes is the
 * stream of two fabrics, which prove to each other that they have the link's secret and encrypt it: the ticket follows from the
 * secret, and not the other way.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { type RelayRole, readRelayHello, relayHelloBytes } from '../../lib/relay-hello.ts';

/** Orders of the controller to the thread. */
export type RelayOrder = { readonly admit: string } | { readonly revoke: string };

const helloMs = 3_000;
/** Limit of connections that have not sent a hello yet; a further one replaces the oldest. */
const mostStrangers = 64;
const notice = Buffer.from([1]);

/** Ends of a link that meet under a ticket. */
interface Meeting {
  /** Ends that wait for the other one. */
  readonly waiting: Partial<Record<RelayRole, Socket>>;
  /** The two ends that have met last. */
  joined: readonly Socket[];
}

class Relay {
  readonly #tickets = new Map<string, Meeting>();
  readonly #strangers = new Set<Socket>();
  readonly server: Server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 }, (socket) =>
    this.#came(socket),
  );

  order(order: RelayOrder): void {
    if ('admit' in order) {
      if (!this.#tickets.has(order.admit)) this.#tickets.set(order.admit, { waiting: {}, joined: [] });
      return;
    }
    const { waiting = {}, joined = [] } = this.#tickets.get(order.revoke) ?? {};
    this.#tickets.delete(order.revoke);
    for (const socket of [...Object.values(waiting), ...joined]) socket.destroy();
  }

  #came(socket: Socket): void {
    socket.on('error', () => undefined);
    for (const oldest of this.#strangers) {
      if (this.#strangers.size < mostStrangers) break;
      this.#strangers.delete(oldest);
      oldest.destroy();
    }
    this.#strangers.add(socket);
    const timer = setTimeout(() => socket.destroy(), helloMs);
    const leave = () => {
      clearTimeout(timer);
      this.#strangers.delete(socket);
    };
    socket.once('close', leave);
    const read = () => {
      const bytes = socket.read(relayHelloBytes) as Buffer | null;
      if (!bytes) return;
      socket.off('readable', read);
      leave();
      const hello = readRelayHello(bytes);
      const meeting = hello && this.#tickets.get(hello.ticket);
      if (!hello || !meeting) socket.destroy();
      else this.#wait(socket, hello.role, meeting);
    };
    socket.on('readable', read);
  }

  /** The newest of a role counts, and the newest pair: only the ends themselves know that they have begun anew. */
  #wait(socket: Socket, role: RelayRole, meeting: Meeting): void {
    const { waiting } = meeting;
    waiting[role]?.destroy();
    waiting[role] = socket;
    const leave = () => {
      if (waiting[role] === socket) delete waiting[role];
    };
    socket.once('close', leave);
    // The end of a socket is seen only while it is read. One that waits has nothing to send.
    const watch = () => {
      if (socket.read() !== null) socket.destroy();
    };
    socket.on('readable', watch);
    socket.once('end', () => socket.destroy());
    const { accept, connect } = waiting;
    if (!accept || !connect) return;
    for (const one of [accept, connect]) one.removeAllListeners('readable');
    delete waiting.accept;
    delete waiting.connect;
    for (const before of meeting.joined) before.destroy();
    meeting.joined = [accept, connect];
    join(accept, connect);
  }
}

function join(accept: Socket, connect: Socket): void {
  for (const [one, other] of [
    [accept, connect],
    [connect, accept],
  ] as const)
    one.once('close', () => other.destroy());
  const timer = setTimeout(() => accept.destroy(), helloMs);
  const answered = () => {
    const byte = accept.read(notice.length) as Buffer | null;
    if (!byte) return;
    clearTimeout(timer);
    accept.off('readable', answered);
    connect.write(notice);
    accept.pipe(connect);
    connect.pipe(accept);
  };
  accept.once('close', () => clearTimeout(timer));
  accept.on('readable', answered);
  accept.write(notice);
}

const relay = new Relay();
relay.server.once('error', (error) => {
  throw error;
});
relay.server.listen((workerData as { port: number }).port, () => {
  parentPort?.postMessage({ port: (relay.server.address() as { port: number }).port });
});
parentPort?.on('message', (order: RelayOrder) => relay.order(order));
