/** Handles at the ends of the selected link, which are dragged to other nodes. Their size on the screen is the same at any scale. */
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { useFlatSymbols } from '../ui/device-symbol.tsx';
import { drawnLink } from './drawn-link.ts';

const radiusPx = 6;
/** Reach of a handle, wide enough for fingers. */
const reachPx = 13;

export function LinkHandles() {
  const { viewport, tools } = useApp();
  const project = useProject();
  const { selection, groups } = project;
  const isFlat = useFlatSymbols();
  const [link, ...others] = selection.links.value;
  const isAlone = link && others.length === 0 && selection.ids.value.size === 1;
  const line = isAlone && drawnLink(project, link.link_id, isFlat);
  if (!line || tools.tool.value.name !== 'select') return null;
  if (link.nodes.some(({ node_id }) => groups.hidden.value.has(node_id))) return null;
  const { scale } = viewport.drawn.value;
  return (
    <g class="handles link-handles" data-id={link.link_id}>
      {line.path.ends.map(({ x, y }, place) => (
        <g key={place === 0 ? 'from' : 'to'} data-link-end={place} transform={`translate(${x} ${y}) scale(${1 / scale})`}>
          <title>{texts.dragEnd}</title>
          <circle class="reach" r={reachPx} />
          <circle r={radiusPx} />
        </g>
      ))}
    </g>
  );
}
