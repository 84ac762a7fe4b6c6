/** The server of the demo: its own process on a free port, with its own data directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

const main = process.env.PATCHBAY_PROGRAM ?? path.join(import.meta.dirname, '../src/main.ts');
const startLimitMs = 30_000;
const endLimitMs = 20_000;

export class Server {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | undefined>;

  private constructor(child: ChildProcess, ended: Promise<number | undefined>, url: string) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
  }

  /** Resolves when the server is ready. */
  static async start(dataDirectory: string, { port, options }: { port: number; options: readonly string[] }): Promise<Server> {
    const args = [main, '--port', String(port), '--data-dir', dataDirectory, '--local', '--stop-nodes', ...options];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | undefined>((resolve) => {
      child.on('error', () => resolve(undefined));
      child.on('exit', (code) => resolve(code ?? undefined));
    });
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000);
    });
    const url = await Promise.race([firstUrl(child), ended.then(() => undefined), limit(startLimitMs)]);
    if (url === undefined) {
      const end = child.exitCode ?? child.signalCode;
      const what = end === null ? `did not answer within ${startLimitMs / 1000} s` : `ended (${end})`;
      child.kill('SIGKILL');
      throw new Error(`The server ${what}. Its last output: ${output.trim() || 'none'}`);
    }
    return new Server(child, ended, url);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** SIGKILL, like the out-of-memory killer: no warning, no clean end. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Stops all nodes, then the server. Resolves to its exit code; undefined if it had to be killed. */
  async stop(): Promise<number | undefined> {
    this.#child.kill('SIGTERM');
    const code = await Promise.race([this.#ended, limit(endLimitMs)]);
    if (code === undefined) await this.kill();
    return code;
  }
}

/** The address in the line that the server prints when it is ready. */
function firstUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const url = /listening on (http:\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

function limit(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined).unref();
  });
}

/** Processes that work in or on a folder: emulators and the fabric of a server with this data directory. */
export async function processesOf(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const ours = await Promise.all(
    pids.map(async (pid) => {
      const [commandLine, environment, cwd] = await Promise.all([
        readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => ''),
        // Every child of a server carries the server's runtime folder (src/process/child.ts).
        readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
        readlink(`/proc/${pid}/cwd`).catch(() => ''),
      ]);
      return commandLine.includes(folder) || environment.includes(`PATCHBAY_RUN=${folder}`) || cwd.startsWith(folder);
    }),
  );
  return pids.filter((_, index) => ours[index]);
}
