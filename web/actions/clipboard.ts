/** Copy and paste, within a project, between projects, and between windows. */
import { clipOf, readClip } from '../scene/clip.ts';
import { duplicate, paste as pasteClip } from '../scene/paste.ts';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';
import { type Action, type ActionContext, contextOf, inProject } from './action.ts';
import { isTyping } from './keys.ts';

export const copy: Action = {
  id: 'copy',
  label: texts.actions.copy,
  group: 'edit',
  keys: ['Mod+C'],
  keysWork: 'byBrowser',
  places: ['node', 'drawing'],
  enabled: ({ project }) => (project?.selection.nodes.value.length ?? 0) + (project?.selection.drawings.value.length ?? 0) > 0,
  run: ({ app, project }) => {
    if (!project) return;
    const clip = clipOf(project, project.selection.ids.peek());
    app.clipboard.put(JSON.stringify(clip));
    app.toasts.show('info', texts.copied(clip.nodes.length + clip.drawings.length));
  },
};

export const paste: Action = {
  id: 'paste',
  label: texts.actions.paste,
  group: 'edit',
  keys: ['Mod+V'],
  keysWork: 'byBrowser',
  places: ['canvas', 'node'],
  enabled: (context) => inProject(context) && context.app.clipboard.text.value !== '',
  run: (context) => pasteText(context, context.app.clipboard.text.peek()),
};

export const duplicateSelected: Action = {
  id: 'duplicate',
  label: texts.actions.duplicate,
  group: 'edit',
  icon: 'copy',
  keys: ['Mod+D'],
  places: ['node', 'drawing'],
  enabled: copy.enabled,
  run: ({ app, project }) => project && duplicate(app, project, clipOf(project, project.selection.ids.peek())),
};

async function pasteText({ app, project }: ActionContext, text: string): Promise<void> {
  const clip = readClip(text);
  if (!clip) app.toasts.show('info', texts.nothingToPaste);
  else if (project) await pasteClip(app, project, clip);
}

/** Copy and paste use the browser's events: only these can access the system's clipboard in every browser. */
export function listenToClipboard(app: App): void {
  const isOurs = (event: Event) => !event.defaultPrevented && !isTyping(event.target) && !app.dialogs.isAny;
  addEventListener('copy', (event) => {
    const context = contextOf(app);
    // Text selected on the page has precedence.
    if (!isOurs(event) || getSelection()?.toString() || !copy.enabled(context)) return;
    event.preventDefault();
    copy.run(context);
    event.clipboardData?.setData('text/plain', app.clipboard.text.peek());
  });
  addEventListener('paste', (event) => {
    const context = contextOf(app);
    if (!isOurs(event) || !inProject(context)) return;
    event.preventDefault();
    const text = event.clipboardData?.getData('text/plain') || app.clipboard.text.peek();
    if (text !== '') void app.toasts.attempt(() => pasteText(context, text));
  });
}
