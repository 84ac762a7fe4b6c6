/** Labels of nodes and links. Their style is CSS-like text; only known properties are used. */
import type { CSSProperties } from 'preact';

export interface LabelLook {
  readonly style: CSSProperties;
  readonly sizePx: number;
}

const standardPx = 12;

/** GNS3's default style of labels: shown in the page's own font and colour. */
const plain =
  /^\s*(font-family:\s*TypeWriter;?\s*)?(font-size:\s*10(\.0)?;?\s*)?(font-weight:\s*bold;?\s*)?(fill:\s*#000000;?\s*)?(fill-opacity:\s*1(\.0)?;?\s*)?$/;

export function labelLook(text: string | null | undefined): LabelLook {
  if (!text || plain.test(text)) return { style: {}, sizePx: standardPx };
  const given = new Map(
    text.split(';').map((part) => {
      const at = part.indexOf(':');
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()] as const;
    }),
  );
  const points = Number.parseFloat(given.get('font-size') ?? '');
  const sizePx = points > 0 && points < 200 ? Math.round(points * (4 / 3)) : standardPx;
  const family = given.get('font-family') ?? '';
  const fill = given.get('fill') ?? '';
  const style: CSSProperties = { fontSize: `${sizePx}px` };
  if (/^[\w ,'"-]{1,100}$/.test(family) && family !== 'TypeWriter') style.fontFamily = family;
  if (/^(#[0-9a-f]{3,8}|[a-z]{3,24})$/i.test(fill) && !isBlack(fill)) style.fill = fill;
  if (given.get('font-weight') === 'bold') style.fontWeight = 600;
  if (given.get('font-style') === 'italic') style.fontStyle = 'italic';
  if (given.get('text-decoration') === 'underline') style.textDecoration = 'underline';
  return { style, sizePx };
}

/** Black is GNS3's default and unreadable on a dark theme, so it follows the theme. */
export function isBlack(colour: string | undefined): boolean {
  return colour === undefined || /^(#000(000)?(ff)?|black)$/i.test(colour);
}
