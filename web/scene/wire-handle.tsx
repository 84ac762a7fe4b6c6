/** The handle at the node under the pointer, from which a link is dragged. Its size on the screen is the same at any scale. */
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';

const radiusPx = 8;
const reachPx = 13;

export function WireHandle() {
  const { viewport, tools, hovered, sketch } = useApp();
  const { nodes } = useProject();
  const node = hovered.value === undefined ? undefined : nodes.find(hovered.value);
  const isBusy = tools.tool.value.name !== 'select' || tools.pressing.value || sketch.value.wire !== undefined;
  if (!node || isBusy || node.ports.length === 0 || viewport.detail.value === 'far') return null;
  const { scale } = viewport.drawn.value;
  return (
    <g
      class="wire-handle"
      data-id={node.node_id}
      data-wire=""
      transform={`translate(${node.x + node.width / 2} ${node.y + node.height + 4 / scale}) scale(${1 / scale})`}
    >
      <title>{texts.dragLink}</title>
      <circle class="reach" r={reachPx} />
      <circle r={radiusPx} />
      <path d="M-3.5 0H3.5M0 -3.5V3.5" />
    </g>
  );
}
