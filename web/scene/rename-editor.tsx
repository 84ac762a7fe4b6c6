/** Renames a node in place, over its label. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Node } from '../../src/schema/node.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { findRefused, focusEditor, Refusal } from './refused-text.tsx';
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
  const { tools } = app;
  const refused = findRefused(app, node.node_id);
  useLayoutEffect(() => focusEditor(field.current, refused !== undefined), []);
  const close = (name?: string) => {
    if (tools.renaming.peek() !== node.node_id) return;
    tools.renaming.value = undefined;
    tools.refused.value = undefined;
    document.querySelector<SVGSVGElement>('svg.canvas')?.focus({ preventScroll: true });
    const text = name?.trim() ?? '';
    if (text === '' || text === node.name) return;
    renameNode(app, project, node.node_id, text).catch(({ message: reason }: Error) => {
      tools.refused.value = { id: node.node_id, text, reason };
      tools.renaming.value = node.node_id;
    });
  };
  // The editor is over the label, which is centred above the symbol until it is moved.
  const { label } = node;
  const left = typeof label.x === 'number' ? label.x + node.name.length * 3 : node.width / 2;
  const place = { x: (node.x + left) * scale + x, y: (node.y + (label.y ?? -25) + 8) * scale + y };
  return (
    <div class="rename-editor" style={{ left: `${place.x}px`, top: `${place.y}px` }}>
      <input
        ref={field}
        aria-label={texts.renameNode(node.name)}
        aria-invalid={refused !== undefined}
        defaultValue={refused?.text ?? node.name}
        spellcheck={false}
        onBlur={({ currentTarget }) => currentTarget.value.trim() !== refused?.text && close(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') close(event.currentTarget.value);
          else if (event.key === 'Escape') close();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <Refusal text={refused?.reason} />
    </div>
  );
}
