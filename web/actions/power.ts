/** Start, stop, suspend and reload: the selected nodes or all nodes. */

import type { Node, NodeStatus } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';
import { hasConsole, openConsole } from '../state/open-console.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import type { IconName } from '../ui/icon.tsx';
import { type Action, type ActionContext, inProject } from './action.ts';

interface Power {
  readonly verb: 'start' | 'stop' | 'suspend' | 'reload';
  readonly icon: IconName;
  readonly keys: readonly string[];
  readonly allKeys: readonly string[];
  /** Statuses in which the command applies. */
  readonly from: readonly NodeStatus[];
}

/** Keys that type a letter are no keys of these: words typed by mistake, as into a console, change nothing that runs. */
const powers: readonly Power[] = [
  { verb: 'start', icon: 'play', keys: ['Alt+S'], allKeys: ['Alt+Shift+S'], from: ['stopped', 'suspended'] },
  { verb: 'stop', icon: 'stop', keys: ['Alt+X'], allKeys: ['Alt+Shift+X'], from: ['started', 'suspended'] },
  { verb: 'suspend', icon: 'pause', keys: ['Alt+P'], allKeys: ['Alt+Shift+P'], from: ['started'] },
  { verb: 'reload', icon: 'reload', keys: ['Alt+R'], allKeys: ['Alt+Shift+R'], from: ['started'] },
];

/** Limit of requests in parallel, to keep the load of the server low. */
const atOnce = 4;

export const powerActions: readonly Action[] = powers.flatMap((power) => [ofSelected(power), ofAll(power)]);

function ofSelected(power: Power): Action {
  const { verb, icon, keys } = power;
  return {
    id: verb,
    label: texts.power[verb].one,
    group: 'nodes',
    icon,
    keys,
    places: ['node', 'toolbar'],
    enabled: (context) => selected(context, power).length > 0,
    run: (context) => context.project && act(context, context.project, verb, selected(context, power)),
  };
}

function ofAll(power: Power): Action {
  const { verb, icon, allKeys } = power;
  const nodes = (context: ActionContext) => sensible(context, power, context.project?.nodes.all.value ?? []);
  return {
    id: `${verb}-all`,
    label: texts.power[verb].all,
    group: 'nodes',
    icon,
    keys: allKeys,
    places: ['canvas'],
    enabled: (context) => inProject(context) && nodes(context).length > 0,
    run: (context) => context.project && act(context, context.project, verb, nodes(context)),
  };
}

function selected(context: ActionContext, power: Power): readonly Node[] {
  return sensible(context, power, context.project?.selection.nodes.value ?? []);
}

/** The nodes whose status and type allow the command. */
function sensible({ app }: ActionContext, { verb, from }: Power, nodes: readonly Node[]): Node[] {
  return nodes.filter(({ status, node_type }) => from.includes(status) && canEver(app, node_type, verb));
}

/** Whether a type of node supports the command in any state: a node that always runs cannot be started or stopped. */
function canEver(app: App, type: string, verb: Power['verb']): boolean {
  if (verb === 'suspend' || verb === 'reload') return app.server.can(type, verb);
  return app.server.kinds.value.get(type)?.always_running !== true;
}

/** The ids of the commands that a node never supports. */
export function impossibleFor(app: App, node: Node): readonly string[] {
  const verbs = powers.map(({ verb }) => verb).filter((verb) => !canEver(app, node.node_type, verb));
  return hasConsole(node) ? verbs : [...verbs, 'console'];
}

/** Sends one request per node, so that each node shows its own progress and failure. */
async function act({ app }: ActionContext, project: ProjectState, verb: Power['verb'], nodes: readonly Node[]): Promise<void> {
  const waiting = [...nodes];
  let failed = 0;
  const worker = async () => {
    for (let node = waiting.shift(); node; node = waiting.shift()) {
      const path = `${project.path}/nodes/${node.node_id}/${verb}`;
      const done = await project.work.run(node.node_id, texts.power[verb].busy, () => app.api.post(path));
      if (!done) failed += 1;
      else if (verb === 'start' && node.console_auto_start && hasConsole(node)) openConsole(app, node);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failed > 0) app.toasts.show('error', texts.power.failed(failed, nodes.length));
}
