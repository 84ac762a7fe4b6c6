/** A Docker engine of a test's own: its folder, its socket, an image made of busybox. Nothing is fetched from anywhere. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { findProgram } from '../../src/emulators/find-program.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const startLimitMs = 60_000;

/** Why there can be none here; undefined where there can. */
export async function noEngine(): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return 'a Docker engine needs root';
  const missing: string[] = [];
  for (const [name, debianPackage] of [
    ['dockerd', 'docker.io'],
    ['busybox', 'busybox-static'],
    ['socat', 'socat'],
  ] as const) {
    if (!(await findProgram(name))) missing.push(`${name} (package ${debianPackage})`);
  }
  return missing.length > 0 ? `missing: ${missing.join(', ')}` : undefined;
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

  /** With the image `pb-test:latest`: a shell, a few programs of busybox, and a volume `/kept`. */
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
      await engine.#makeImage();
      return engine;
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  async ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Uint8Array): Promise<string> {
    const dispatcher = new Agent({ connect: { socketPath: this.socket } });
    try {
      const headers = { 'content-type': 'application/x-tar' };
      const answer = await request(`http://docker${path}`, { method, dispatcher, ...(body && { body, headers }) });
      return await answer.body.text();
    } finally {
      await dispatcher.close();
    }
  }

  async containers(): Promise<{ Id: string; Names: string[]; State: string }[]> {
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

  async #makeImage(): Promise<void> {
    const root = join(this.folder, 'root');
    const busybox = await findProgram('busybox');
    for (const name of ['bin', 'etc', 'www', 'kept', 'tmp']) await mkdir(join(root, name), { recursive: true });
    await run('cp', [busybox ?? '', join(root, 'bin/busybox')]);
    for (const name of ['sh', 'ls', 'cat', 'ip', 'ping', 'httpd', 'sleep', 'echo', 'id', 'env', 'hostname', 'touch']) {
      await symlink('busybox', join(root, 'bin', name));
    }
    await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\nguest:x:1000:1000:guest:/:/bin/sh\n');
    await writeFile(join(root, 'www/index.html'), 'hello from inside\n');
    await writeFile(join(root, 'kept/first'), 'of the image\n');
    const tar = join(this.folder, 'root.tar');
    await run('tar', ['-C', root, '-cf', tar, '.']);
    const changes = ['CMD ["/bin/sh"]', 'VOLUME /kept', 'ENV FROM_IMAGE=yes'].map((line) => `&changes=${encodeURIComponent(line)}`);
    const said = await this.ask('POST', `/images/create?fromSrc=-&repo=pb-test&tag=latest${changes.join('')}`, await readFile(tar));
    if (!said.includes('sha256:')) throw new Error(`the image was refused: ${said}`);
  }
}
