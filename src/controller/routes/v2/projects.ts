import { fault, isFault } from '../../../api/faults.ts';
import { visible } from '../../../api/rights.ts';
import { type Route, route } from '../../../api/route.ts';
import { forEachBounded } from '../../../lib/bounded.ts';
import { Bulk, BulkCreate, BulkDelete, BulkUpdate } from '../../../schema/bulk.ts';
import { Name, named } from '../../../schema/common.ts';
import { outlineLimit, ProjectOutline } from '../../../schema/outline.ts';
import { Problem } from '../../../schema/problem.ts';
import { Project, ProjectCreate, ProjectDuplicate, ProjectUpdate } from '../../../schema/project.ts';
import { type Static, Type } from '../../../schema/type.ts';
import { loadCopy } from '../../archive/load-copy.ts';
import type { Controller } from '../../controller.ts';
import { makeAll, placeAll, placed } from '../../live/bulk.ts';
import type { LiveProject } from '../../live/live-project.ts';
import { invertChange } from '../../log/actions/actions.ts';
import { topologyOf } from '../../log/project-state.ts';
import { checkRequested } from '../../model/requested-properties.ts';
import type { KnownProject } from '../../projects/project.ts';
import { anyChange, copyRight, makeCopy, requireHostAccess, requireVisible } from '../common-rights.ts';
import { warnOfUnmet } from './unmet-wishes.ts';

const count = Type.Integer({ minimum: 0 });
const Stats = Type.Object({ drawings: count, links: count, nodes: count, snapshots: count }, named('ProjectStats'));
const Load = Type.Object(
  {
    path: Name({ description: 'A project file, absolute' }),
    copy: Type.Optional(
      Type.Boolean({
        description: 'Not in GNS3: open a copy with new ids, in the projects folder, and leave this folder as it is',
      }),
    ),
  },
  named('ProjectLoad'),
);

function outlineRoute({ projects }: Controller): Route {
  return route(
    'GET /v2/projects/{project_id}/outline',
    {
      right: 'Project.Audit',
      summary: 'Where nodes and links of a project are, open or closed, for a small picture',
      reply: ProjectOutline,
      own: true,
    },
    ({ path }) => outlineOf(projects.get(path.project_id)),
  );
}

export function projectRoutes(controller: Controller): Route[] {
  return [outlineRoute(controller), ...otherRoutes(controller)];
}

function loadRoute(controller: Controller): Route {
  return route(
    'POST /v2/projects/load',
    {
      // Any file of the host can be named.
      right: 'administrator',
      summary: 'Open a project by its file, or a copy of it; local servers only',
      body: Load,
      status: 201,
      reply: Project,
    },
    async ({ body }) => {
      const load = body.copy === true ? loadCopy(body.path, controller.portableOptions()) : controller.projects.loadFile(body.path);
      return (await load).object;
    },
  );
}

function otherRoutes(controller: Controller): Route[] {
  const { projects } = controller;
  return [
    route(
      'GET /v2/projects',
      { right: 'login', summary: 'List the projects, open and closed', reply: Type.Array(Project) },
      async (call) => visible(call, await projects.list(), 'Project.Audit', ({ project_id }) => `/projects/${project_id}`),
    ),
    route(
      'POST /v2/projects',
      { right: 'Project.Allocate', summary: 'Create and open a project', body: ProjectCreate, status: 201, reply: Project },
      async ({ body, ...call }) => {
        requireHostAccess(call, body.path);
        // A project that has the id is answered as it is.
        if (body.project_id) requireVisible(call, projects.find(body.project_id));
        return (await projects.create(body)).object;
      },
    ),
    loadRoute(controller),
    route(
      'GET /v2/projects/{project_id}',
      { right: 'Project.Audit', summary: 'Get a project', reply: Project },
      ({ path }) => projects.get(path.project_id).object,
    ),
    route(
      'PUT /v2/projects/{project_id}',
      { right: 'Project.Modify', summary: 'Change a project, open or closed', body: ProjectUpdate, reply: Project },
      ({ path, body }) => projects.get(path.project_id).update(body),
    ),
    route(
      'DELETE /v2/projects/{project_id}',
      { right: 'Project.Allocate', summary: 'Delete a project with its files', status: 204 },
      ({ path }) => projects.delete(path.project_id),
    ),
    ...stateRoutes(controller),
  ];
}

function stateRoutes(controller: Controller): Route[] {
  const { projects } = controller;
  return [
    route(
      'GET /v2/projects/{project_id}/stats',
      { right: 'Project.Audit', summary: 'Count what is in a project', reply: Stats },
      ({ path }) => countParts(controller, projects.get(path.project_id)),
    ),
    route(
      'POST /v2/projects/{project_id}/open',
      { right: 'Project.Allocate', summary: 'Open a project', status: 201, reply: Project },
      async ({ path }) => (await projects.getOrReload(path.project_id)).open(),
    ),
    route(
      'POST /v2/projects/{project_id}/close',
      { right: 'Project.Allocate', summary: 'Stop the nodes of a project and close it', status: 204 },
      ({ path }) => projects.get(path.project_id).close(),
    ),
    route(
      'POST /v2/projects/{project_id}/duplicate',
      {
        right: copyRight,
        fillsDisk: true,
        summary: 'Copy a project, running or not, into a new one',
        body: ProjectDuplicate,
        status: 201,
        reply: Project,
      },
      async ({ path, body, ...call }) => {
        requireHostAccess(call, body.path);
        const of = projects.get(path.project_id).id;
        const copy = await makeCopy(call, { of, given: body.project_id }, (project_id) =>
          controller.duplicate(of, { ...body, project_id }),
        );
        return copy.object;
      },
    ),
    route(
      'GET /v2/projects/{project_id}/problems',
      {
        right: 'Project.Audit',
        summary: 'Nodes and links of an open project that cannot be used, and why',
        reply: Type.Array(Problem),
        own: true,
      },
      async ({ path }) => {
        const { nodes, linkRecovery } = await projects.get(path.project_id).live();
        return [...nodes.problems(), ...linkRecovery.problems()];
      },
    ),
    ...bulkRoutes(controller),
  ];
}

async function countParts({ snapshots }: Controller, project: KnownProject): Promise<Static<typeof Stats>> {
  const [live, kept] = await Promise.all([project.findLive(), snapshots.list(project)]);
  return {
    drawings: live?.drawings.size ?? 0,
    links: live?.links.size ?? 0,
    nodes: live?.nodes.size ?? 0,
    snapshots: kept.length,
  };
}

function bulkRoutes({ projects, settings, templates, warmTemplates }: Controller): Route[] {
  return [
    route(
      'POST /v2/projects/{project_id}/bulk',
      {
        right: anyChange,
        summary: 'Create nodes, links and drawings at once, all or none',
        body: BulkCreate,
        status: 201,
        reply: Bulk,
        own: true,
      },
      ({ path, body }) => {
        const wanted = { ...body, ...(body.nodes && { nodes: body.nodes.map((node) => templates.complete(node)) }) };
        for (const node of wanted.nodes ?? []) checkRequested(node, settings);
        return projects.get(path.project_id).change(async (live) => {
          const made = await makeAll(live, wanted, (node) => warmTemplates.fillOf(node));
          for (const [index, node] of made.nodes.entries()) warnOfUnmet(live, wanted.nodes?.[index] ?? {}, node);
          return made;
        });
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/bulk',
      {
        right: anyChange,
        summary: 'Move nodes and drawings at once, all or none, as one step',
        body: BulkUpdate,
        status: 204,
        own: true,
      },
      ({ path, body }) => projects.get(path.project_id).change((live) => placeAll(live, body)),
    ),
    route(
      'POST /v2/projects/{project_id}/bulk/delete',
      {
        right: anyChange,
        summary: 'Delete nodes, links and drawings at once, all or none, as one step',
        body: BulkDelete,
        status: 204,
        own: true,
      },
      ({ path, body }) => projects.get(path.project_id).changeAlone((live) => deleteAll(live, body)),
    ),
  ];
}

/** Emulators that are stopped at the same time. */
const stoppedAtOnce = 16;

/**
 * Deletes many nodes, links and drawings, all or none, as one record of the log and one step of undo. No other change is under way. Links
 * of the nodes are deleted with them.
 * @throws what is wrong with one of them, after its place in the request; nothing is deleted then
 */
async function deleteAll(project: LiveProject, body: BulkDelete): Promise<void> {
  const { nodes = [], links = [], drawings = [] } = body;
  checkAll('nodes', nodes, (id) => {
    const { locked, name } = project.nodes.get(id).entry;
    if (locked) throw fault('node_locked', { name });
  });
  checkAll('links', links, (id) => void project.links.get(id));
  checkAll('drawings', drawings, (id) => {
    if (project.drawings.get(id).locked) throw fault('drawing_locked', { drawing_id: id });
  });
  if (nodes.length + links.length + drawings.length === 0) return;
  // Nothing that is deleted could be made again on a compute that is away.
  const ends = links.flatMap((id) => project.links.get(id).nodes.map(({ node_id }) => node_id));
  const computes = new Set([...nodes, ...ends].flatMap((id) => project.nodes.get(id).compute ?? []));
  await Promise.all(Array.from(computes, ({ transport }) => transport.connect()));
  const all = async () => {
    await each(new Set(links), (id) => project.linkOperations.delete(id));
    await each(new Set(nodes), (id) => project.nodes.delete(id));
    await each(new Set(drawings), (id) => project.drawings.delete(id));
  };
  await project.changes.together(all, (change) => invertChange(project, change, { isKept: true }));
}

/** @throws the first error, once nothing is under way */
async function each(ids: Iterable<string>, remove: (id: string) => Promise<void>): Promise<void> {
  const [error] = await forEachBounded(ids, stoppedAtOnce, remove);
  if (error !== undefined) throw error;
}

function checkAll(what: 'nodes' | 'links' | 'drawings', ids: readonly string[], check: (id: string) => void): void {
  for (const [index, id] of ids.entries()) {
    try {
      check(id);
    } catch (error) {
      throw isFault(error) ? placed(error, `${what}[${index}]`) : error;
    }
  }
}

/** Draws a project as a small picture; of a closed one the file is read. @throws project_damaged */
async function outlineOf(project: KnownProject): Promise<ProjectOutline> {
  const live = await project.findLive();
  const { nodes, links } = live ? live.topology() : topologyOf(await project.stored());
  const shown = nodes.slice(0, outlineLimit.points);
  const places = new Map(shown.map(({ node_id }, place) => [node_id, place]));
  const lines: { from: number; to: number }[] = [];
  for (const { nodes: ends } of links) {
    if (lines.length >= outlineLimit.lines) break;
    const [from, to] = ends.map(({ node_id }) => places.get(node_id));
    if (from !== undefined && to !== undefined) lines.push({ from, to });
  }
  return { nodes: nodes.length, links: links.length, points: shown.map(({ x, y }) => ({ x, y })), lines };
}
