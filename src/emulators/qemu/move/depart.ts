/**
 * A machine that continues elsewhere: its disks are mirrored, its memory is sent while it runs, then it is paused, and the rest is sent. It
 * can continue here at any time: until it is ended nothing else may run with its disks.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../../api/faults.ts';
import { openRegular } from '../../../lib/regular-file.ts';
import { consoleStream, type MoveOffer, memoryStream } from '../../../schema/move.ts';
import type { Departure, MoveStream } from '../../driver.ts';
import { own, type RunAs } from '../../host/run-as.ts';
import { ignoreShared, settleMigration, unthrottle } from '../memory/migration.ts';
import { listenOnce, type Receiving } from '../memory/stream-socket.ts';
import type { Monitor } from '../monitor.ts';
import { DiskMirror } from './disk-mirror.ts';
import { continueHere, lastRunning, sendRest } from './precopy.ts';

const followMs = 20;

interface DepartureParts {
  readonly offer: MoveOffer;
  readonly monitor: Monitor;
  readonly runtimeDirectory: string;
  readonly consoleLog: string;
  /** Whom QEMU runs as: it connects to our sockets. */
  readonly runAs: RunAs | undefined;
}

type MoveSockets = ReadonlyMap<string, Receiving & { readonly path: string }>;

export class QemuDeparture implements Departure {
  readonly offer: MoveOffer;
  readonly #parts: DepartureParts;
  readonly #sockets: MoveSockets;
  readonly #mirror: DiskMirror;
  readonly #aborted = Promise.withResolvers<never>();
  #pausedAt = 0;
  #isPaused = false;
  /** Settles when the last step has ended. */
  #step: Promise<unknown> = Promise.resolve();

  private constructor(parts: DepartureParts, sockets: MoveSockets) {
    this.offer = parts.offer;
    this.#parts = parts;
    this.#sockets = sockets;
    this.#mirror = new DiskMirror(parts.monitor, parts.offer.drives);
    this.#aborted.promise.catch(() => undefined);
  }

  /** Nothing is sent yet. A failure leaves no socket. @throws errors of the system */
  static async prepare(parts: DepartureParts): Promise<QemuDeparture> {
    await using made = new AsyncDisposableStack();
    const sockets = new Map<string, Receiving & { readonly path: string }>();
    for (const name of [...parts.offer.drives.map((drive) => drive.name), memoryStream]) {
      const path = join(parts.runtimeDirectory, `to-${name}`);
      await rm(path, { force: true });
      const receiving = await listenOnce(path);
      made.defer(() => receiving.close());
      if (parts.runAs) await own(parts.runAs, [path]);
      sockets.set(name, { ...receiving, path });
    }
    made.move();
    return new QemuDeparture(parts, sockets);
  }

  /** Resolves when QEMU has connected. @throws move_refused when there is no such stream, or it was aborted */
  async stream(name: string): Promise<MoveStream> {
    if (name === consoleStream) return { from: Readable.from(this.#console(), { objectMode: false }) };
    const socket = this.#sockets.get(name);
    if (!socket) throw fault('move_refused', { name, reason: 'there is no such stream' });
    const stream = await Promise.race([socket.stream, this.#aborted.promise]);
    return { from: stream, into: stream };
  }

  mirror(): Promise<void> {
    return this.#take(() => this.#mirror.begin((name) => this.#sockets.get(name)?.path ?? ''));
  }

  pause(): Promise<void> {
    return this.#take(() => this.#pause());
  }

  finish(): Promise<number> {
    return this.#take(() => this.#finish());
  }

  #take<T>(step: () => Promise<T>): Promise<T> {
    const taken = step();
    this.#step = taken.catch(() => undefined);
    return taken;
  }

  async #pause(): Promise<void> {
    const { monitor } = this.#parts;
    await unthrottle(monitor);
    // A machine that was restored itself ignored it.
    await ignoreShared(monitor, false);
    const { accelerator } = this.offer.machine;
    this.#pausedAt = await lastRunning(monitor, accelerator, this.#sockets.get(memoryStream)?.path ?? '');
  }

  async #finish(): Promise<number> {
    const { monitor } = this.#parts;
    await this.#mirror.end();
    this.#isPaused = true;
    await sendRest(monitor);
    return performance.now() - this.#pausedAt;
  }

  async abort(): Promise<void> {
    this.#isPaused = true;
    this.#aborted.reject(fault('move_refused', { name: 'the machine', reason: 'its move was given up' }));
    this.#close();
    await this.#mirror.cancel();
    await settleMigration(this.#parts.monitor);
    // The pending step fails now; left running, it could pause a machine that runs again.
    await this.#step;
    await continueHere(this.#parts.monitor);
  }

  end(): void {
    this.#isPaused = true;
    this.#close();
  }

  #close(): void {
    for (const { close, path } of this.#sockets.values()) {
      close();
      rm(path, { force: true }).catch(() => undefined);
    }
  }

  /** Streams the guest's console output until the guest is paused. */
  async *#console(): AsyncGenerator<Buffer> {
    let start = 0;
    for (;;) {
      const isLast = this.#isPaused;
      try {
        const { file } = await openRegular(this.#parts.consoleLog, { noFollow: true });
        for await (const chunk of file.createReadStream({ start })) {
          start += (chunk as Buffer).length;
          yield chunk as Buffer;
        }
      } catch {
        // A machine without a log has printed nothing.
      }
      if (isLast) return;
      await delay(followMs);
    }
  }
}
