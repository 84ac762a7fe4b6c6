/** Drawn above all items during a gesture: the selection box, or the new link or shape. */

import { centreOf, nodeBox } from '../geometry/geometry.ts';
import type { Guide } from '../geometry/snapping.ts';
import { useApp, useProject } from '../state/app.ts';

const keyOf = ({ kind, axis, at, from }: Guide) => `${kind} ${axis} ${at} ${from}`;

/** A line along the edges, or a bar across a gap. */
function guidePath({ kind, axis, at, from, to }: Guide): string {
  const isUpright = (axis === 'x') === (kind === 'edge');
  return isUpright ? `M${at} ${from}V${to}` : `M${from} ${at}H${to}`;
}

export function Overlay() {
  const { sketch } = useApp();
  const { nodes } = useProject();
  const { box, wire, guides = [] } = sketch.value;
  const from = wire && nodes.find(wire.from.node_id);
  const start = from && centreOf(nodeBox(from));
  return (
    <g class="overlay">
      {box && <rect class="box" x={box.x} y={box.y} width={box.width} height={box.height} />}
      {guides.map((guide) => (
        <path key={keyOf(guide)} class={`guide ${guide.kind}`} d={guidePath(guide)} />
      ))}
      {start && wire && <path class="wire" d={`M${start.x} ${start.y}L${wire.to.x} ${wire.to.y}`} />}
    </g>
  );
}
