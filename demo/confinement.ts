/** A demo also shows itself where programs may have no namespaces, as in most containers; a server that is root would not start emulators as another user there. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bubblewrapObstacle } from '../src/process/bubblewrap/usable.ts';

const unconfined = `[Server]
run_as = root
`;

/** Options of the demo's server; says so when its emulators are not confined. */
export async function serverOptions(dataDirectory: string, engine: { socket: string } | { reason: string }): Promise<string[]> {
  const obstacle = await bubblewrapObstacle();
  if (obstacle !== undefined) {
    process.stderr.write(
      `Emulators of this demo are not confined, as bubblewrap cannot make namespaces here (docs/security.md): ${obstacle}\n`,
    );
  }
  const file = path.join(dataDirectory, 'demo.conf');
  const docker = 'socket' in engine ? `[Docker]\nsocket_path = ${engine.socket}\n` : '';
  await writeFile(file, `${obstacle === undefined ? '' : unconfined}${docker}`);
  return ['--config', file];
}
