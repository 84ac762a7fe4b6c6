/** Opens an item on double click: the text editor of a drawing, the name of a node on its label, the console of a node, the panel of any other item. */

import type { App } from '../state/app.ts';
import { openConsole } from '../state/open-console.ts';
import type { ProjectState } from '../state/project.ts';
import type { LabelPart } from '../state/selection.ts';

export function openDefault(app: App, project: ProjectState, id: string, label?: LabelPart): void {
  if (label === 'name' && !project.nodes.peek(id)?.locked) {
    app.tools.renaming.value = id;
    return;
  }
  const drawing = project.drawings.peek(id);
  if (drawing && !drawing.locked && project.pictures.of(drawing.svg).shape === 'text') {
    app.tools.editing.value = id;
    return;
  }
  app.tools.inspectorOpen.value = true;
  const node = project.nodes.peek(id);
  if (node && node.status === 'started') openConsole(app, node);
}
