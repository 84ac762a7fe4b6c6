/** Zoom, panels and grid of the canvas. */
import { texts } from '../texts.ts';
import { focusCanvas, focusNextRegion } from '../ui/focus.ts';
import { type Action, inProject } from './action.ts';

const zoomStep = 1.25;

export const viewActions: readonly Action[] = [
  {
    id: 'next-region',
    label: texts.actions.nextRegion,
    group: 'view',
    keys: ['F6'],
    keysWork: 'everywhere',
    enabled: () => true,
    run: focusNextRegion,
  },
  {
    id: 'to-canvas',
    label: texts.actions.toCanvas,
    group: 'view',
    keys: ['Mod+F6'],
    keysWork: 'everywhere',
    enabled: inProject,
    run: focusCanvas,
  },
  {
    id: 'find-template',
    label: texts.searchTemplates,
    group: 'view',
    keys: ['/'],
    enabled: ({ project }) => project !== undefined,
    run: ({ app }) => {
      app.tools.paletteOpen.value = true;
      // The panel is rendered by then, in this task.
      queueMicrotask(() => document.querySelector<HTMLElement>('.palette input')?.focus());
    },
  },
  {
    id: 'zoom-in',
    label: texts.actions.zoomIn,
    group: 'view',
    icon: 'plus',
    keys: ['+', '='],
    enabled: inProject,
    run: ({ app }) => app.viewport.zoom(zoomStep),
  },
  {
    id: 'zoom-out',
    label: texts.actions.zoomOut,
    group: 'view',
    icon: 'minus',
    keys: ['-'],
    enabled: inProject,
    run: ({ app }) => app.viewport.zoom(1 / zoomStep),
  },
  {
    id: 'zoom-100',
    label: texts.actions.zoomReal,
    group: 'view',
    keys: ['0'],
    enabled: inProject,
    run: ({ app }) => app.viewport.zoomTo(1),
  },
  {
    id: 'fit',
    label: texts.actions.fit,
    group: 'view',
    icon: 'fit',
    keys: ['F'],
    places: ['canvas'],
    enabled: inProject,
    run: ({ app, project }) => app.viewport.fit(project?.extent()),
  },
  {
    id: 'minimap',
    label: texts.actions.minimap,
    group: 'view',
    icon: 'map',
    keys: ['Shift+M'],
    enabled: inProject,
    on: ({ app }) => app.minimap.value,
    run: ({ app }) => {
      app.minimap.value = !app.minimap.peek();
    },
  },
  {
    id: 'palette',
    label: texts.actions.palette,
    group: 'view',
    icon: 'add',
    keys: ['A'],
    enabled: inProject,
    on: ({ app }) => app.tools.paletteOpen.value,
    run: ({ app }) => {
      app.tools.paletteOpen.value = !app.tools.paletteOpen.peek();
    },
  },
  {
    id: 'lab-text',
    label: texts.actions.labText,
    group: 'view',
    icon: 'text',
    keys: ['Y'],
    places: ['canvas'],
    enabled: inProject,
    on: ({ app }) => app.tools.sidePane.value === 'lab-text',
    run: ({ app }) => app.tools.toggleSidePane('lab-text'),
  },
  {
    id: 'time-line',
    label: texts.actions.timeLine,
    group: 'view',
    icon: 'clock',
    keys: ['H'],
    places: ['canvas'],
    enabled: inProject,
    on: ({ app }) => app.tools.timeLineOpen.value,
    run: ({ app: { tools } }) => {
      const isOpen = !tools.timeLineOpen.peek();
      tools.timeLineOpen.value = isOpen;
      // Panels lie over it in a narrow window.
      if (isOpen && matchMedia('(max-width: 620px)').matches) {
        tools.paletteOpen.value = false;
        tools.inspectorOpen.value = false;
      }
    },
  },
  {
    id: 'inspector',
    label: texts.actions.inspector,
    group: 'view',
    icon: 'panel',
    keys: ['D'],
    enabled: inProject,
    on: ({ app }) => app.tools.inspectorOpen.value,
    run: ({ app }) => {
      app.tools.inspectorOpen.value = !app.tools.inspectorOpen.peek();
    },
  },
];
