/**
 * Bundles the server's own modules, some 600 of `src/` and the 220 of its validator, into a few files: a start that loads them one by
 * one takes nearly twice the processor time. Other packages stay outside, and so do threads and the fabric, which run from `src/`.
 * Each module keeps the `import.meta` of its source (docs/adr/0035).
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
  for (const { fileName, code } of files) await writeFile(path.join(made, fileName), code);
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

async function generate() {
  const { rolldown } = await import('rolldown');
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
