/** Opens an item on double click: the text editor of a drawing, the console of a node, the panel of any other item. */

import type { App } from '../state/app.ts';
import { openConsole } from '../state/open-console.ts';
import type { ProjectState } from '../state/project.ts';

export function openDefault(app: App, project: ProjectState, id: string): void {
  const drawing = project.drawings.peek(id);
  if (drawing && !drawing.locked && project.pictures.of(drawing.svg).shape === 'text') {
    app.tools.editing.value = id;
    return;
  }
  app.tools.inspectorOpen.value = true;
  const node = project.nodes.peek(id);
  if (node && node.status === 'started') openConsole(app, node);
}
