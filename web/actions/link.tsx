/** Commands for the selected link. */
import type { Link } from '../../src/schema/link.ts';
import { openCapture, startCapture, stopCapture } from '../capture/capture-dialog.tsx';
import { beginMove } from '../scene/wiring.ts';
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

const selected = ({ project }: ActionContext): readonly Link[] => project?.selection.links.value ?? [];
/** A capture view shows one link. */
const onlyOne = (context: ActionContext): Link | undefined => {
  const links = selected(context);
  return links.length === 1 ? links[0] : undefined;
};

const suspend: Action = {
  id: 'suspend-link',
  label: texts.suspendLink,
  group: 'links',
  icon: 'pause',
  keys: ['Alt+U'],
  places: ['link'],
  enabled: (context) => selected(context).length > 0,
  on: (context) => selected(context).length > 0 && selected(context).every((link) => link.suspend),
  run: (context) => {
    const { app, project } = context;
    const links = selected(context);
    const isSuspended = !links.every((link) => link.suspend);
    return Promise.all(links.map(({ link_id }) => app.api.put(`${project?.path}/links/${link_id}`, { suspend: isSuspended })));
  },
};

/** The details of the link have the fields. */
const impair: Action = {
  id: 'impair',
  label: texts.actions.impair,
  group: 'links',
  icon: 'settings',
  enabled: (context) => onlyOne(context) !== undefined,
  run: ({ app }) => {
    app.tools.inspectorOpen.value = true;
  },
};

const capture: Action = {
  id: 'capture',
  label: texts.capture.show,
  group: 'links',
  icon: 'packets',
  keys: ['W'],
  places: ['link'],
  enabled: (context) => onlyOne(context) !== undefined,
  run: (context) => {
    const { app, project } = context;
    const link = onlyOne(context);
    if (!project || !link) return;
    if (link.capturing) openCapture(app, link.link_id);
    else startCapture(app, project, link);
  },
};

const openLast: Action = {
  id: 'open-last-capture',
  label: texts.capture.openLast,
  group: 'links',
  icon: 'packets',
  keys: ['Alt+W'],
  places: ['link'],
  enabled: (context) => hasLast(onlyOne(context)),
  run: (context) => {
    const link = onlyOne(context);
    if (link) openCapture(context.app, link.link_id);
  },
};

/** The server keeps the name of the last file while the project is open. */
const hasLast = (link: Link | undefined): boolean => link !== undefined && !link.capturing && Boolean(link.capture_file_name);

const endCapture: Action = {
  id: 'stop-capture',
  label: texts.capture.stop,
  group: 'links',
  icon: 'stop',
  keys: ['Shift+W'],
  places: ['link'],
  enabled: (context) => onlyOne(context)?.capturing === true,
  run: (context) => {
    const link = onlyOne(context);
    return context.project && link && stopCapture(context.app, context.project, link.link_id);
  },
};

/** The other end stays. */
const moveEnd = (end: 0 | 1, key: string): Action => ({
  id: `move-end-${end}`,
  label: texts.moveEnd[end],
  group: 'links',
  icon: 'wire',
  keys: [key],
  places: ['link'],
  enabled: (context) => onlyOne(context) !== undefined,
  run: (context) => {
    const link = onlyOne(context);
    if (link) beginMove(context.app, link, end);
  },
});

export const linkActions: readonly Action[] = [
  suspend,
  impair,
  moveEnd(0, 'Alt+E'),
  moveEnd(1, 'Alt+Shift+E'),
  capture,
  openLast,
  endCapture,
];
