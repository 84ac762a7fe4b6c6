/**
 * Bundles the server's modules, some 600 of `src/` and 500 of packages, into a few files, and those of the fabric into one: a start that
 * loads them one by one takes twice the time (docs/adr/0035). Threads and the guard run from `src/`. Each module keeps the `import.meta`
 * of its source. `node scripts/bundle-program.mjs [--only]`
 * prints its entry; `--only`, for a package, removes those of other sources.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, '.cache/program');
const entry = 'main.js';
/** A server that runs loads parts of its bundle when they are first needed: so many of other sources are kept. */
const keptBundles = 3;

/** Makes the bundle of the sources as they are, unless it is there. @returns its entry */
export async function bundleProgram() {
  const hash = await hashOfSources();
  const target = path.join(folder, hash);
  if (!existsSync(path.join(target, entry))) await make(target);
  const now = new Date();
  await utimes(target, now, now);
  await writeFile(path.join(folder, 'current'), hash);
  await removeOld(keptBundles);
  return path.join(target, entry);
}

async function hashOfSources() {
  const files = ['package-lock.json', 'scripts/bundle-program.mjs'];
  for await (const file of glob('{src,lab,cli}/**/*.ts', { cwd: root })) if (!file.endsWith('.test.ts')) files.push(file);
  const contents = await Promise.all(files.sort().map((file) => readFile(path.join(root, file))));
  const hash = createHash('sha256');
  for (const [index, content] of contents.entries()) hash.update(`${files[index]}\0`).update(content);
  return hash.digest('hex').slice(0, 20);
}

async function make(target) {
  const made = path.join(folder, `made-${randomUUID()}`);
  for (const { fileName, code } of await generate()) {
    await mkdir(path.dirname(path.join(made, fileName)), { recursive: true });
    await writeFile(path.join(made, fileName), asAscii(code));
  }
  // Another process may have made it.
  await rename(made, target).catch(() => rm(made, { recursive: true, force: true }));
}

/** Escapes characters beyond ASCII, which stand in texts and expressions: with one of them V8 keeps a file at two bytes a character. */
function asAscii(code) {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Keeps the bundles that were used last. */
async function removeOld(kept) {
  const found = [];
  for (const name of await readdir(folder)) {
    const facts = await stat(path.join(folder, name)).catch(() => undefined);
    if (facts?.isDirectory()) found.push({ name, usedAt: facts.mtimeMs });
  }
  const old = found.sort((one, other) => other.usedAt - one.usedAt).slice(kept);
  for (const { name } of old) await rm(path.join(folder, name), { recursive: true, force: true });
}

/** Packages that are not bundled: koffi finds files by its own path. */
const outside = /^koffi(\/|$)/;

async function generate() {
  const main = await outputOf('src/main.ts', {}, 0);
  // Named as its source: tests know its process by that.
  return [...main, ...(await outputOf('src/fabric/main.ts', { entryFileNames: 'fabric/main.ts' }, 1))];
}

/** `depth`: of its files, below the folder of the bundle. */
async function outputOf(input, options, depth) {
  const { rolldown } = await import('rolldown');
  const withOwnMeta = { filter: { code: 'import.meta.' }, handler: (code, id) => withMetaOfSource(code, id, depth) };
  const bundle = await rolldown({
    input: path.join(root, input),
    platform: 'node',
    external: (id) => outside.test(id),
    plugins: [
      { name: 'import-meta', transform: withOwnMeta },
      { name: 'http2', transform: withoutHttp2 },
    ],
  });
  try {
    return (await bundle.generate({ format: 'esm', keepNames: true, comments: false, ...options })).output;
  } finally {
    await bundle.close();
  }
}

/** Leaves out Node's module for HTTP/2, which is not served: Fastify loads it at once, which takes as long as fifty modules of ours. */
const withoutHttp2 = {
  filter: { id: /\/fastify\/lib\/server\.js$/ },
  handler: (code) => code.replace("require('node:http2')", '{}'),
};

/** Where `src/fabric/connection` would be beside the bundle: it starts the fabric that is there. */
const besideFabric = "new URL('fabric/connection/', import.meta.url).href";

/** Relative to the bundle, which may be installed in another place than it was made. */
function withMetaOfSource(code, id, depth) {
  const source = `${'../'.repeat(3 + depth)}${path.relative(root, id)}`;
  const isOfFabric = path.dirname(id) === path.join(root, 'src/fabric/connection');
  const url = isOfFabric ? besideFabric : `new URL(${JSON.stringify(source)}, import.meta.url).href`;
  const dirname = `process.getBuiltinModule('node:path').join(import.meta.dirname, ${JSON.stringify(path.dirname(source))})`;
  return code.replaceAll(/import\.meta\.(url|dirname)/g, (_all, name) => (name === 'url' ? url : dirname));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = await bundleProgram();
  // A package holds one bundle only.
  if (process.argv.includes('--only')) await removeOld(1);
  else console.log(made);
}
