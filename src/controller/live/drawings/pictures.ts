/** Large drawings are kept in files of their own, named after their content, in `project-files/images`. Source: GNS3's format. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../../../lib/atomic-file.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { pictureSize } from '../../model/picture-size.ts';

/** Longer drawings go into a file. Characters. */
const inlineLimit = 1000;
/** Clients can write such files; a larger drawing, which no project file can hold, is shown as an empty one. Bytes. */
const largestPicture = 2 ** 24;
const emptySvg = '<svg></svg>';
/** First bytes of pictures that are no text, and what they are called. */
const imageTypes: readonly (readonly [string, string])[] = [
  ['\x89PNG', 'png'],
  ['\xff\xd8', 'jpg'],
  ['GIF8', 'gif'],
];

function picturesFolder(projectFolder: string): string {
  return join(projectFolder, 'project-files', 'images');
}

/** The drawing that a client sent: text that is not SVG becomes an empty one. */
export function shownSvg(given: string): string {
  return /<svg[\s>/]/.test(given) ? given : emptySvg;
}

/** Stores a picture, and returns the drawing's `svg` for the project file: the picture itself, or the name of its file. */
export async function storePicture(projectFolder: string, svg: string): Promise<string> {
  if (svg.length <= inlineLimit) return svg;
  const name = `${createHash('md5').update(svg).digest('hex')}.svg`;
  await mkdir(picturesFolder(projectFolder), { recursive: true });
  await writeFileAtomic(join(picturesFolder(projectFolder), name), svg);
  return name;
}

/** Whether the stored value of a drawing is the name of a file. */
export function isInFile(stored: string): boolean {
  return !stored.includes('<svg');
}

/** The drawing that a stored value stands for; an empty one for a file of more than `mostBytes`. */
export async function readPicture(projectFolder: string, stored: string, mostBytes = largestPicture): Promise<string> {
  if (!isInFile(stored)) return stored;
  const name = basename(stored);
  try {
    const bytes = await readRegularFile(join(picturesFolder(projectFolder), name), Math.min(mostBytes, largestPicture));
    const head = bytes.toString('latin1', 0, 4);
    const type = imageTypes.find(([begin]) => head.startsWith(begin))?.[1];
    if (!type) return shownSvg(bytes.toString('utf8'));
    return base64Length(bytes) > largestPicture ? emptySvg : wrapped(type, bytes);
  } catch {
    return emptySvg;
  }
}

const base64Length = ({ length }: Buffer) => 4 * Math.ceil(length / 3);

/** A drawing of the picture's own size: clients show one without a size nowhere. */
function wrapped(type: string, bytes: Buffer): string {
  const { width, height } = pictureSize(bytes) ?? { width: 0, height: 0 };
  const size = `height="${height}" width="${width}"`;
  const space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
  const data = `data:image/${type};base64,${bytes.toString('base64')}`;
  return `<svg ${space} ${size}><image ${size} xlink:href="${data}"/></svg>`;
}

/** Removes pictures that nothing refers to; files with names of other forms are not ours. */
export async function removeUnusedPictures(projectFolder: string, used: ReadonlySet<string>): Promise<void> {
  const folder = picturesFolder(projectFolder);
  for (const name of await readdir(folder).catch(() => [])) {
    if (/^[0-9a-f]{32}\.\w+$/.test(name) && !used.has(name)) await rm(join(folder, name), { force: true });
  }
}
