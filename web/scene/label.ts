/** Labels of nodes and links: their style is a text like CSS, of which only what is known is taken over. */
import type { CSSProperties } from 'preact';

export interface LabelLook {
  readonly style: CSSProperties;
  readonly sizePx: number;
}

const standardPx = 12;

/** The established style, with which every label begins: shown in the page's own type and ink. */
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

/** Black ink follows the theme: it was chosen by nobody, and could not be read in the dark. */
export function isBlack(colour: string | undefined): boolean {
  return colour === undefined || /^(#000(000)?(ff)?|black)$/i.test(colour);
}
