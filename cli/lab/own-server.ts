/** Starts a temporary server for one command: on a free port, with its own state, which is removed afterwards. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export interface OwnServer {
  readonly url: string;
  /** Stops the server with its nodes, and removes its state. */
  end(): Promise<void>;
}

const program = resolve(import.meta.dirname, '../../src/main.ts');
/** Time limits for a server that hangs. Milliseconds. */
const startLimitMs = 60_000;
const endLimitMs = 30_000;

interface OwnServerOptions {
  /** Whether its clients may name files, options and interfaces of this machine, as its user may. */
  readonly isLocal: boolean;
}

/** Starts the server. @throws its error output when it did not start */
export async function startOwnServer({ isLocal }: OwnServerOptions = { isLocal: true }): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-lab-'));
  const config = join(folder, 'lab.ini');
  await writeFile(config, `[Server]\n${isLocal ? '' : 'local = False\n'}${await imagesSetting()}`);
  // The server has its own process group: Ctrl-C in the terminal ends this command, which then ends the server in order. If this
  // command is killed, the server's standard input ends, and so does the server.
  const options = ['--port', '0', '--data-dir', join(folder, 'data'), '--config', config, '--stop-nodes', '--until-stdin-ends'];
  const child = spawn(process.execPath, [program, 'serve', ...options], { stdio: 'pipe', detached: true });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-4000);
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), endLimitMs);
    await ended;
    clearTimeout(timer);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { url: await addressOf(createInterface(child.stdout), ended, () => errors), end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Uses the image folder of this user's other servers. */
async function imagesSetting(): Promise<string> {
  const folder = join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'patchbay', 'images');
  const isFolder = (await stat(folder).catch(() => undefined))?.isDirectory() ?? false;
  return isFolder ? `images_path = ${folder}\n` : '';
}

function addressOf(
  lines: AsyncIterable<string> & { on(event: 'line', listener: (line: string) => void): unknown },
  ended: Promise<void>,
  errors: () => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`the server of this command ${reason}: ${errors().trim() || 'it wrote nothing'}`));
    const timer = setTimeout(() => fail('did not start in time'), startLimitMs);
    lines.on('line', (line) => {
      const url = /^Patchbay \S+ listening on (https?:\S+)$/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    void ended.then(() => {
      clearTimeout(timer);
      fail('ended at once');
    });
  });
}
