/**
 * Bundles the server's modules, some 600 of `src/` and 500 of packages, into a few scripts, and those of the fabric into one, with V8's code
 * of what runs first beside them, and threads and the guard into modules (docs/adr/0035). The `import.meta` of each module stays that of its
 * source. `node scripts/bundle-program.mjs [--only]` prints the entry; `--only`, for a package, removes bundles of other sources.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, glob, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { train } from './bundle-training.mjs';

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
  const files = ['package-lock.json', ...['program.mjs', 'loader.cjs', 'training.mjs'].map((name) => `scripts/bundle-${name}`)];
  for await (const file of glob('{src,lab,cli}/**/*.ts', { cwd: root })) if (!file.endsWith('.test.ts')) files.push(file);
  const contents = await Promise.all(files.sort().map((file) => readFile(path.join(root, file))));
  const hash = createHash('sha256');
  for (const [index, content] of contents.entries()) hash.update(`${files[index]}\0`).update(content);
  return hash.digest('hex').slice(0, 20);
}

async function make(target) {
  const made = path.join(folder, `made-${randomUUID()}`);
  const { scripts, modules } = await generate();
  const files = [
    ...scripts.map(({ fileName, code }) => [fileName, asFunction(code)]),
    ...modules.map(({ fileName, code }) => [fileName, code]),
  ];
  for (const [name, text] of files) {
    await mkdir(path.dirname(path.join(made, name)), { recursive: true });
    await writeFile(path.join(made, name), asAscii(text));
  }
  await writeFile(path.join(made, 'package.json'), '{ "type": "commonjs" }\n');
  for (const file of [entry, `fabric/${entry}`])
    await copyFile(path.join(import.meta.dirname, 'bundle-loader.cjs'), path.join(made, file));
  await train(path.join(made, entry)).catch((error) => console.error(`The program starts without compiled code: ${error.message}`));
  // Another process may have made it.
  await rename(made, target).catch(() => rm(made, { recursive: true, force: true }));
}

/** Wraps a script as a function of what a CommonJS module gets, which the loader calls. */
const asFunction = (code) => `(function (exports, require, module, __filename, __dirname) {${code.replace(/^#!.*/, '')}\n})`;

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

/** Sources that run as threads, and the guard of a slice: modules of their own, which wait at their top. All stand at one depth. */
const threads = [
  'lab/thread/lab-thread.ts',
  'lab/checks/thread/check-thread.ts',
  'src/controller/model/topology-thread.ts',
  'src/controller/relay/relay-thread.ts',
  'src/controller/zip/extract-thread.ts',
  'src/emulators/host/checksum-worker.ts',
  'src/emulators/host/file-checksum-worker.ts',
  'src/people/bcrypt-thread.ts',
  'src/slice/guard.ts',
];
const nameOfThread = (source) => `${path.basename(path.dirname(source))}/${path.basename(source, '.ts')}`;
/** Entries of the bundle, which its processes start in place of these sources. */
const entries = new Map([
  ['src/main.ts', entry],
  ['src/fabric/main.ts', `fabric/${entry}`],
  ...threads.map((source) => [source, `${nameOfThread(source)}.mjs`]),
]);

/** The files of the bundle: scripts of the program and of the fabric, and modules. */
async function generate() {
  const inputs = Object.fromEntries(threads.map((source) => [nameOfThread(source), path.join(root, source)]));
  const [main, fabric, modules] = await Promise.all([
    outputOf([path.join(root, 'src/main.ts')], { format: 'cjs', folder: '' }),
    outputOf([path.join(root, 'src/fabric/main.ts')], { format: 'cjs', folder: 'fabric' }),
    outputOf(inputs, { format: 'esm', folder: 'shared', entryFileNames: '[name].mjs' }),
  ]);
  return { scripts: [...main, ...fabric], modules };
}

/** `folder`: of its files, in the bundle. */
async function outputOf(input, { format, folder: of, entryFileNames = path.join(of, 'program.js') }) {
  const chunkFileNames = path.join(of, `[name]-[hash]${path.extname(entryFileNames)}`);
  const { rolldown } = await import('rolldown');
  const here = format === 'cjs' ? '__dirname' : 'import.meta.dirname';
  const withOwnMeta = {
    filter: { code: 'import.meta.' },
    handler: (code, id) => withMetaOfSource(code, id, of === '' ? here : `${here} + '/..'`),
  };
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: (id) => outside.test(id),
    plugins: [
      { name: 'import-meta', transform: withOwnMeta },
      { name: 'http2', transform: withoutHttp2 },
      { name: 'version-check', transform: withoutVersionCheck },
    ],
  });
  try {
    return (await bundle.generate({ format, keepNames: true, comments: false, entryFileNames, chunkFileNames })).output;
  } finally {
    await bundle.close();
  }
}

/** Leaves out Node's module for HTTP/2, which is not served: Fastify loads it at once, which takes as long as fifty modules of ours. */
const withoutHttp2 = {
  filter: { id: /\/fastify\/lib\/server\.js$/ },
  handler: (code) => code.replace("require('node:http2')", '{}'),
};

/** Leaves out the check of a plugin's version, which the lock file has: its regular expressions are a twentieth of a start. */
const withoutVersionCheck = {
  filter: { id: /\/fastify\/lib\/plugin-utils\.js$/ },
  handler: (code) => code.replace('if (meta?.fastify == null) return', 'return'),
};

const metaOfSource =
  /new URL\('(?<url>\.[^']+\.ts)', import\.meta\.url\)|resolve\(import\.meta\.dirname, '(?<path>[^']+\.ts)'\)|import\.meta\.(?<own>url|dirname)/g;

/** `folder`: expression of the bundle's, which may be installed in another place than it was made. */
function withMetaOfSource(code, id, folder) {
  const place = (file) => `process.getBuiltinModule('node:path').join(${folder}, ${JSON.stringify(file)})`;
  const urlOf = (file) => `process.getBuiltinModule('node:url').pathToFileURL(${place(file)})`;
  return code.replaceAll(metaOfSource, (...found) => {
    const { url, path: file = url, own } = found.at(-1);
    const source = path.relative(root, file === undefined ? id : path.resolve(path.dirname(id), file));
    const target = (file !== undefined && entries.get(source)) || `../../../${source}`;
    if (own !== undefined) return own === 'url' ? `${urlOf(target)}.href` : place(path.dirname(target));
    return url === undefined ? place(target) : urlOf(target);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = await bundleProgram();
  // A package holds one bundle only.
  if (process.argv.includes('--only')) await removeOld(1);
  else console.log(made);
}
