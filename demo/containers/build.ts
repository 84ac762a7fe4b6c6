/** `patchbay images`: the images of the worked labs, for the Docker engine of this machine. */
import { connect } from 'node:net';
import { ensureImage, loadImage } from './image.ts';
import { frrRecipe, keepalivedRecipe } from './recipes.ts';

/** @returns the exit code */
export async function buildImages(socket = '/var/run/docker.sock'): Promise<number> {
  const log = (line: string) => process.stdout.write(`${line}\n`);
  try {
    // Before minutes are spent on the images.
    await reach(socket);
    for (const recipe of [await frrRecipe(), keepalivedRecipe()]) {
      await loadImage(socket, recipe, await ensureImage(recipe, log));
      log(`Image ${recipe.name}: loaded into the engine at ${socket}`);
    }
    return 0;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const isAbsent = code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'EACCES';
    const remedy = isAbsent ? `. Start Docker, or name its socket: patchbay images SOCKET` : '';
    process.stderr.write(`patchbay images: the images could not be made: ${message}${remedy}\n`);
    return 1;
  }
}

/** @throws why nothing answers at a Unix socket */
function reach(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = connect(path, () => {
      connection.destroy();
      resolve();
    }).once('error', reject);
  });
}
