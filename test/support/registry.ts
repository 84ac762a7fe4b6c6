/** A registry of images of a test's own, on the loopback address, where engines accept one that speaks plain HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from './wait-for.ts';

export class Registry {
  /** Host as images name it: `127.0.0.1:PORT`. */
  readonly host: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(host: string, child: ChildProcess, folder: string) {
    this.host = host;
    this.#child = child;
    this.#folder = folder;
  }

  static async start(): Promise<Registry> {
    const folder = await mkdtemp(join(tmpdir(), 'pbr-'));
    const config = { version: 0.1, storage: { filesystem: { rootdirectory: folder } }, http: { addr: '127.0.0.1:0' } };
    // YAML takes JSON.
    await writeFile(join(folder, 'config.yml'), JSON.stringify(config));
    const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const listening = () => /listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
    try {
      return new Registry(await waitFor(listening, { what: 'the registry' }), child, folder);
    } catch (error) {
      await new Registry('', child, folder).stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await waitFor(() => this.#child.exitCode !== null || this.#child.signalCode !== null, { what: 'the end of the registry' });
    await rm(this.#folder, { recursive: true, force: true });
  }
}
