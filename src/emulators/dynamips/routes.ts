/** The routes that only routers have: looking for idle-PC values. */
import { mkdir } from 'node:fs/promises';
import { computeRoute, type Route, type TypedRoute } from '../../api/route.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { IdlePc, IdlePcProposals } from '../../schema/idle-pc.ts';
import type { NodeAccess, NodeView } from '../driver.ts';
import type { RouterEmulator } from './emulator.ts';
import { findIdlePc, type IdlePcTimes, proposeIdlePcs, restoreIdlePc } from './idle-pc.ts';
import { asFault } from './launch.ts';

const node = '/v2/compute/projects/{project_id}/dynamips/nodes/{node_id}';
const proposalsKey = `GET ${node}/idlepc_proposals` as const;
const autoKey = `GET ${node}/auto_idlepc` as const;

export type IdlePcRoute =
  | TypedRoute<typeof proposalsKey, undefined, typeof IdlePcProposals>
  | TypedRoute<typeof autoKey, undefined, typeof IdlePc>;

interface RouterAccess {
  /** The router of a node that runs. */
  running(nodeId: string): RouterEmulator | undefined;
  start(node: NodeView): Promise<RouterEmulator>;
  readonly times: IdlePcTimes;
}

type Path = { project_id: string; node_id: string };

export function idlePcRoutes(nodes: NodeAccess, routers: RouterAccess): Route[] {
  const { times } = routers;
  // Each search changes the router's value and measures the effect.
  const searches = new KeyedMutex();
  return [
    computeRoute(proposalsKey, { summary: 'Idle-PC values that may suit the image', reply: IdlePcProposals }, ({ path }) =>
      searches.run(path.node_id, () => withRouter({ nodes, routers, path }, (emulator) => proposeIdlePcs(emulator, times))),
    ),
    computeRoute(autoKey, { summary: 'The idle-PC value that suits best', reply: IdlePc }, ({ path }) =>
      searches.run(path.node_id, () =>
        withRouter({ nodes, routers, path }, async (emulator, { name }) => ({ idlepc: await findIdlePc(emulator, times, name) })),
      ),
    ),
  ];
}

interface Search {
  readonly nodes: NodeAccess;
  readonly routers: RouterAccess;
  readonly path: Path;
}

/** Runs `work` with the router of a node that runs, or with one that is started for this alone; the node stays as it was. */
async function withRouter<T>(
  { nodes, routers, path }: Search,
  work: (router: RouterEmulator, view: NodeView) => Promise<T>,
): Promise<T> {
  const view = nodes.get(path);
  const running = routers.running(view.nodeId);
  if (!running) return nodes.whileStopped(path, 'find idle-PC values', (stopped) => withOwnRouter(routers, stopped, work));
  const found = await work(running, view).catch((error: unknown) => asFault(error));
  await restoreIdlePc(running, nodes.get(path).properties).catch(() => undefined);
  if (found instanceof Error) throw found;
  return found;
}

async function withOwnRouter<T>(
  routers: RouterAccess,
  view: NodeView,
  work: (router: RouterEmulator, view: NodeView) => Promise<T>,
): Promise<T> {
  await removeTree(view.runtimeDirectory);
  await mkdir(view.runtimeDirectory, { recursive: true, mode: 0o700 });
  try {
    const router = await routers.start(view);
    try {
      return await work(router, view);
    } catch (error) {
      throw asFault(error);
    } finally {
      await router.stop({ now: true });
    }
  } finally {
    await removeTree(view.runtimeDirectory);
  }
}
