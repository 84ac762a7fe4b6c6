/** Drops a template from the palette onto the canvas. */
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { addNode } from './add-node.ts';

export const templateType = 'application/x-patchbay-template';

export function dropTemplate(app: App, project: ProjectState, event: DragEvent): void {
  const templateId = event.dataTransfer?.getData(templateType);
  if (!templateId) return;
  event.preventDefault();
  void addNode(app, project, templateId, { x: event.clientX, y: event.clientY });
}
