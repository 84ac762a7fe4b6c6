/** A server under attack: not local, with and without credentials, with bait beside it, and watched from outside. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../../src/emulators/host/find-program.ts';
import { makeChance } from '../../durability/random.ts';
import { RawClient } from '../../support/raw-http.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type WatchedLoop, watchedLoop } from '../../support/watched-loop.ts';
import { createNode, createProject, end, idleVm } from '../../support/with-server.ts';
import { setUp, tearDown } from '../fuzz/lab.ts';
import type { OpenApi } from '../fuzz/operations.ts';
import { World } from '../fuzz/world.ts';
import { BaitFolder } from './bait.ts';
import { ChildWatch } from './child-watch.ts';
import { type Footprint, footprintOf, leaksOf } from './footprint.ts';
import type { AttackTarget } from './http.ts';

/** Processor time of one round of the event loop, milliseconds. */
const longestRoundMs = 100;
const settleMs = 30_000;
const allowed = { host: 'lab.example', origin: 'https://page.example' };
const authorization = `Basic ${Buffer.from('teacher:right').toString('base64')}`;

export interface BenchOptions {
  readonly auth: boolean;
  /** Programs that the server finds; all of this host when absent. */
  readonly programs?: readonly string[];
}

export class AttackBench implements AsyncDisposable {
  readonly server: RunningServer;
  readonly client: RawClient;
  readonly bait: BaitFolder;
  readonly target: AttackTarget;
  readonly #folder: string;
  readonly #loop: WatchedLoop;
  readonly #children: ChildWatch;
  #document: OpenApi | undefined;
  #before: Footprint | undefined;
  #longestMs = 0;
  #stack = new AsyncDisposableStack();

  private constructor(
    started: { server: RunningServer; bait: BaitFolder; folder: string; loop: WatchedLoop },
    { auth }: BenchOptions,
  ) {
    this.server = started.server;
    this.bait = started.bait;
    this.#folder = started.folder;
    this.#loop = started.loop;
    this.client = new RawClient(this.server.url, auth ? { authorization } : {});
    this.target = { port: this.server.port, allowed, ...(auth && { authorization }) };
    this.#children = new ChildWatch(() => this.server.pid);
  }

  static async start(options: BenchOptions): Promise<AttackBench> {
    await using started = new AsyncDisposableStack();
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'pb-attack-')));
    started.defer(() => rm(folder, { recursive: true, force: true }));
    // Emulators are another user.
    await chmod(folder, 0o755);
    const paths = { temporary: join(folder, 'tmp'), programs: join(folder, 'programs') };
    for (const path of Object.values(paths)) await mkdir(path);
    for (const name of options.programs ?? []) await symlink((await findProgram(name)) ?? '', join(paths.programs, name));
    const bait = started.adopt(await BaitFolder.make(), (made) => made.remove());
    const loop = watchedLoop();
    const login = options.auth ? { auth: true, user: 'teacher', password: 'right' } : {};
    const server = await startServer({
      env: { ...loop.env, TMPDIR: paths.temporary, ...(options.programs && { PATH: paths.programs }) },
      config: {
        Server: { local: false, allowed_hosts: allowed.host, allowed_origins: allowed.origin, ...login },
        Docker: { socket_path: join(folder, 'none') },
        Qemu: { acceleration: 'off' },
      },
    });
    started.defer(() => server.stop());
    const bench = new AttackBench({ server, bait, folder, loop }, options);
    started.defer(() => bench.#close());
    await bench.#warmUp({ hasMachines: options.programs === undefined });
    bench.#stack = started.move();
    return bench;
  }

  get document(): OpenApi {
    if (!this.#document) throw new Error('the server has not started');
    return this.#document;
  }

  /** The longest that its event loop was held so far, in processor time. */
  get longestMs(): number {
    return this.#longestMs;
  }

  /** Changes of the host since the last call. */
  async problems(): Promise<string[]> {
    return [...(await this.bait.problems()), ...this.#children.problems()];
  }

  /** Whether the event loop was held for too long since the last call. */
  async wasHeld(): Promise<string[]> {
    const held = await this.#loop.longestMs();
    this.#longestMs = Math.max(this.#longestMs, held);
    if (held <= longestRoundMs) return [];
    await this.#loop.restart(this.server);
    return [`the event loop was held for ${Math.round(held)} ms`];
  }

  /** Deletes what an attack left, and reads the resources that are still held. */
  async leaks(): Promise<string[]> {
    const problems: string[] = [];
    await tearDown(this).catch((error: Error) => problems.push(`left: ${error.message}`));
    this.client.close();
    const before = this.#before ?? (await this.#footprint());
    // Connections end in their own time.
    const leaks = async () => leaksOf(before, await this.#footprint());
    await waitFor(async () => (await leaks()).length === 0, { what: 'nothing held', limitMs: settleMs }).catch(async () =>
      problems.push(...(await leaks())),
    );
    if (!this.server.running) problems.push('the server ended');
    return [...problems, ...errorsOf(this.server.log())];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #close(): void {
    this.#children.stop();
    this.client.close();
  }

  /** Runs everything once: first runs compile code and open files that stay open, which is neither a hold nor a leak. */
  async #warmUp({ hasMachines }: { hasMachines: boolean }): Promise<void> {
    this.#document = await this.client.get<OpenApi>('/openapi.json');
    const world = new World(makeChance(1), this.document.components.schemas, this.server.dataDir);
    await setUp(this, world);
    await this.client.send(`POST /v2/projects/${crypto.randomUUID()}/import`, { raw: world.archive });
    // A thread computes checksums from the first image on.
    await this.client.send('POST /v2/compute/qemu/images/warm.img', { raw: 'x' });
    await this.client.get('/v2/compute/qemu/images');
    if (hasMachines) await this.#startMachines();
    await tearDown(this);
    assert.ok(this.#children.count > 0, 'this kernel does not list child processes');
    this.client.close();
    this.#before = await this.#footprint();
    await this.#loop.restart(this.server);
  }

  /** The first machines make the namespace of links, which stays. */
  async #startMachines(): Promise<void> {
    const project = await createProject(this.client);
    const [one, two] = await Promise.all([1, 2].map(() => createNode(this.client, project, 'qemu', { properties: idleVm })));
    if (!one || !two) throw new Error('nodes are missing');
    const link = await this.client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(two)] });
    await this.client.post(`${project.path}/nodes/start`, {}, 204);
    const delay = { body: { filters: { latency: [1] } } };
    assert.equal((await this.client.send(`PUT ${project.path}/links/${link.link_id}`, delay)).status, 201);
  }

  #footprint(): Promise<Footprint> {
    return footprintOf(this.server, join(this.#folder, 'tmp'));
  }
}

/** Error lines of the server's log. */
function errorsOf(log: string): string[] {
  const lines = log.split('\n').filter((line) => /"level":[56]0/.test(line));
  return lines.slice(0, 5).map((line) => `log: ${line.slice(0, 1_000)}`);
}
