/** A Docker engine of a test's own: its folder, its socket, an image made of busybox. Nothing is fetched from anywhere. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { missingPrograms } from './missing-programs.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const startLimitMs = 60_000;
/** Programs of busybox, in images. */
const programs = ['sh', 'ls', 'cat', 'ip', 'ping', 'httpd', 'sleep', 'echo', 'id', 'env', 'hostname', 'touch', 'su', 'stty'];

/** Why no engine can run here, or which prerequisite is missing; undefined if all exist. */
export async function noEngine(
  ...more: readonly (readonly [program: string, debianPackage: string])[]
): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return 'a Docker engine needs root';
  return missingPrograms(['dockerd', 'docker.io'], ['busybox', 'busybox-static'], ['socat', 'socat'], ...more);
}

export class DockerEngine {
  readonly folder: string;
  readonly socket: string;
  readonly #child: ChildProcess;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.socket = join(folder, 'docker.sock');
    this.#child = child;
  }

  /** Starts an engine with the image `pb-test:latest`: a shell, a few programs of busybox, and a volume `/kept`. */
  static async start(): Promise<DockerEngine> {
    const folder = await mkdtemp(join(tmpdir(), 'pbd-'));
    const place = (name: string) => join(folder, name);
    // No network of its own: nothing of this host is changed.
    const flags = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--storage-driver=vfs'];
    const places = [
      '--data-root',
      place('data'),
      '--exec-root',
      place('exec'),
      '-p',
      place('pid'),
      '-H',
      `unix://${place('docker.sock')}`,
    ];
    const log = openSync(place('log'), 'w');
    const child = spawn('dockerd', [...flags, ...places], { stdio: ['ignore', log, log] });
    closeSync(log);
    const engine = new DockerEngine(folder, child);
    try {
      await waitFor(
        () =>
          engine.ask('GET', '/_ping').then(
            (text) => text === 'OK',
            () => child.exitCode !== null,
          ),
        {
          what: 'the Docker engine',
          limitMs: startLimitMs,
          everyMs: 100,
        },
      );
      if (child.exitCode !== null) throw new Error(`dockerd ended: ${(await readFile(place('log'), 'utf8')).slice(-2000)}`);
      // The stop signal is SIGKILL, as a shell that is the first process of a container ignores other signals.
      await engine.makeImage('pb-test:latest', ['CMD ["/bin/sh"]', 'VOLUME /kept', 'ENV FROM_IMAGE=yes', 'STOPSIGNAL SIGKILL']);
      return engine;
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  async ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Uint8Array): Promise<string> {
    const dispatcher = new Agent({ connect: { socketPath: this.socket } });
    try {
      // An empty JSON object: a push requires credentials, even if the registry does not.
      const headers = { 'x-registry-auth': 'e30=', ...(body && { 'content-type': 'application/x-tar' }) };
      const answer = await request(`http://docker${path}`, { method, dispatcher, headers, ...(body && { body }) });
      return await answer.body.text();
    } finally {
      await dispatcher.close();
    }
  }

  async containers(): Promise<{ Id: string; Names: string[]; State: string; Labels: Record<string, string> }[]> {
    return JSON.parse(await this.ask('GET', '/containers/json?all=1'));
  }

  async stop(): Promise<void> {
    for (const { Id } of await this.containers().catch(() => [])) await this.ask('DELETE', `/containers/${Id}?force=1`);
    this.#child.kill('SIGTERM');
    await waitFor(() => this.#child.exitCode !== null || this.#child.signalCode !== null, {
      what: 'its end',
      limitMs: startLimitMs,
    });
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Into the registry that the image's name begins with. */
  async push(image: string): Promise<void> {
    const output = await this.ask('POST', `/images/${image}/push`);
    if (!output.includes('digest:')) throw new Error(`the image was not pushed: ${output}`);
  }

  async removeImage(image: string): Promise<void> {
    await this.ask('DELETE', `/images/${encodeURIComponent(image)}`);
  }

  /**
   * An image of a shell and a few programs of busybox.
   * @param lines of its Dockerfile
   * @param files more of this host, and where they are in the image
   */
  async makeImage(tag: string, lines: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<void> {
    const folder = await mkdtemp(join(this.folder, 'image-'));
    const root = join(folder, 'root');
    const busybox = await findProgram('busybox');
    for (const name of ['bin', 'etc', 'www', 'kept', 'tmp']) await mkdir(join(root, name), { recursive: true });
    await run('cp', [busybox ?? '', join(root, 'bin/busybox')]);
    for (const program of programs) await symlink('busybox', join(root, 'bin', program));
    await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\nguest:x:1000:1000:guest:/:/bin/sh\n');
    await writeFile(join(root, 'www/index.html'), 'hello from inside\n');
    await writeFile(join(root, 'kept/first'), 'of the image\n');
    for (const [from, to] of Object.entries(files)) {
      await mkdir(dirname(join(root, to)), { recursive: true });
      await copyFile(from, join(root, to));
    }
    await writeFile(join(folder, 'Dockerfile'), ['FROM scratch', 'COPY root/ /', ...lines].join('\n'));
    const tar = `${folder}.tar`;
    await run('tar', ['-C', folder, '-cf', tar, '.']);
    const output = await this.ask('POST', `/build?t=${encodeURIComponent(tag)}`, await readFile(tar));
    if (!output.includes('Successfully built')) throw new Error(`the image was refused: ${output}`);
  }
}

/** A program of this host for an image, with the libraries that it needs there. */
export async function withLibraries(program: string): Promise<Record<string, string>> {
  const path = (await findProgram(program)) ?? '';
  const { stdout } = await run('ldd', [path]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, library = '']) => library);
  return Object.fromEntries([[path, `/bin/${program}`], ...libraries.map((library) => [library, library])]);
}
