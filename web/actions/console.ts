import type { Node } from '../../src/schema/node.ts';
import { hasConsole, openConsole } from '../state/open-console.ts';
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

const withConsole = ({ project }: ActionContext) => (project?.selection.nodes.value ?? []).filter(hasConsole);

export const openConsoles: Action = {
  id: 'console',
  label: texts.actions.console,
  group: 'nodes',
  icon: 'terminal',
  keys: ['Enter', 'C'],
  places: ['node', 'toolbar'],
  enabled: (context) => withConsole(context).length > 0,
  run: (context) => {
    for (const node of withConsole(context)) openConsole(context.app, node);
  },
};

export const openAllConsoles: Action = {
  id: 'all-consoles',
  label: texts.actions.allConsoles,
  group: 'nodes',
  icon: 'terminal',
  enabled: ({ project }) => (project?.nodes.all.value ?? []).some(isRunning),
  run: ({ app, project }) => {
    for (const node of project?.nodes.all.peek() ?? []) if (isRunning(node)) app.consoles.open(node.node_id);
  },
};

/** Whether the node has a running console that the page can show itself. */
const isRunning = ({ status, console_type }: Node) => status === 'started' && ['telnet', 'vnc'].includes(console_type ?? '');
