/** Finds the width and height of a GIF, PNG, JPEG or SVG picture from its first bytes. */

/** Bytes of a file that suffice. */
export const pictureHeadBytes = 256 * 1024;
/** Longest width or height of an SVG. Characters. */
const longestLength = 100;

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Returns 0 × 0 for other formats, undefined for a damaged picture. */
export function pictureSize(head: Buffer): PictureSize | undefined {
  if (head.subarray(0, 8).equals(pngSignature)) {
    return head.length < 24 ? undefined : { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  }
  if (/^GIF8[79]a$/.test(head.toString('latin1', 0, 6))) {
    return head.length < 10 ? undefined : { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  }
  if (head.length > 2 && head.readUInt16BE(0) === 0xffd8) return jpegSize(head);
  const text = head.toString('utf8').replace(/^\ufeff?\s*/, '');
  return text.startsWith('<?xml') || text.startsWith('<svg') ? svgSize(text) : { width: 0, height: 0 };
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads the first frame header (ITU T.81, B.2.2): markers C0 to CF except C4, C8 and CC, which are tables. */
function jpegSize(head: Buffer): PictureSize | undefined {
  let at = 2;
  while (at + 9 <= head.length) {
    if (head[at] !== 0xff) return undefined;
    const marker = head[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) };
    at += 2 + head.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Pixels per unit, at 90 an inch. Source: GNS3's symbols, which its clients draw at that resolution. */
const units: Readonly<Record<string, number>> = { '': 1, px: 1, pt: 1.25, pc: 15, mm: 3.543307, cm: 35.43307, in: 90 };

/** Takes time in proportion to the text, whatever it holds: users upload it, and the event loop waits. */
function svgSize(text: string): PictureSize | undefined {
  const tag = firstTag(text);
  if (tag === undefined) return undefined;
  const box = attribute(tag, 'viewBox')
    ?.trim()
    .split(/[\s,]+/)
    .map(Number);
  const width = lengthOf(attribute(tag, 'width') ?? '100%', box?.[2]);
  const height = lengthOf(attribute(tag, 'height') ?? '100%', box?.[3]);
  return width === undefined || height === undefined ? undefined : { width, height };
}

/** The first `<svg …>`. Only one place is tried: a text of nothing but `<svg` would be read to its end from each of them. */
function firstTag(text: string): string | undefined {
  const tag = /<svg\b(?:[^>"']|"[^"]*"|'[^']*')*>/y;
  tag.lastIndex = Math.max(0, text.search(/<svg\b/));
  return tag.exec(text)?.[0];
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return found?.[1] ?? found?.[2];
}

function lengthOf(text: string, whole: number | undefined): number | undefined {
  if (text.length > longestLength) return undefined;
  const found = /^\s*(\d*\.?\d+|\d+\.)(?:e([+-]?\d+))?\s*(%|[a-z]*)\s*$/i.exec(text);
  if (!found) return undefined;
  const value = Number(`${found[1]}e${found[2] ?? 0}`);
  const unit = (found[3] ?? '').toLowerCase();
  const factor = unit === '%' ? (whole ?? Number.NaN) / 100 : units[unit];
  const pixels = Math.round(value * (factor ?? Number.NaN));
  return Number.isSafeInteger(pixels) ? pixels : undefined;
}
