/** Renames a node in place, over its label. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Node } from '../../src/schema/node.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { renameNode } from './rename-node.ts';

export function RenameEditor() {
  const { tools } = useApp();
  const { nodes } = useProject();
  const id = tools.renaming.value;
  const node = id === undefined ? undefined : nodes.find(id);
  return node ? <Editor key={id} node={node} /> : null;
}

function Editor({ node }: { readonly node: Node }) {
  const app = useApp();
  const project = useProject();
  const field = useRef<HTMLInputElement>(null);
  const { x, y, scale } = app.viewport.state.value;
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const close = (name?: string) => {
    if (app.tools.renaming.peek() !== node.node_id) return;
    app.tools.renaming.value = undefined;
    document.querySelector<SVGSVGElement>('svg.canvas')?.focus({ preventScroll: true });
    const wanted = name?.trim() ?? '';
    if (wanted !== '' && wanted !== node.name) void renameNode(app, project, node.node_id, wanted);
  };
  // The editor is over the label, which is centred above the symbol until it is moved.
  const { label } = node;
  const left = typeof label.x === 'number' ? label.x + node.name.length * 3 : node.width / 2;
  const place = { x: (node.x + left) * scale + x, y: (node.y + (label.y ?? -25) + 8) * scale + y };
  return (
    <input
      ref={field}
      class="rename-editor"
      aria-label={texts.renameNode(node.name)}
      defaultValue={node.name}
      spellcheck={false}
      style={{ left: `${place.x}px`, top: `${place.y}px` }}
      onBlur={({ currentTarget }) => close(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') close(event.currentTarget.value);
        else if (event.key === 'Escape') close();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
