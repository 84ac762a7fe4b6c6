/** Images that an archive brings go into the images folder; an existing one is never replaced. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fault } from '../../api/faults.ts';
import { imageFolderOf } from '../model/node-images.ts';
import { copyOptions } from '../projects/copy-files.ts';

/**
 * Copies what is below `images` of an extracted archive and removes it there. Returns the images that are new, to be removed when the
 * import fails. Links are left out, and sums of images: they are worked out here.
 * @throws archive_image_differs; no image has come then
 */
export async function placeImages(content: string, imagesPath: string): Promise<string[]> {
  const from = join(content, 'images');
  const found = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => []);
  const placed: string[] = [];
  try {
    for (const entry of found) {
      if (!entry.isFile() || entry.name.endsWith('.md5sum')) continue;
      const source = join(entry.parentPath, entry.name);
      const target = join(imagesPath, withKnownFolder(relative(from, source)));
      const there = await lstat(target).catch(() => undefined);
      if (!there) {
        await copyImage(source, target);
        placed.push(target);
      } else if (!there.isFile() || there.size !== (await lstat(source)).size || (await sum(source)) !== (await sum(target))) {
        throw fault('archive_image_differs', { image: entry.name });
      }
    }
  } catch (error) {
    await removeImages(placed);
    throw error;
  }
  await rm(from, { recursive: true, force: true });
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

/** There when it is complete. */
async function copyImage(source: string, target: string): Promise<void> {
  const stagingPath = `${target}.tmp`;
  await mkdir(dirname(target), { recursive: true });
  try {
    await cp(source, stagingPath, copyOptions);
    await rename(stagingPath, target);
  } catch (error) {
    await rm(stagingPath, { force: true });
    throw error;
  }
}

async function sum(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), hash);
  return hash.digest('hex');
}
