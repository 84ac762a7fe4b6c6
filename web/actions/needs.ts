/** Privileges that commands need on the open project: those without are greyed, and say why when they are run nevertheless. */
import type { Privilege } from '../../src/schema/privilege.ts';
import type { Action, ActionContext } from './action.ts';

/** Commands by their ids, or their first words. */
const needs: Readonly<Record<string, Privilege>> = {
  console: 'Node.Console',
  'all-consoles': 'Node.Console',
  start: 'Node.PowerMgmt',
  stop: 'Node.PowerMgmt',
  suspend: 'Node.PowerMgmt',
  reload: 'Node.PowerMgmt',
  'start-all': 'Node.PowerMgmt',
  'stop-all': 'Node.PowerMgmt',
  'suspend-all': 'Node.PowerMgmt',
  'reload-all': 'Node.PowerMgmt',
  'move-node': 'Node.Modify',
  'warm-template': 'Node.Modify',
  rename: 'Node.Modify',
  paste: 'Node.Allocate',
  wire: 'Link.Allocate',
  'suspend-link': 'Link.Modify',
  impair: 'Link.Modify',
  capture: 'Link.Capture',
  'stop-capture': 'Link.Capture',
  trace: 'Link.Capture',
  'draw-text': 'Drawing.Allocate',
  'draw-rectangle': 'Drawing.Allocate',
  'draw-ellipse': 'Drawing.Allocate',
  'draw-line': 'Drawing.Allocate',
  'edit-text': 'Drawing.Modify',
  group: 'Drawing.Allocate',
  ungroup: 'Drawing.Allocate',
  freeze: 'Snapshot.Allocate',
  'project-settings': 'Project.Modify',
  'project-close': 'Project.Allocate',
};

/** Returns the privilege of a command that the account lacks on the open project, where that is known. */
export function lackedBy({ id }: Action, { app, project }: ActionContext): Privilege | undefined {
  if (!project) return undefined;
  const need = id === 'delete' || id === 'duplicate' ? needOfSelection(project) : needs[id];
  return need === undefined || app.server.rights.may(need, `/projects/${project.id}`) ? undefined : need;
}

function needOfSelection({ selection }: NonNullable<ActionContext['project']>): Privilege {
  if (selection.nodes.value.length > 0) return 'Node.Allocate';
  return selection.links.value.length > 0 ? 'Link.Allocate' : 'Drawing.Allocate';
}
