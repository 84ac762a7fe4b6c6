/** Drawn above all items during a gesture: the selection box, or the new link or shape. */

import { centreOf, nodeBox } from '../geometry/geometry.ts';
import { useApp, useProject } from '../state/app.ts';

export function Overlay() {
  const { sketch } = useApp();
  const { nodes } = useProject();
  const { box, wire } = sketch.value;
  const from = wire && nodes.find(wire.from.node_id);
  const start = from && centreOf(nodeBox(from));
  return (
    <g class="overlay">
      {box && <rect class="box" x={box.x} y={box.y} width={box.width} height={box.height} />}
      {start && wire && <path class="wire" d={`M${start.x} ${start.y}L${wire.to.x} ${wire.to.y}`} />}
    </g>
  );
}
