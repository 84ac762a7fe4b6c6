/** `patchbay images`: the images of the worked labs, for the Docker engine of this machine. Argument: its socket. */
import { connect } from 'node:net';
import { readSettings } from '../../src/settings.ts';
import { ensureImage, loadImage } from './image.ts';
import { labRecipes } from './recipes.ts';

/** @throws why nothing answers at a Unix socket */
function reach(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = connect(path, () => {
      connection.destroy();
      resolve();
    }).once('error', (cause) => {
      reject(new Error(`${cause.message}. Start Docker, or name its socket: patchbay images SOCKET`, { cause }));
    });
  });
}

const log = (line: string) => process.stdout.write(`${line}\n`);
const socket = process.argv[2] ?? (await readSettings({})).Docker.socket_path;
try {
  // Fails before minutes are spent on the images.
  await reach(socket);
  for (const recipe of await labRecipes()) {
    await loadImage(socket, recipe, await ensureImage(recipe, log));
    log(`Image ${recipe.name}: loaded into the engine at ${socket}`);
  }
} catch (error) {
  process.stderr.write(`patchbay images: the images could not be made: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
