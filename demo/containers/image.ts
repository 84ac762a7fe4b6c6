/**
 * Container images made of Debian's packages, without a registry: downloaded, unpacked, and reduced to some programs with their
 * libraries and a busybox. What is given to an engine is kept in the user's cache folder; later runs need neither network nor apt.
 */
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { exists, fetchPackages, isRoot, run, updateLists, withWorkFolder } from '../guest/debian.ts';
import { librariesOf, withLibraryPackages } from './libraries.ts';
import type { ImageRecipe } from './recipes.ts';

/** Raised when the build changes. */
const buildVersion = 1;

/** The archive for `loadImage`: from the cache, or built now. @throws Error with the remedy when it cannot be built */
export async function ensureImage(recipe: ImageRecipe, log: (line: string) => void = () => {}): Promise<string> {
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'patchbay');
  const version = createHash('sha256')
    .update(JSON.stringify([buildVersion, recipe]))
    .digest('hex')
    .slice(0, 8);
  const archive = path.join(cache, `${recipe.name}-${version}.tar`);
  if (await exists(archive)) return archive;
  return withWorkFolder(cache, async (work) => {
    const began = performance.now();
    const packages = await findPackages(recipe);
    log(`Image ${recipe.name}: downloading ${packages.length} Debian packages`);
    const programs = [...recipe.programs, ...recipe.optional].map((file) => path.basename(file));
    await fetchPackages(packages, work, ['*.so*', 'busybox', ...programs]);
    await writeArchive(recipe, work, archive);
    log(`Image ${recipe.name}: made in ${((performance.now() - began) / 1000).toFixed(1)} s, kept in ${archive}`);
    return archive;
  });
}

/**
 * Builds the image `NAME:latest` out of the archive of `ensureImage`, in the engine that listens on a Unix socket.
 * @throws Error with what the engine said
 */
export async function loadImage(socketPath: string, recipe: ImageRecipe, archive: string): Promise<void> {
  const dispatcher = new Agent({ connect: { socketPath } });
  try {
    const { body } = await request(`http://docker/build?t=${encodeURIComponent(`${recipe.name}:latest`)}`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/x-tar' },
      body: await readFile(archive),
    });
    const output = await body.text();
    if (!output.includes('Successfully built'))
      throw new Error(`the engine refused the image ${recipe.name}: ${output.slice(-500)}`);
  } finally {
    await dispatcher.close();
  }
}

async function findPackages({ packages }: ImageRecipe): Promise<string[]> {
  try {
    return await withLibraryPackages(packages);
  } catch (error) {
    if (!isRoot()) throw error;
    await updateLists();
    return withLibraryPackages(packages);
  }
}

async function writeArchive(recipe: ImageRecipe, work: string, archive: string): Promise<void> {
  const root = path.join(work, 'image/root');
  await fillRoot(recipe, path.join(work, 'root'), root);
  // The stop signal is SIGKILL, as a shell that is the first process of a container ignores other signals.
  const lines = ['FROM scratch', 'COPY root/ /', `CMD ["${recipe.command}"]`, 'STOPSIGNAL SIGKILL'];
  await writeFile(path.join(work, 'image/Dockerfile'), lines.join('\n'));
  const made = path.join(work, 'image.tar');
  const tar = await run('tar', ['-C', path.join(work, 'image'), '--owner=0', '--group=0', '-cf', made, '.']);
  if (tar.code !== 0) throw new Error(`tar failed: ${tar.stderr.trim()}`);
  await rename(made, archive);
}

async function fillRoot(recipe: ImageRecipe, packages: string, root: string): Promise<void> {
  const files = await findFiles(packages, ['-type', 'f']);
  const links = await findFiles(packages, ['-name', '*.so*', '!', '-type', 'd']);
  const libraries = new Map(links.map((file) => [path.basename(file), file]));
  const place = async (from: string, to: string) => {
    await mkdir(path.dirname(path.join(root, to)), { recursive: true });
    await copyFile(from, path.join(root, to));
    await chmod(path.join(root, to), 0o755);
  };
  for (const folder of ['bin', 'sbin', 'etc', 'root', 'run', 'tmp', 'var/log', 'dev', 'proc', 'sys']) {
    await mkdir(path.join(root, folder), { recursive: true });
  }
  await symlink('../run', path.join(root, 'var/run'));
  for (const program of [...recipe.programs, ...recipe.optional]) {
    // Where /bin is /usr/bin, packages have moved their files.
    const from = files.find((file) => file.endsWith(`/${program}`) || file.endsWith(`/usr/${program}`));
    if (from === undefined && recipe.optional.includes(program)) continue;
    if (from === undefined) throw new Error(`the packages ${recipe.packages.join(', ')} have no ${program}`);
    await place(from, program);
    for (const [to, library] of await librariesOf(from, libraries)) await place(library, to);
  }
  await addBusybox(files, root, place);
  for (const [to, text] of Object.entries(recipe.files)) {
    await mkdir(path.dirname(path.join(root, to)), { recursive: true });
    await writeFile(path.join(root, to), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
}

async function findFiles(folder: string, tests: readonly string[]): Promise<string[]> {
  const { stdout } = await run('find', [folder, ...tests]);
  return stdout.split('\n').filter((file) => file !== '');
}

async function addBusybox(
  files: readonly string[],
  root: string,
  place: (from: string, to: string) => Promise<void>,
): Promise<void> {
  const busybox = files.find((file) => file.endsWith('/bin/busybox'));
  if (busybox === undefined) throw new Error('the package busybox-static has no busybox');
  await place(busybox, 'bin/busybox');
  const present = new Set((await findFiles(root, ['-type', 'f'])).map((file) => path.basename(file)));
  for (const applet of (await run(busybox, ['--list'])).stdout.trim().split('\n')) {
    if (!present.has(applet)) await symlink('busybox', path.join(root, 'bin', applet));
  }
}
