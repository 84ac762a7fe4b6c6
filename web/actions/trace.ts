/** A packet is followed between two nodes. The code is loaded when it is first used. */
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

const pair = ({ project }: ActionContext) => {
  const [from, to, ...others] = project?.selection.nodes.value ?? [];
  return from && to && others.length === 0 ? ([from, to] as const) : undefined;
};

export const tracePacket: Action = {
  id: 'trace',
  label: texts.actions.trace,
  group: 'nodes',
  icon: 'packets',
  keys: ['Alt+T'],
  places: ['node'],
  enabled: (context) => pair(context) !== undefined,
  run: async (context) => {
    const nodes = pair(context);
    const { app, project } = context;
    if (!nodes || !project) return;
    const { showTrace } = await import('../scene/trace/trace-overlay.tsx');
    showTrace(app, project, { from: nodes[0], to: nodes[1] });
  },
};
