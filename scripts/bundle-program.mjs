/**
 * Bundles the server's own modules, some 600 of `src/` and the 220 of its validator, into a few files: a start that loads them one by
 * one takes nearly twice the processor time. Other packages stay outside, and so do threads and the fabric, which run from `src/`.
 * Each module keeps the `import.meta` of its source (docs/adr/0035).
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, '.cache/tests-program');

/** @returns the entry of the bundle; a file that is there already is not written again, for a server of another run may load it */
export async function bundleProgram() {
  const files = await generate();
  await mkdir(folder, { recursive: true });
  for (const { fileName, code } of files) {
    const file = path.join(folder, fileName);
    if ((await readFile(file, 'utf8').catch(() => undefined)) === code) continue;
    const made = `${file}.${process.pid}`;
    await writeFile(made, code);
    await rename(made, file);
  }
  const names = new Set(files.map(({ fileName }) => fileName));
  for (const name of await readdir(folder)) if (!names.has(name)) await rm(path.join(folder, name), { force: true });
  return path.join(folder, 'main.js');
}

async function generate() {
  const bundle = await rolldown({
    input: path.join(root, 'src/main.ts'),
    platform: 'node',
    external: (id) => !/^[./]|^typebox(\/|$)/.test(id),
    plugins: [{ name: 'import-meta', transform: { filter: { code: 'import.meta.' }, handler: withOwnMeta } }],
  });
  try {
    return (await bundle.generate({ format: 'esm', keepNames: true })).output;
  } finally {
    await bundle.close();
  }
}

function withOwnMeta(code, id) {
  return code
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)));
}
