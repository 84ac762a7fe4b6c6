/** A demo also shows itself where programs may have no namespaces, as in most containers; a server that is root would not start emulators as another user there. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { namespaceObstacle } from '../src/emulators/host/confinement/namespaces.ts';

const unconfined = `[Server]
run_as = root
`;

/** Options of the demo's server; says so when its emulators are not confined. */
export async function serverOptions(dataDirectory: string, engine: { socket: string } | { reason: string }): Promise<string[]> {
  const obstacle = await namespaceObstacle();
  if (obstacle !== undefined) {
    process.stderr.write(
      `Emulators of this demo are not confined, as this system permits no namespaces (docs/security.md): ${obstacle}\n`,
    );
  }
  const file = path.join(dataDirectory, 'demo.conf');
  const docker = 'socket' in engine ? `[Docker]\nsocket_path = ${engine.socket}\n` : '';
  await writeFile(file, `${obstacle === undefined ? '' : unconfined}${docker}`);
  return ['--config', file];
}
