/** Overlays of the canvas, each with a key. Their code is loaded when the first is shown. */
import type { App } from '../state/app.ts';
import { type OverlayName, overlayNames } from '../state/overlay.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { type Action, type ActionContext, inProject } from './action.ts';

export const overlayActions: readonly Action[] = overlayNames.map(
  (name, place): Action => ({
    id: `overlay-${name}`,
    label: texts.actions.overlay[name],
    group: 'view',
    keys: [String(place + 1)],
    // The legend of the one in the menu has the others.
    ...(place === 0 && { places: ['canvas' as const] }),
    enabled: inProject,
    on: ({ project }) => project?.drawn.overlay.value?.name === name,
    run: (context) => toggle(context, name),
  }),
);

/** @throws Error when the code cannot be loaded */
async function toggle({ app, project }: ActionContext, name: OverlayName): Promise<void> {
  if (!project) return;
  if (project.drawn.overlay.peek()?.name === name) project.drawn.show(undefined);
  else await show(app, project, name);
}

async function show(app: App, project: ProjectState, name: OverlayName): Promise<void> {
  const { createOverlay } = await import('../scene/overlays/create-overlay.tsx');
  const control = {
    close: () => project.drawn.show(undefined),
    show: (other: OverlayName) => void app.toasts.attempt(() => show(app, project, other)),
  };
  project.drawn.show(createOverlay(name, { app, project }, control));
}
