/** What a double click on something opens. */

import { openConsole } from '../console/open-console.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';

export function openDefault(app: App, project: ProjectState, id: string): void {
  app.tools.inspectorOpen.value = true;
  const node = project.nodes.peek(id);
  if (node && node.status === 'started') openConsole(app, node);
}
