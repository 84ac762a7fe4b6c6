import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pictureSize } from './picture-size.ts';

const of = (text: string) => pictureSize(Buffer.from(text));
const svg = (attributes: string) =>
  of(`<?xml version="1.0"?>\n<!-- a > b -->\n<svg ${attributes}><rect width="1" height="1"/></svg>`);

describe('the size of a picture', () => {
  it('is that of its pixels', () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d494844520000010200000030', 'hex');
    assert.deepEqual(pictureSize(png), { width: 258, height: 48 });
    assert.deepEqual(pictureSize(Buffer.from('474946383961100020000000', 'hex')), { width: 16, height: 32 });
    const jpeg = Buffer.from('ffd8ffe000044a46ffffc000110800300102031100021100', 'hex');
    assert.deepEqual(pictureSize(jpeg), { width: 258, height: 48 });
  });

  it('of an SVG is in its attributes, whatever their unit', () => {
    assert.deepEqual(svg('width="66" height="45px"'), { width: 66, height: 45 });
    assert.deepEqual(svg("stroke-width='9' height='1in' width='10mm'"), { width: 35, height: 90 });
    assert.deepEqual(svg('width="50%" viewBox="0 0 200, 120"'), { width: 100, height: 120 });
    assert.deepEqual(svg('viewBox="0 0 7 8"'), { width: 7, height: 8 });
  });

  it('is not known of a broken one, and nothing of what is none', () => {
    for (const broken of ['<svg', '<?xml version="1.0"?><html/>']) assert.equal(of(broken), undefined);
    for (const broken of [
      'width="1"',
      `width="${' '.repeat(200)}1" height="1"`,
      'width="x" height="1"',
      'width="1parsec" height="1"',
      '',
    ])
      assert.equal(svg(broken), undefined);
    assert.equal(pictureSize(Buffer.from('89504e470d0a1a0a00', 'hex')), undefined);
    assert.equal(pictureSize(Buffer.from('ffd8ff00', 'hex')), undefined);
    for (const other of ['', 'text', 'GIF8']) assert.deepEqual(of(other), { width: 0, height: 0 });
  });
});
