/**
 * The fabric process: `main.ts --socket PATH`; with `--capabilities` it only prints what it could do here. It moves frames until it is asked to quit; the server that started it may come and go.
 * Nothing but frames and the control socket is on its event loop.
 */
import { flushCompileCache } from 'node:module';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { Control } from './control/control.ts';
import { Fabric } from './control/fabric.ts';
import { lockProgram } from './control/lock-program.ts';
import { raisePriority } from './control/priority.ts';
import { loadNative } from './ports/native.ts';

/** Another fabric answers at the socket's path. */
const exitTaken = 3;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { socket: { type: 'string' }, capabilities: { type: 'boolean' } } });
  if (values.capabilities) return showCapabilities();
  if (!values.socket) {
    console.error('usage: main.ts --socket PATH');
    process.exit(2);
  }
  // A thousand PCs that start together would grow V8's space for new objects to its limit, and it would be kept. Frames need none of it.
  setFlagsFromString('--semi-space-growth-factor=1');
  raisePriority();
  process.umask(0o077);
  // The last net: an unforeseen error of one port must not take all the others down.
  process.on('uncaughtException', (error) => say('error', error));
  process.on('SIGHUP', () => undefined);
  const native = await loadNative();
  lockProgram(native);
  const fabric = new Fabric(native, dirname(values.socket));
  let ending = false;
  const end = async (why: string): Promise<void> => {
    if (ending) return;
    ending = true;
    say(why);
    await (await listening)?.close();
    await fabric.close();
    process.exit(0);
  };
  const listening = Control.listen(
    values.socket,
    fabric,
    () => void end('ends: asked to'),
    () => void end('ends: its control socket is gone'),
  );
  process.on('SIGTERM', () => void end('ends: SIGTERM'));
  process.on('SIGINT', () => void end('ends: SIGINT'));
  if (!(await listening)) {
    say('ends: another fabric answers here');
    process.exit(exitTaken);
  }
  // Now rather than at the end, which may come without notice: the next start is quicker for it.
  flushCompileCache();
  say(`listens at ${values.socket}`);
}

/** Prints the capabilities of a fabric on this host, for the doctor. */
async function showCapabilities(): Promise<void> {
  const fabric = new Fabric(await loadNative(), '');
  process.stdout.write(`${JSON.stringify(await fabric.capabilities())}\n`);
  await fabric.close();
}

function say(what: string, error?: unknown): void {
  console.error(`${new Date().toISOString()} fabric ${process.pid} ${what}`, ...(error === undefined ? [] : [error]));
}

main().catch((error: Error) => {
  say('cannot start', error);
  process.exit(1);
});
