/** Tools of the pointer: links and drawings. */
import { pickPort } from '../scene/wiring.ts';
import type { DrawingShape } from '../state/tools.ts';
import { texts } from '../texts.ts';
import type { IconName } from '../ui/icon.tsx';
import { type Action, inProject } from './action.ts';

const wire: Action = {
  id: 'wire',
  label: texts.actions.wire,
  group: 'draw',
  icon: 'wire',
  keys: ['L'],
  places: ['toolbar', 'canvas'],
  enabled: inProject,
  on: ({ app }) => app.tools.tool.value.name === 'wire',
  run: ({ app, project }) => {
    const tool = app.tools.tool.peek();
    // A selected node lets the keyboard alone create a link: from this node to the next selected one. The button of the toolbar ignores the
    // selection: its user points at nodes.
    const [node] = document.activeElement?.closest('.toolbar') ? [] : (project?.selection.nodes.peek() ?? []);
    const isDone = tool.name === 'wire' && (!node || tool.from?.node_id === node.node_id);
    app.tools.tool.value = isDone ? { name: 'select' } : tool.name === 'wire' ? tool : { name: 'wire' };
    app.sketch.value = {};
    app.portMenu.value = undefined;
    if (project && node && !isDone) pickPort(app, project, { nodeId: node.node_id, ...app.viewport.windowPlace(node) });
  },
};

const draw = (shape: DrawingShape, icon: IconName, key: string): Action => ({
  id: `draw-${shape}`,
  label: texts.draw[shape],
  group: 'draw',
  icon,
  keys: [key],
  places: ['toolbar'],
  enabled: inProject,
  on: ({ app }) => {
    const tool = app.tools.tool.value;
    return tool.name === 'draw' && tool.shape === shape;
  },
  run: ({ app }) => {
    const tool = app.tools.tool.peek();
    const isOn = tool.name === 'draw' && tool.shape === shape;
    app.tools.tool.value = isOn ? { name: 'select' } : { name: 'draw', shape };
  },
});

const rename: Action = {
  id: 'rename',
  label: texts.rename,
  group: 'edit',
  icon: 'edit',
  keys: ['F2'],
  places: ['node'],
  enabled: ({ project }) => {
    const [node, ...others] = project?.selection.nodes.value ?? [];
    return node !== undefined && others.length === 0 && !node.locked;
  },
  run: ({ app, project }) => {
    app.tools.renaming.value = project?.selection.nodes.peek()[0]?.node_id;
  },
};

const editText: Action = {
  id: 'edit-text',
  label: texts.editText,
  group: 'draw',
  icon: 'edit',
  keys: ['F2'],
  places: ['drawing'],
  enabled: ({ project }) => {
    const [drawing, ...others] = project?.selection.drawings.value ?? [];
    return drawing !== undefined && others.length === 0 && !drawing.locked && project?.pictures.of(drawing.svg).shape === 'text';
  },
  run: ({ app, project }) => {
    app.tools.editing.value = project?.selection.drawings.peek()[0]?.drawing_id;
  },
};

export const toolActions: readonly Action[] = [
  wire,
  draw('text', 'text', 'T'),
  draw('rectangle', 'rectangle', 'B'),
  draw('ellipse', 'ellipse', 'O'),
  draw('line', 'line', 'I'),
  editText,
  rename,
];
