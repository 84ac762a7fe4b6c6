/**
 * Bundles the server's modules, some 600 of `src/` and 500 of packages, into a few files, and those of the fabric into one: a start that
 * loads them one by one takes nearly twice the processor time. Threads and the guard run from `src/`. Each module keeps the `import.meta`
 * of its source (docs/adr/0035).
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, '.cache/tests-program');

/** A run takes minutes; what is older belongs to none. */
const keptMs = 24 * 3600_000;

/** Servers of another run may load the bundle of their sources: each content has a folder of its own. @returns the entry of the bundle */
export async function bundleProgram() {
  const files = await generate();
  const hash = createHash('sha256');
  for (const { fileName, code } of files) hash.update(`${fileName}\0${code}\0`);
  const target = path.join(folder, hash.digest('hex').slice(0, 20));
  await mkdir(folder, { recursive: true });
  const made = path.join(folder, `made-${randomUUID()}`);
  await mkdir(made);
  for (const { fileName, code } of files) {
    await mkdir(path.dirname(path.join(made, fileName)), { recursive: true });
    await writeFile(path.join(made, fileName), code);
  }
  // Another run may have made it.
  await rename(made, target).catch(() => rm(made, { recursive: true, force: true }));
  const now = new Date();
  await utimes(target, now, now);
  await removeOld(now.getTime() - keptMs);
  return path.join(target, 'main.js');
}

async function removeOld(beforeMs) {
  for (const name of await readdir(folder)) {
    const old = path.join(folder, name);
    const facts = await stat(old).catch(() => undefined);
    if (facts && facts.mtimeMs < beforeMs) await rm(old, { recursive: true, force: true });
  }
}

/** These find files beside themselves. */
const outside = /^(koffi|pino)(\/|$)/;

async function generate() {
  const program = await outputOf('src/main.ts', {});
  // Named as its source: tests know its process by that.
  return [...program, ...(await outputOf('src/fabric/main.ts', { entryFileNames: 'fabric/main.ts' }))];
}

async function outputOf(input, options) {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: path.join(root, input),
    platform: 'node',
    external: (id) => outside.test(id),
    plugins: [{ name: 'import-meta', transform: { filter: { code: 'import.meta.' }, handler: withOwnMeta } }],
  });
  try {
    return (await bundle.generate({ format: 'esm', keepNames: true, ...options })).output;
  } finally {
    await bundle.close();
  }
}

/** Where `src/fabric/connection` would be beside the bundle: it starts the fabric that is there. */
const besideFabric = "new URL('fabric/connection/', import.meta.url).href";

function withOwnMeta(code, id) {
  const url = path.dirname(id) === path.join(root, 'src/fabric/connection') ? besideFabric : JSON.stringify(pathToFileURL(id).href);
  return code.replaceAll('import.meta.url', url).replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)));
}
