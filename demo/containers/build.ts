/**
 * `patchbay images`: the images of the worked labs, for the Docker engine of this machine. Argument: its socket. `--only NAME`, repeatable,
 * makes these alone. With `--json` prints one JSON document per line: `{"step"}` for progress, then `{"images"}` or `{"failure"}`.
 */
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { readSettings } from '../../src/settings.ts';
import { cleanUpOnSignal } from '../guest/debian.ts';
import { ensureImage, loadImage } from './image.ts';
import { type ImageRecipe, labRecipes } from './recipes.ts';

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

/** @throws Error when one is unknown */
async function recipesOf(names: readonly string[] | undefined): Promise<ImageRecipe[]> {
  const all = await labRecipes();
  return (names ?? all.map(({ name }) => name)).map((name) => {
    const recipe = all.find((one) => one.name === name);
    if (!recipe)
      throw new Error(`there is no recipe for the image ${name}; those that there are: ${all.map((one) => one.name).join(', ')}`);
    return recipe;
  });
}

cleanUpOnSignal();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
});
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const log = (line: string) => (values.json ? say({ step: line }) : process.stdout.write(`${line}\n`));
const socket = positionals[0] ?? (await readSettings({})).Docker.socket_path;
try {
  // Fails before minutes are spent on the images.
  await reach(socket);
  const recipes = await recipesOf(values.only);
  for (const [index, recipe] of recipes.entries()) {
    log(`Image ${recipe.name}: ${index + 1} of ${recipes.length}`);
    await loadImage(socket, recipe, await ensureImage(recipe, log));
    log(`Image ${recipe.name}: loaded into the engine at ${socket}`);
  }
  if (values.json) say({ images: recipes.map(({ name }) => name) });
} catch (error) {
  const { message } = error as Error;
  if (values.json) say({ failure: message });
  else process.stderr.write(`patchbay images: the images could not be made: ${message}\n`);
  process.exitCode = 1;
}
