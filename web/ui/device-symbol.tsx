/** The symbol of a device: the page's own drawing for GNS3's classic symbols, otherwise the server's picture. */
import type { Box, Point } from '../geometry/geometry.ts';
import { useApp } from '../state/app.ts';
import { type SymbolShape, shapeOf } from './symbol-shapes.ts';

export const symbolAddress = (symbol: string) => `/v2/symbols/${symbol.split('/').map(encodeURIComponent).join('/')}/raw`;

/** All drawn symbols have this size on the canvas, whatever the size of the picture that they replace. Scene pixels. */
const tilePx = 48;

/** Glyph of a tile: in all strokes, in a few that are readable at small sizes, or none. */
export type GlyphForm = 'full' | 'small' | 'none';

/** Sizes of a tile on the screen from which its glyphs are readable. Pixels. */
const fullGlyphFromPx = 20;
const smallGlyphFromPx = 12;

/** The glyph that is readable in all of a scene at a scale where names are hidden. */
export const farGlyph = (scale: number): GlyphForm => (scale * tilePx >= smallGlyphFromPx ? 'small' : 'none');

interface Placed {
  readonly symbol: string;
  readonly width: number;
  readonly height: number;
}

/** Where the symbol of a node is drawn, relative to the node. */
export function symbolBox({ symbol, width, height }: Placed, isFlat: boolean): Box {
  if (!isFlat || !shapeOf(symbol)) return { x: 0, y: 0, width, height };
  return { x: Math.round((width - tilePx) / 2), y: Math.round((height - tilePx) / 2), width: tilePx, height: tilePx };
}

export function useFlatSymbols(): boolean {
  return useApp().symbolSet.value === 'flat';
}

/** Symbol in a page of HTML. */
export function DeviceSymbol({ symbol, size = 32 }: { readonly symbol: string; readonly size?: number }) {
  const shape = useFlatSymbols() ? shapeOf(symbol) : undefined;
  if (!shape)
    return (
      <img class="device-symbol" src={symbolAddress(symbol)} width={size} height={size} alt="" draggable={false} loading="lazy" />
    );
  return (
    <svg class={`device-symbol tile ${shape.role}`} width={size} height={size} viewBox="0 0 48 48" aria-hidden="true">
      {tile(shape, { x: 0, y: 0 }, size < fullGlyphFromPx ? 'small' : 'full')}
    </svg>
  );
}

/** Elements of the symbol of a node on the canvas. */
export function sceneSymbol(node: Placed, isFlat: boolean, glyph: GlyphForm) {
  const shape = isFlat ? shapeOf(node.symbol) : undefined;
  if (!shape) return <image class="symbol" href={symbolAddress(node.symbol)} width={node.width} height={node.height} />;
  return <g class={`symbol tile ${shape.role}`}>{tile(shape, symbolBox(node, isFlat), glyph)}</g>;
}

function tile(shape: SymbolShape, { x, y }: Point, glyph: GlyphForm) {
  const { round } = shape;
  return (
    <>
      <rect class="ground" x={x + 2} y={y + 2} width={44} height={44} rx={round ? 22 : 11} />
      {glyph === 'full' && <path class="glyph" d={shape.glyph} transform={`translate(${x + 12} ${y + 12})`} />}
      {glyph === 'small' && <path class="glyph small" d={shape.small} transform={`translate(${x + 6} ${y + 6}) scale(1.5)`} />}
    </>
  );
}
