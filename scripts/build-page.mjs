/**
 * Builds the page of `web/` into `.cache/page/` when it is missing or older than its sources: Vite's bundle, with each file also
 * compressed. `node scripts/build-page.mjs [--watch]`
 */
import { createHash, randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, '.cache/page');
const stampFile = path.join(folder, 'sources');

/** Resolves when `.cache/page` is up to date. */
export async function buildPage() {
  const stamp = await stampOfSources();
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) return;
  const began = performance.now();
  const made = path.join(root, `.cache/page-${randomUUID()}`);
  try {
    await bundle(made);
    await bundle(made, 'login.html');
    await compressAll(made);
    await writeFile(path.join(made, 'sources'), stamp);
    await replace(made);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  console.error(`The page was built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

/** A hash of all inputs: the page's sources, their imports from the server, and the versions of libraries. */
async function stampOfSources() {
  const hash = createHash('sha256');
  const files = [];
  for await (const file of glob(
    [
      'web/**/*',
      'labs/*.yaml',
      'src/schema/*.ts',
      'src/lib/retry.ts',
      'src/lib/telnet.ts',
      'package-lock.json',
      'scripts/build-page.mjs',
    ],
    {
      cwd: root,
      withFileTypes: true,
    },
  ))
    if (file.isFile()) files.push(path.join(file.parentPath, file.name));
  for (const file of files.sort()) hash.update(`${path.relative(root, file)}\n`).update(await readFile(file));
  return hash.digest('hex');
}

/** `document`: of `web/`; each is bundled for itself, so that the one that asks for credentials loads nothing of the other. */
async function bundle(outDir, document = 'index.html') {
  const { build } = await import('vite');
  await build({
    root: path.join(root, 'web'),
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: document === 'index.html',
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: { input: path.join(root, 'web', document), output: { codeSplitting: { groups: [firstLoad()] } } },
    },
  });
}

/**
 * Puts everything that the entry imports statically into one file: one request, and better compressed than the many small files
 * that Vite makes of modules which parts loaded later use as well.
 */
function firstLoad() {
  let first;
  const collect = (id, context) => {
    if (first.has(id)) return;
    first.add(id);
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) collect(imported, context);
  };
  const name = (id, context) => {
    if (!first) {
      first = new Set();
      collect(path.join(root, 'web/main.tsx'), context);
    }
    return first.has(id) ? 'first' : null;
  };
  return { name, debugName: 'first' };
}

async function compressAll(made) {
  const compress = { '.br': promisify(brotliCompress), '.gz': promisify(gzip) };
  const files = (await readdir(made, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  await Promise.all(
    files.flatMap((entry) =>
      Object.entries(compress).map(async ([ending, run]) => {
        const file = path.join(entry.parentPath, entry.name);
        await writeFile(`${file}${ending}`, await run(await readFile(file)));
      }),
    ),
  );
}

/** Two processes may build concurrently: either result is valid. */
async function replace(made) {
  await mkdir(path.dirname(folder), { recursive: true });
  const old = `${made}-old`;
  await rename(folder, old).catch(() => undefined);
  await rename(made, folder).catch((error) => {
    if (error.code !== 'ENOTEMPTY') throw error;
  });
  await rm(old, { recursive: true, force: true });
}

/** Rebuilds after each change, until the parent process ends. */
function watchSources() {
  const asker = process.ppid;
  setInterval(() => process.ppid !== asker && process.exit(), 1000);
  let waiting;
  const again = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => buildPage().catch((error) => console.error(error.message)), 100);
  };
  for (const place of ['web', 'src/schema']) watch(path.join(root, place), { recursive: true }, again);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPage();
  if (process.argv.includes('--watch')) watchSources();
}
