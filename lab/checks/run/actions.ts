/** Carries out the steps that change the lab. */
import type { Link } from '../../../src/schema/link.ts';
import type { LabAction } from '../definition/steps.ts';
import type { ChangeWatch } from './change-watch.ts';
import type { LabSite } from './lab-site.ts';
import { waitReady } from './readiness.ts';

class ActionError extends Error {
  override readonly name = 'ActionError';
}

interface ActionContext {
  readonly site: LabSite;
  readonly watch: ChangeWatch;
  /** Returns the seed for filters without one. */
  readonly seedOf: (link: Link) => number;
  readonly signal: AbortSignal;
}

/** Carries out an action. @returns a sentence about it. @throws ActionError, RequestError, SiteError, ConsoleError */
export async function runAction(action: LabAction, node: string | undefined, context: ActionContext): Promise<string> {
  const { site, signal } = context;
  switch (action.verb) {
    case 'impair': {
      const link = site.link(action.link);
      const isEmpty = Object.keys(action.filters).length === 0;
      const filters = isEmpty ? {} : { seed: [context.seedOf(link)], ...action.filters };
      await changeLink(context, link, { filters });
      return `${site.nameOf(link)}: ${JSON.stringify(filters)}`;
    }
    case 'suspend':
    case 'resume': {
      const link = site.link(action.link);
      await changeLink(context, link, { suspend: action.verb === 'suspend' });
      return `${site.nameOf(link)} was ${action.verb === 'suspend' ? 'suspended' : 'resumed'}`;
    }
    case 'start': {
      await site.request('POST', `/nodes/${site.node(action.target).node_id}/start`, {});
      const [ready] = await waitReady(site, [action.target], signal);
      if (!ready?.isReady) throw new ActionError(ready?.text ?? `${action.target} is not ready`);
      return `${action.target} was started, and is ready: ${ready.text}`;
    }
    case 'stop':
    case 'kill':
      site.closeShells(action.target);
      // The node's links end with it, and so do their counters.
      await context.watch.changing();
      await site.request('POST', `/nodes/${site.node(action.target).node_id}/stop`, action.verb === 'kill' ? { now: true } : {});
      await context.watch.changed();
      return `${action.target} was ${action.verb === 'kill' ? 'switched off' : 'stopped'}`;
    case 'config': {
      const name = node ?? '';
      const { output, exitCode = 0 } = await site.useConsole(name, signal, (console) => console.configure(action.lines, signal));
      if (exitCode !== 0) throw new ActionError(`${name} refused a line: ${output.slice(-500)}`);
      return output;
    }
  }
}

/** Changes a link. The certificate counts its frames before and after the change separately. */
async function changeLink({ site, watch }: ActionContext, link: Link, body: Partial<Link>): Promise<void> {
  await watch.changing();
  await site.request('PUT', `/links/${link.link_id}`, body);
  await watch.changed();
}
