/** The names of nodes at small scales: of constant size on the screen, the best-connected nodes first, as many as do not overlap. */
import { useComputed } from '@preact/signals';
import type { Node } from '../../src/schema/node.ts';
import { overlaps } from '../geometry/geometry.ts';
import { useApp, useProject } from '../state/app.ts';
import { symbolBox } from '../ui/device-symbol.tsx';
import { shortName } from './name-size.ts';

/** Screen pixels. */
const fontPx = 11;
const lineHeightPx = 15;
/** Mean width of a character. */
const charPx = 6.4;
/** Names are laid out anew when the scale changes by this factor, not with each frame of a zoom. */
const step = 2 ** 0.25;
/** More cannot be read, and cost frames. */
const mostNames = 250;

export function FarNames() {
  const { viewport, symbolSet } = useApp();
  const { nodes, linksOf, groups } = useProject();
  const scale = useComputed(() => {
    if (viewport.detail.value !== 'far') return 0;
    return step ** Math.round(Math.log(viewport.drawn.value.scale) / Math.log(step));
  });
  const names = useComputed(() => {
    if (scale.value === 0) return [];
    const isFlat = symbolSet.value === 'flat';
    const degree = ({ node_id }: Node) => linksOf.value.get(node_id)?.length ?? 0;
    const byImportance = nodes.all.value
      .filter(({ node_id }) => !groups.hidden.value.has(node_id))
      .sort((one, other) => degree(other) - degree(one));
    return spaced(byImportance, scale.value, isFlat);
  });
  if (names.value.length === 0) return null;
  return (
    <g class="far-names" font-size={fontPx / scale.value} stroke-width={3 / scale.value}>
      {names.value.map((name) => (
        <FarName key={name.node.node_id} {...name} />
      ))}
    </g>
  );
}

interface PlacedName {
  readonly node: Node;
  /** Distance of the baseline from the top of the node. */
  readonly above: number;
}

function FarName({ node, above }: PlacedName) {
  const { x, y } = useProject().drawn.dragged.placed(node.node_id, node);
  return (
    <text x={x + node.width / 2} y={y - above} text-anchor="middle">
      {shortName(node.name)}
    </text>
  );
}

function spaced(nodes: readonly Node[], scale: number, isFlat: boolean): PlacedName[] {
  const placed: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }[] = [];
  const names: PlacedName[] = [];
  for (const node of nodes) {
    if (names.length === mostNames) break;
    const { y: top } = symbolBox(node, isFlat);
    const [width, height] = [(shortName(node.name).length * charPx + 8) / scale, lineHeightPx / scale];
    const box = { x: node.x + (node.width - width) / 2, y: node.y + top - height, width, height };
    if (placed.some((other) => overlaps(other, box))) continue;
    placed.push(box);
    names.push({ node, above: 3 / scale - top });
  }
  return names;
}
