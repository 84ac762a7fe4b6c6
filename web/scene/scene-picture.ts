/**
 * The canvas as a file that other programs show alike. Theory of operation: a copy of the drawn scene, without what only the page
 * needs, takes the computed styles of its elements as attributes, and the files of its images as data.
 */
import type { Api } from '../api.ts';
import type { App } from '../state/app.ts';

export interface ScenePicture {
  readonly svg: Blob;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** Controls, moving dots, and areas for the pointer. */
const pageParts = '.overlay, .cursors-of-others, .handles, .wire-handle, .far-names, .flow, .hit, .halo, .spinner';
const pageStates = ['selected', 'busy', 'picked'];
const marginPx = 24;
const shapes = 'path, rect, circle, ellipse, line, text, tspan, image';
/** Properties beside the colours, and their initial values. Source: SVG 2, "Property index". */
const strokeStyles = { 'stroke-width': '1px', 'stroke-dasharray': 'none', 'stroke-linecap': 'butt', 'stroke-linejoin': 'miter' };
const textStyles = {
  ...{ 'font-family': '', 'font-size': '', 'font-weight': '400', 'font-style': 'normal' },
  ...{ 'text-anchor': 'start', 'paint-order': 'normal' },
};
/** The limit of browsers for a canvas is above it. Pixels. */
const longestPngSide = 8_192;
const pngScale = 2;

/** @throws Error when the canvas is empty */
export async function scenePicture({ api, viewport }: Pick<App, 'api' | 'viewport'>): Promise<ScenePicture> {
  const shown = document.querySelector<SVGSVGElement>('.scene > svg.canvas');
  viewport.complete.value = true;
  // Rendering follows in microtasks.
  await new Promise((resolve) => setTimeout(resolve));
  const content = shown?.querySelector(':scope > g')?.cloneNode(true);
  viewport.complete.value = false;
  if (!shown || !(content instanceof SVGGElement)) throw new Error('The canvas is not shown');
  const box = drawnApart(shown, content);
  if (box.width <= 0 && box.height <= 0) throw new Error('The canvas is empty');
  await embedImages(content, api);
  const [width, height] = [Math.ceil(box.width + 2 * marginPx), Math.ceil(box.height + 2 * marginPx)];
  const [left, top] = [Math.floor(box.x - marginPx), Math.floor(box.y - marginPx)];
  const svg = svgElement('svg', { viewBox: `${left} ${top} ${width} ${height}`, width, height });
  svg.append(svgElement('rect', { x: left, y: top, width, height, fill: getComputedStyle(shown).backgroundColor }), content);
  return { svg: new Blob([new XMLSerializer().serializeToString(svg)], { type: 'image/svg+xml' }), width, height };
}

/** Draws the picture at twice its size, unless that is too large. */
export async function asPng({ svg, width, height }: ScenePicture): Promise<Blob> {
  const scale = Math.min(pngScale, longestPngSide / Math.max(width, height));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const image = new Image();
  image.src = URL.createObjectURL(svg);
  try {
    await image.decode();
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  } finally {
    URL.revokeObjectURL(image.src);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((png) => (png ? resolve(png) : reject(new Error('The browser could not draw the picture'))), 'image/png');
  });
}

/** Styles the copy, which is in the page only meanwhile, out of sight. Returns the extent of what it draws. */
function drawnApart(shown: SVGSVGElement, content: SVGGElement): DOMRect {
  const stage = document.createElement('div');
  // The styles of the canvas are those of its classes; at a small scale it shows less.
  stage.className = shown.parentElement?.className ?? '';
  stage.style.cssText = 'position: fixed; inset: auto; left: -9999px; width: 1px; height: 1px; overflow: hidden';
  const svg = svgElement('svg', { class: 'canvas' });
  for (const part of content.querySelectorAll(pageParts)) part.remove();
  for (const element of content.querySelectorAll('[class]')) element.classList.remove(...pageStates);
  content.removeAttribute('transform');
  stage.append(svg);
  svg.append(content);
  document.body.append(stage);
  try {
    const box = content.getBBox();
    keepStyles(content);
    return box;
  } finally {
    stage.remove();
  }
}

type Attributes = readonly (readonly [name: string, value: string])[];

/** All styles are read before the first is written: an attribute would change those of the elements inside. */
function keepStyles(content: SVGGElement): void {
  const elements = [...content.querySelectorAll<SVGElement>('*')];
  const colours = new Colours();
  const styles = elements.map((element) => stylesOf(element, colours));
  for (const [place, element] of elements.entries()) {
    const kept = styles[place];
    if (!kept) element.remove();
    for (const { name } of [...element.attributes])
      if (/^(class|style|role|(data|aria)-.*)$/.test(name)) element.removeAttribute(name);
    for (const [name, value] of kept ?? []) element.setAttribute(name, value);
  }
}

/** Undefined: the element is not drawn. */
function stylesOf(element: SVGElement, colours: Colours): Attributes | undefined {
  if (element.localName === 'title') return [];
  const computed = getComputedStyle(element);
  if (computed.display === 'none') return undefined;
  if (!element.matches(shapes)) return [];
  const isText = element.matches('text, tspan');
  const initial = { opacity: '1', ...(computed.stroke !== 'none' && strokeStyles), ...(isText && textStyles) };
  const others = Object.entries(initial).flatMap(([name, value]) => {
    const own = computed.getPropertyValue(name);
    return own === value ? [] : [[name, own] as const];
  });
  return [
    ...colours.of('fill', computed),
    ...(computed.stroke === 'none' ? [] : colours.of('stroke', computed)),
    ...others,
    ...(isText && computed.textDecorationLine === 'underline' ? [['text-decoration', 'underline'] as const] : []),
  ];
}

/** Colours as `#rrggbb` and an opacity: other programs do not know those of CSS that are mixed or translucent. */
class Colours {
  readonly #known = new Map<string, Uint8ClampedArray>();
  readonly #context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });

  of(name: 'fill' | 'stroke', computed: CSSStyleDeclaration): Attributes {
    const colour = computed.getPropertyValue(name);
    if (colour === 'none') return [[name, 'none']];
    const [red = 0, green = 0, blue = 0, alpha = 0] = this.#pixelOf(colour);
    const opacity = (alpha / 255) * Number(computed.getPropertyValue(`${name}-opacity`));
    if (opacity === 0) return [[name, 'none']];
    const digits = [red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('');
    return [[name, `#${digits}`], ...(opacity < 1 ? [[`${name}-opacity`, opacity.toFixed(3)] as const] : [])];
  }

  #pixelOf(colour: string): Uint8ClampedArray {
    const known = this.#known.get(colour);
    if (known || !this.#context) return known ?? new Uint8ClampedArray(4);
    this.#context.clearRect(0, 0, 1, 1);
    this.#context.fillStyle = colour;
    this.#context.fillRect(0, 0, 1, 1);
    const { data } = this.#context.getImageData(0, 0, 1, 1);
    this.#known.set(colour, data);
    return data;
  }
}

/** Images of the server become data; one that cannot be read is left out. */
async function embedImages(content: SVGGElement, api: Pick<Api, 'download'>): Promise<void> {
  const images = [...content.querySelectorAll('image')].filter((image) => !addressOf(image).startsWith('data:'));
  for (const [address, same] of Map.groupBy(images, addressOf)) {
    const data = await api.download(address, () => undefined).then(dataAddress, () => undefined);
    for (const image of same)
      if (data === undefined) image.remove();
      else image.setAttribute('href', data);
  }
}

const addressOf = (image: SVGImageElement) => image.getAttribute('href') ?? '';

function dataAddress(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

function svgElement<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
