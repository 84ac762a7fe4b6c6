/** Details of the selection; of the project when nothing is selected. */
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Lazy } from '../ui/lazy.tsx';
import { LinkPanel } from './link-panel.tsx';
import { NodePanel } from './node-panel.tsx';
import { OverviewPanel } from './overview-panel.tsx';
import { SeveralPanel } from './several-panel.tsx';

const loadDrawing = async () => (await import('./drawing-panel.tsx')).DrawingPanel;

export function Inspector() {
  return (
    <aside class="inspector" aria-label={texts.inspector}>
      <Content />
    </aside>
  );
}

function Content() {
  const { selection } = useProject();
  const { tools } = useApp();
  const nodes = selection.nodes.value;
  const links = selection.links.value;
  const drawings = selection.drawings.value;
  const [node] = nodes;
  const [link] = links;
  const [drawing] = drawings;
  if (nodes.length + links.length + drawings.length > 1) return <SeveralPanel />;
  if (node) return <NodePanel key={node.node_id} node={node} />;
  if (link) return <LinkPanel key={link.link_id} link={link} />;
  if (drawing) return <Lazy key={drawing.drawing_id} load={loadDrawing} props={{ drawing }} />;
  return tools.inspectorOpen.value ? <OverviewPanel /> : null;
}
