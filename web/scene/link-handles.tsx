/** Handles at the ends of the selected link, which are dragged to other nodes. Their size on the screen is the same at any scale. */
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { linkPath } from './link-path.ts';

const radiusPx = 6;
/** Reach of a handle, wide enough for fingers. */
const reachPx = 13;

export function LinkHandles() {
  const { viewport, tools } = useApp();
  const { selection, nodes, drawn, groups } = useProject();
  const isFlat = useFlatSymbols();
  const [link, ...others] = selection.links.value;
  const isAlone = link && others.length === 0 && selection.ids.value.size === 1;
  const [a, b] = isAlone ? link.nodes : [];
  const [one, other] = [a && nodes.find(a.node_id), b && nodes.find(b.node_id)];
  if (!isAlone || !one || !other || tools.tool.value.name !== 'select') return null;
  if (groups.hidden.value.has(one.node_id) || groups.hidden.value.has(other.node_id)) return null;
  const end = (node: typeof one) => ({ id: node.node_id, node, symbol: symbolBox(node, isFlat) });
  const { ends } = linkPath([end(one), end(other)], drawn.bulges.value.get(link.link_id));
  const { scale } = viewport.drawn.value;
  return (
    <g class="handles link-handles" data-id={link.link_id}>
      {ends.map(({ x, y }, place) => (
        <g key={place === 0 ? 'from' : 'to'} data-link-end={place} transform={`translate(${x} ${y}) scale(${1 / scale})`}>
          <title>{texts.dragEnd}</title>
          <circle class="reach" r={reachPx} />
          <circle r={radiusPx} />
        </g>
      ))}
    </g>
  );
}
