/** The booted machine of a running node becomes a template, from which nodes start without booting. */
import type { Template } from '../../src/schema/template.ts';
import { texts } from '../texts.ts';
import { sizeText } from '../ui/progress.tsx';
import type { Action, ActionContext } from './action.ts';

const chosen = ({ project, app }: ActionContext) => {
  const [node, ...others] = project?.selection.nodes.value ?? [];
  return node && others.length === 0 && app.server.canSaveMemory(node.node_type) ? node : undefined;
};

export const keepWarmTemplate: Action = {
  id: 'warm-template',
  label: texts.warmTemplate.offer,
  icon: 'download',
  group: 'nodes',
  places: ['node'],
  offered: (context) => chosen(context) !== undefined,
  enabled: (context) => chosen(context)?.status === 'started',
  run: async (context) => {
    const node = chosen(context);
    const { project, app } = context;
    if (!node || !project) return;
    await project.work.run(node.node_id, texts.warmTemplate.busy, async () => {
      const { name, warm } = await app.api.post<Template>(`${project.path}/nodes/${node.node_id}/warm_template`, {});
      app.toasts.show('done', texts.warmTemplate.done(name, sizeText(warm?.bytes ?? 0), warm?.paused_ms ?? 0));
    });
  },
};
