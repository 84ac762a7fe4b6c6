/**
 * Classifies a drawing's SVG: a simple shape, whose few attributes are read one by one, or a picture that the browser shows as an
 * image. A project's SVG never becomes part of the page, so nothing in it can run.
 */
export interface Ink {
  readonly stroke?: string;
  readonly strokeWidth?: number;
  readonly dash?: string;
  readonly fill?: string;
  readonly opacity?: number;
}

export interface TextLook {
  readonly family?: string;
  readonly sizePx: number;
  readonly weight?: string;
  readonly italic?: boolean;
  readonly underline?: boolean;
}

/** A rectangle with this mark moves what lies inside; collapsed, it hides it. */
export type GroupState = 'open' | 'collapsed';
export const groupMark = 'data-patchbay-group';
export const groupNameMark = 'data-patchbay-name';
const longestGroupName = 60;

/** Marks of a rectangle that is a group. */
export interface GroupMarks {
  readonly group?: GroupState;
  readonly name?: string;
}

export type Picture = { readonly width: number; readonly height: number } & (
  | ({ readonly shape: 'rectangle' | 'ellipse'; readonly ink: Ink; readonly radius: number } & GroupMarks)
  | { readonly shape: 'line'; readonly ink: Ink; readonly from: readonly [number, number]; readonly to: readonly [number, number] }
  | { readonly shape: 'text'; readonly ink: Ink; readonly look: TextLook; readonly lines: readonly TextLine[] }
  | { readonly shape: 'picture'; readonly address: string }
);

export interface TextLine {
  readonly text: string;
  /** Position of the baseline. */
  readonly y: number;
}

const cacheLimit = 500;

/** Parses each text once. */
export class Pictures {
  readonly #known = new Map<string, Picture>();

  of(svg: string): Picture {
    const found = this.#known.get(svg);
    if (found) return found;
    if (this.#known.size >= cacheLimit) this.#known.clear();
    const picture = readPicture(svg);
    this.#known.set(svg, picture);
    return picture;
  }
}

export function readPicture(svg: string): Picture {
  // An inert document: the browser runs no script in it and loads nothing for it.
  const root = new DOMParser().parseFromString(withoutHandlers(svg), 'image/svg+xml').documentElement;
  const width = lengthOf(root, 'width', 100);
  const height = lengthOf(root, 'height', 100);
  const children = [...root.children];
  const [only] = children;
  if (root.localName !== 'svg' || !only || children.length > 1 || only.hasAttribute('transform'))
    return asPicture(svg, width, height);
  const ink = inkOf(only);
  switch (only.localName) {
    case 'rect':
      return { shape: 'rectangle', width, height, ink, radius: lengthOf(only, 'rx', 0), ...groupOf(only) };
    case 'ellipse':
      return { shape: 'ellipse', width, height, ink, radius: 0 };
    case 'line':
      return {
        shape: 'line',
        ...{ width, height, ink },
        from: [lengthOf(only, 'x1', 0), lengthOf(only, 'y1', 0)],
        to: [lengthOf(only, 'x2', 0), lengthOf(only, 'y2', 0)],
      };
    case 'text':
      return only.children.length > 0 ? asPicture(svg, width, height) : textPicture(only, { width, height, ink });
    default:
      return asPicture(svg, width, height);
  }
}

function textPicture(text: Element, common: { width: number; height: number; ink: Ink }): Picture {
  const look = lookOf(text);
  const lines = (text.textContent ?? '').split('\n').map((line, place) => ({ text: line, y: look.sizePx * (1 + place * 1.25) }));
  return { shape: 'text', ...common, look, lines };
}

/** Removed, because the browser logs an error for every script that it blocks. */
function withoutHandlers(svg: string): string {
  return svg.replace(/<[^>]*>/g, (tag) => tag.replace(/(\s)(on\w+\s*=)/gi, '$1data-$2'));
}

/** Embeds the SVG as an image: browsers run no script in it and load nothing for it. */
function asPicture(svg: string, width: number, height: number): Picture {
  const named = /<svg[^>]*\sxmlns\s*=/.test(svg) ? svg : svg.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"');
  return { shape: 'picture', width, height, address: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(named)}` };
}

function lengthOf(element: Element, name: string, standard: number): number {
  const value = Number.parseFloat(element.getAttribute(name) ?? '');
  return Number.isFinite(value) && value >= 0 && value < 1e6 ? value : standard;
}

function inkOf(element: Element): Ink {
  const opacity = Number.parseFloat(element.getAttribute('fill-opacity') ?? '');
  return {
    ...colourOf(element, 'stroke'),
    ...colourOf(element, 'fill'),
    ...(element.hasAttribute('stroke-width') && { strokeWidth: lengthOf(element, 'stroke-width', 2) }),
    ...dashOf(element),
    ...(opacity >= 0 && opacity <= 1 && { opacity }),
  };
}

function groupOf(element: Element): GroupMarks {
  const group = element.getAttribute(groupMark);
  if (group !== 'open' && group !== 'collapsed') return {};
  const name = element.getAttribute(groupNameMark)?.trim().slice(0, longestGroupName);
  return { group, ...(name && { name }) };
}

function colourOf(element: Element, name: 'stroke' | 'fill'): Partial<Record<typeof name, string>> {
  const value = element.getAttribute(name)?.trim() ?? '';
  return /^(#[0-9a-f]{3,8}|[a-z]{3,24}|(rgb|hsl)a?\([\d., %/]+\))$/i.test(value) ? { [name]: value } : {};
}

function dashOf(element: Element): { readonly dash?: string } {
  const value = element.getAttribute('stroke-dasharray')?.trim() ?? '';
  return /^[\d., ]{1,60}$/.test(value) ? { dash: value } : {};
}

function lookOf(element: Element): TextLook {
  const family = element.getAttribute('font-family') ?? '';
  return {
    // Sizes without a unit are points in GNS3's drawings.
    sizePx: lengthOf(element, 'font-size', 10) * (4 / 3),
    ...(/^[\w ,'"-]{1,100}$/.test(family) && { family }),
    ...(element.getAttribute('font-weight') === 'bold' && { weight: 'bold' }),
    ...(element.getAttribute('font-style') === 'italic' && { italic: true }),
    ...(element.getAttribute('text-decoration') === 'underline' && { underline: true }),
  };
}
