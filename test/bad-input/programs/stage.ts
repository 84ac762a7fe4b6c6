/** A server on a small disk and a remote compute behind a cable that can be cut: what programs are played on. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, realpath, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, connect as openSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RawClient } from '../../support/raw-http.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type WatchedLoop, watchedLoop } from '../../support/watched-loop.ts';

const run = promisify(execFile);
const diskMiB = 192;
const [user, password] = ['teacher', 'correct-horse'];
/** Paths that stay with a server: sockets of what runs, and files such as keys; those of a project have its id in their names. */
const madeOnce = /^(?:run\/|(?:state|images)\/(?!.*[0-9a-f]{8}-))/;
export const awayId = '0a0a0a0a-0000-4000-8000-000000000001';

/** A cable to a TCP port of this host. */
class Cable {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#join(socket));
  readonly #target: number;
  #isCut = false;

  constructor(target: number) {
    this.#target = target;
  }

  async open(): Promise<number> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  repair(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(socket: Socket): void {
    if (this.#isCut) return void socket.destroy();
    const other = openSocket(this.#target, '127.0.0.1');
    for (const [one, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => to.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        to.destroy();
      });
      one.pipe(to);
    }
  }
}

export class Stage implements AsyncDisposable {
  readonly server: RunningServer;
  readonly away: RunningServer;
  readonly cable: Cable;
  readonly loop: WatchedLoop;
  /** Whether its disk can be filled: only root mounts one. */
  readonly hasDisk: boolean;
  readonly #folder: string;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<Stage, 'server' | 'away' | 'cable' | 'loop' | 'hasDisk'>,
    folder: string,
    stack: AsyncDisposableStack,
  ) {
    this.server = parts.server;
    this.away = parts.away;
    this.cable = parts.cable;
    this.loop = parts.loop;
    this.hasDisk = parts.hasDisk;
    this.#folder = folder;
    this.#stack = stack;
  }

  static async open(): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'pb-programs-')));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const disk = join(folder, 'disk');
    await mkdir(disk);
    const hasDisk = await run('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'tmpfs', disk]).then(
      () => true,
      () => false,
    );
    if (hasDisk) {
      // A test process that is ended at its limit leaves no file system behind.
      const unmount = () => execFileSync('umount', ['-l', disk]);
      process.once('exit', unmount);
      stack.defer(() => {
        process.off('exit', unmount);
        unmount();
      });
    }
    const temporary = join(folder, 'tmp');
    await mkdir(temporary);
    const loop = watchedLoop();
    const common = { Docker: { socket_path: join(folder, 'none') }, Qemu: { acceleration: 'off' } };
    const away = await startServer({
      stopNodes: false,
      env: { TMPDIR: temporary },
      config: { ...common, Server: { auth: true, user, password } },
    });
    stack.defer(() => away.stop());
    const cable = new Cable(away.port);
    stack.defer(() => cable.close());
    const port = await cable.open();
    const server = await startServer({
      stopNodes: false,
      dataDir: join(disk, 'data'),
      env: { ...loop.env, TMPDIR: temporary },
      config: { ...common, Server: { min_free_bytes: 0 } },
    });
    stack.defer(() => server.stop());
    using client = new RawClient(server.url);
    await client.post('/v2/computes', {
      compute_id: awayId,
      name: 'away',
      protocol: 'http',
      host: '127.0.0.1',
      port,
      user,
      password,
    });
    const stage = new Stage({ server, away, cable, loop, hasDisk }, folder, stack.move());
    await stage.untilAway(client);
    return stage;
  }

  /** Waits until the remote compute is connected. */
  async untilAway(client: RawClient): Promise<void> {
    const isConnected = async () => (await client.get(`/v2/computes/${awayId}`)).connected === true;
    await waitFor(isConnected, { what: 'the remote compute, connected', limitMs: 120_000 });
  }

  clientOfAway(): RawClient {
    const credentials = Buffer.from(`${user}:${password}`).toString('base64');
    return new RawClient(this.away.url, { authorization: `Basic ${credentials}` });
  }

  /** Fills the disk to its last byte. @returns how to free it */
  async fill(): Promise<() => Promise<void>> {
    const path = join(this.#folder, 'disk', 'ballast');
    const file = await open(path, 'a');
    for (const size of [1 << 20, 65_536, 4096, 512, 64, 8, 1]) {
      const block = Buffer.alloc(size, 1);
      while ((await file.write(block).catch(() => ({ bytesWritten: 0 }))).bytesWritten === size);
    }
    await file.close();
    return () => rm(path, { force: true });
  }

  /** Files and folders of both servers, without those of what runs. */
  async paths(): Promise<ReadonlySet<string>> {
    const found = await Promise.all([this.server, this.away].map(({ dataDir }) => pathsBelow(dataDir, '')));
    return new Set(found.flat().filter((path) => !madeOnce.test(path)));
  }

  get temporary(): string {
    return join(this.#folder, 'tmp');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Paths relative to a folder. Folders of deleted projects are removed while they are read. */
async function pathsBelow(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const paths = entries.map(async (entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? [path, ...(await pathsBelow(folder, path))] : [path];
  });
  return (await Promise.all(paths)).flat();
}
