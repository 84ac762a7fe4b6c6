import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { readPicture, storePicture } from './pictures.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-'));
const images = join(folder, 'project-files/images');
await mkdir(images, { recursive: true });
after(() => rm(folder, { recursive: true }));

/** Signature, then the header with width 40 and height 30. */
const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from([0, 0, 0, 40, 0, 0, 0, 30, 8, 2, 0, 0, 0]),
  Buffer.alloc(600, 7),
]);

it('a picture that another program stored is a drawing of its size', async () => {
  await writeFile(join(images, 'aaaa.png'), png);
  const svg = await readPicture(folder, 'aaaa.png');
  assert.match(svg, /^<svg [^>]*height="30" width="40"><image height="30" width="40" xlink:href="data:image\/png;base64,/);
  assert.ok(svg.includes(png.toString('base64')));
  assert.equal(await readPicture(folder, '../../../project-files/images/aaaa.png'), svg);
});

it('text is taken as it is, whatever its file is called; what is no drawing, or not there, is an empty one', async () => {
  const svg = '<svg height="1" width="2"></svg>';
  await writeFile(join(images, 'bbbb.svgxml'), svg);
  await writeFile(join(images, 'cccc.png'), 'no picture');
  assert.equal(await readPicture(folder, 'bbbb.svgxml'), svg);
  await writeFile(join(images, 'huge.png'), png);
  await truncate(join(images, 'huge.png'), 2 ** 26 + 1);
  for (const name of ['cccc.png', 'huge.png', 'none.png', '']) assert.equal(await readPicture(folder, name), '<svg></svg>');
});

it('long drawings go into a file and come back as they were', async () => {
  const svg = `<svg height="1" width="2">${'<rect/>'.repeat(200)}</svg>`;
  const stored = await storePicture(folder, svg);
  assert.match(stored, /^[0-9a-f]{32}\.svg$/);
  assert.equal(await readPicture(folder, stored), svg);
});
