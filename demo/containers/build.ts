/** `node demo/containers/build.ts`: the images of the worked labs, for the engine of this machine. */
import { ensureImage, loadImage } from './image.ts';
import { frrRecipe, keepalivedRecipe } from './recipes.ts';

const log = (line: string) => process.stdout.write(`${line}\n`);
const socket = process.argv[2] ?? '/var/run/docker.sock';
try {
  for (const recipe of [await frrRecipe(), keepalivedRecipe()]) {
    await loadImage(socket, recipe, await ensureImage(recipe, log));
    log(`Image ${recipe.name}: loaded into the engine at ${socket}`);
  }
} catch (error) {
  process.stderr.write(`The images could not be made: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
