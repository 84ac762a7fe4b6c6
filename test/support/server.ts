/** A real server process for tests: its own data directory, its own ports, and nothing of it left afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { killProcesses, listLeftovers, processesOf, runtimeDirectoryOf } from './leftovers.ts';
import { type PortBlock, takePortBlock } from './port-block.ts';
import { waitFor } from './wait-for.ts';

export type Config = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

export interface ServerOptions {
  /** `src/main.ts` of the version to start. Default: this checkout's. */
  readonly program?: string;
  /** Default: none, which serves. */
  readonly command?: string;
  /** Added to the command line. */
  readonly args?: readonly string[];
  /** Given: it is not removed by `stop`. */
  readonly dataDir?: string;
  /** Sections and keys for the configuration file, above the port ranges that every test server gets. */
  readonly config?: Config;
  /** Whether SIGTERM ends the nodes too (default true). */
  readonly stopNodes?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Program and arguments in front of the server's own, such as `ip netns exec NAME`. */
  readonly launcher?: readonly string[];
}

export interface RunningServer {
  /** `http://127.0.0.1:PORT`; the same after `restart`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  readonly runtimeDirectory: string;
  readonly running: boolean;
  /** Standard error of the server so far. */
  log(): string;
  /** Standard output of its last start. */
  output(): string;
  /** SIGKILL; resolves when it has ended. */
  kill9(): Promise<void>;
  /** SIGTERM; resolves with its exit code. Nothing is tidied up. */
  terminate(): Promise<number | null>;
  /** Starts it again on the same data directory and port, after `terminate` if it still runs. `program`: as of `ServerOptions`, from now on. */
  restart(program?: string): Promise<void>;
  /** Stops it with all of its processes. Fails when a server that exited on its own left processes or sockets. */
  stop(): Promise<void>;
}

const root = resolve(import.meta.dirname, '../..');
/** A whole `npm test` makes a bundle of the same sources, which starts in half the processor time (`scripts/bundle-program.mjs`). */
export const serverProgram = process.env.PATCHBAY_TEST_PROGRAM ?? join(root, 'src/main.ts');
/** Limit for a start that hangs: on a machine with ten busy processes for each core a start takes its time. */
const startLimitMs = 90_000;
/** Looks at all processes until none of a server is left. */
const mostLooks = 50;

export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const dataDir = options.dataDir ?? (await realpath(await mkdtemp(join(tmpdir(), 'pb-'))));
  await mkdir(dataDir, { recursive: true });
  const runtimeDirectory = await runtimeDirectoryOf(dataDir, options.command === 'compute');
  const server = new TestServer(options, { dataDir, block: await takePortBlock(), runtimeDirectory });
  try {
    await server.start(0);
    return server;
  } catch (error) {
    await server.giveUp();
    throw error;
  }
}

interface Place {
  readonly dataDir: string;
  readonly runtimeDirectory: string;
  readonly block: PortBlock;
}

class TestServer implements RunningServer {
  readonly #options: ServerOptions;
  readonly #place: Place;
  #child: ChildProcess | undefined;
  #ended: Promise<number | null> = Promise.resolve(null);
  #errors = '';
  #output = '';
  /** The last end was SIGKILL: leftovers are to be expected. */
  #killed = false;
  #url = '';
  #program: string;

  constructor(options: ServerOptions, place: Place) {
    this.#options = options;
    this.#program = options.program ?? serverProgram;
    this.#place = place;
    process.on('exit', this.#abandon);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, this.#signalled);
  }

  get url(): string {
    return this.#url;
  }
  get port(): number {
    return Number(new URL(this.#url).port);
  }
  get pid(): number {
    return this.#child?.pid ?? 0;
  }
  get dataDir(): string {
    return this.#place.dataDir;
  }
  get runtimeDirectory(): string {
    return this.#place.runtimeDirectory;
  }
  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }
  log(): string {
    return this.#errors;
  }
  output(): string {
    return this.#output;
  }

  async start(port: number): Promise<void> {
    const { command, args = [], stopNodes = true, env = {}, launcher = [] } = this.#options;
    const configFile = join(this.dataDir, 'test-config.ini');
    await writeFile(configFile, this.#configText());
    const line = [
      ...(command === undefined ? [] : [command]),
      '--port',
      String(port),
      '--data-dir',
      this.dataDir,
      '--config',
      configFile,
      ...(stopNodes ? ['--stop-nodes'] : []),
      ...args,
    ];
    const [program = '', ...before] = [...launcher, process.execPath];
    const child = spawn(program, [...before, this.#program, ...line], {
      cwd: root,
      // Node reads the file on a thread while it starts: a program that is started meanwhile inherits the descriptor.
      env: { ...process.env, NODE_EXTRA_CA_CERTS: '', ...env },
      stdio: [args.includes('--until-stdin-ends') ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#killed = false;
    this.#ended = new Promise((done) => child.once('close', (code) => done(code)));
    this.#output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-256 * 1024);
    });
    const url = await waitFor(
      () => /^Patchbay \S+ listening on (https?:\S+)$/m.exec(this.#output)?.[1] ?? (!this.running && 'ended'),
      {
        what: 'the line "Patchbay … listening on …"',
        limitMs: startLimitMs,
      },
    ).catch((error: Error) => {
      throw new Error(`${error.message}; it wrote ${this.#output}${this.#errors.slice(-4000)}`, { cause: error });
    });
    if (url === 'ended')
      throw new Error(`the server ended with ${child.exitCode ?? child.signalCode}: ${this.#errors.slice(-4000)}${this.#output}`);
    this.#url = url;
    this.#keepAwake(false);
  }

  /**
   * A server keeps the test process awake while it starts and ends, not while it runs: where a fixture failed half-way, and nothing
   * stops the server, the process ends and takes the server along.
   */
  #keepAwake(isAwake: boolean): void {
    const child = this.#child;
    if (!child) return;
    // Pipes are sockets; the type says less.
    for (const handle of [child, child.stdin as Socket | null, child.stdout as Socket | null, child.stderr as Socket | null]) {
      if (isAwake) handle?.ref();
      else handle?.unref();
    }
  }

  async kill9(): Promise<void> {
    this.#killed = true;
    this.#keepAwake(true);
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  async terminate(): Promise<number | null> {
    this.#keepAwake(true);
    this.#child?.kill('SIGTERM');
    return this.#ended;
  }

  async restart(program = this.#program): Promise<void> {
    if (this.running) await this.terminate();
    this.#program = program;
    await this.start(this.port);
  }

  async stop(): Promise<void> {
    if (this.running) await this.terminate();
    const expected = this.#killed || this.#options.stopNodes === false;
    const listLeft = () => listLeftovers(this.dataDir, this.#options.command === 'compute');
    let left = await listLeft();
    const code = await this.#ended;
    // A server on a busy machine ends before the fabric that it has asked to end.
    for (let tries = 0; left.length > 0 && !expected && tries < 50; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      left = await listLeft();
    }
    const fabricLog = left.length > 0 ? await readFile(join(this.dataDir, 'state', 'fabric.log'), 'utf8').catch(String) : '';
    this.#endAllNow();
    await waitFor(() => processesOf(this.dataDir, this.runtimeDirectory).length === 0, { what: 'the end of all processes' });
    await this.#tidy();
    if (left.length > 0 && !expected)
      throw new Error(
        `the server left behind (exit code ${code}):\n${left.join('\n')}\nIts log: ${this.#errors.slice(-2000)}\nThe fabric's: ${fabricLog.slice(-2000)}`,
      );
  }

  /** Ends a server that did not start. On a given data directory another server may run: its processes are not touched. */
  async giveUp(): Promise<void> {
    await this.kill9();
    if (this.#options.dataDir === undefined) this.#endAllNow();
    await this.#tidy();
  }

  async #tidy(): Promise<void> {
    process.off('exit', this.#abandon);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#signalled);
    await this.#place.block.release();
    if (this.#options.dataDir !== undefined) return;
    await rm(this.dataDir, { recursive: true, force: true });
    if (!this.runtimeDirectory.startsWith(this.dataDir)) await rm(this.runtimeDirectory, { recursive: true, force: true });
  }

  /** A test process that ends, however it ends, also ends its servers. */
  readonly #abandon = (): void => {
    this.#endAllNow();
    if (this.#options.dataDir === undefined) rmSync(this.dataDir, { recursive: true, force: true });
  };
  readonly #signalled = (): void => {
    this.#abandon();
    process.exit(1);
  };

  /** A process may begin while they are listed; those that were killed may be listed once more. */
  #endAllNow(): void {
    for (let looks = 0; looks < mostLooks; looks += 1) {
      const found = processesOf(this.dataDir, this.runtimeDirectory);
      if (found.length === 0) return;
      killProcesses(found);
    }
  }

  #configText(): string {
    const { config = {} } = this.#options;
    const sections: Config = { ...config, Server: { ...this.#place.block.settings, ...config.Server } };
    const lines = Object.entries(sections).flatMap(([section, keys]) => [
      `[${section}]`,
      ...Object.entries(keys).map(([key, value]) => `${key} = ${value === true ? 'True' : value === false ? 'False' : value}`),
    ]);
    return `${lines.join('\n')}\n`;
  }
}
