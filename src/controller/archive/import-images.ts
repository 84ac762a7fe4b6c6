/** Images that an archive brings go into the images folder; an existing one is never replaced. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fault } from '../../api/faults.ts';
import { besideImages, refuseImageName } from '../../lib/base-name.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { takeName } from '../../lib/take-name.ts';
import { imageFolderOf } from '../model/node-images.ts';
import { copyTree } from '../projects/copy-tree.ts';
import { refuseArchive } from '../zip/archive-entries.ts';

/**
 * Moves the files below `images` of an extracted archive to the image folders. Returns the images that are new, to be removed when
 * the import fails. Links are left out, and sums of images: they are worked out here.
 * @throws archive_image_differs, archive_invalid; no image has come then
 */
export async function placeImages(content: string, imagesPath: string): Promise<string[]> {
  const from = join(content, 'images');
  const found = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => []);
  const placed: string[] = [];
  try {
    for (const entry of found) {
      if (!entry.isFile() || besideImages.test(entry.name)) continue;
      const reason = refuseImageName(relative(from, join(entry.parentPath, entry.name)));
      if (reason !== undefined) refuseArchive(`the name of the image "${entry.name}" cannot be used: ${reason}`);
      const source = join(entry.parentPath, entry.name);
      const target = join(imagesPath, withKnownFolder(relative(from, source)));
      if (await copyImage(source, target)) placed.push(target);
      else if (!(await isSame(source, target))) throw fault('archive_image_differs', { image: entry.name });
    }
  } catch (error) {
    await removeImages(placed);
    throw error;
  }
  await removeTree(from);
  return placed;
}

export async function removeImages(placed: readonly string[]): Promise<void> {
  for (const image of placed) await rm(image, { force: true }).catch(() => undefined);
}

/** GNS3 names folders of images from other computes after the kind of node, which is not an images folder. */
function withKnownFolder(path: string): string {
  const [first = '', ...rest] = path.split('/');
  return [rest.length > 0 ? (imageFolderOf(first) ?? first) : first, ...rest].join('/');
}

/**
 * Copies an image, which appears only when it is complete. Returns false when the name is taken, possibly by a concurrent request.
 */
async function copyImage(source: string, target: string): Promise<boolean> {
  if (await lstat(target).catch(() => undefined)) return false;
  // The staging name is that of an upload: the next start removes files that a killed server leaves under such names.
  const stagingPath = join(dirname(target), `.${randomBytes(6).toString('hex')}.tmp`);
  await mkdir(dirname(target), { recursive: true });
  try {
    await copyTree(source, stagingPath);
    // Archives of GNS3 hold images with mode 0700, which emulators with a user of their own cannot read.
    await chmod(stagingPath, ((await lstat(stagingPath)).mode & 0o777) | 0o644);
    await takeName(stagingPath, target);
    return true;
  } catch (error) {
    await rm(stagingPath, { force: true });
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [facts, otherFacts] = await Promise.all([lstat(one), lstat(other)]);
  return otherFacts.isFile() && facts.size === otherFacts.size && (await sum(one)) === (await sum(other));
}

async function sum(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), hash);
  return hash.digest('hex');
}
