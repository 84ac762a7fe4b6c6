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
