import { fault } from '../../../api/faults.ts';
import { type Call, type Route, route } from '../../../api/route.ts';
import { Name, named, oneOf } from '../../../schema/common.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { placeAll } from '../../live/bulk.ts';
import type { LiveProject } from '../../live/live-project.ts';
import { gns3Revision } from '../../model/gns3-revision.ts';
import type { ArchiveCompression } from '../../zip/write-archive.ts';
import { standardVersion } from '../client-version.ts';
import { requireVisible } from '../common-rights.ts';
import { exportChoices } from '../v2/portable.ts';
import { refuseValue } from './refuse-value.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

const yes = Type.Boolean();
const exportQuery = {
  include_snapshots: yes,
  include_images: yes,
  reset_mac_addresses: yes,
  keep_compute_ids: yes,
  compression: oneOf(['none', 'zip', 'bzip2', 'lzma', 'zstd']),
  compression_level: Type.Integer(),
};
/** Levels of each method; methods that are not listed have none. */
const levels: Readonly<Record<string, readonly [number, number]>> = { zip: [0, 9], bzip2: [1, 9], zstd: [1, 22] };

export function projectRoutes(controller: Controller, twin: DeclareTwin): Route[] {
  return [
    ...sameTwins(twin, [
      'GET /v3/projects',
      'GET /v3/projects/{project_id}',
      'DELETE /v3/projects/{project_id}',
      'GET /v3/projects/{project_id}/stats',
      'POST /v3/projects/{project_id}/open',
      'POST /v3/projects/{project_id}/close',
      'GET /v3/projects/{project_id}/files/{path:.+}',
    ]),
    twin('POST /v3/projects', 'POST /v2/projects', { request: checked }),
    twin('PUT /v3/projects/{project_id}', 'PUT /v2/projects/{project_id}', { request: checked }),
    twin('POST /v3/projects/load', 'POST /v2/projects/load', { body: Type.Object({ path: Name() }, named('ProjectLoadPath')) }),
    twin('POST /v3/projects/{project_id}/duplicate', 'POST /v2/projects/{project_id}/duplicate', {
      request: (call) => ({ ...call, body: { ...(call.body as object), project_id: undefined } }),
    }),
    exportRoute(controller, twin),
    twin('POST /v3/projects/{project_id}/files/{path:.+}', 'POST /v2/projects/{project_id}/files/{path:.+}', { status: 204 }),
    importRoute(controller, twin),
    ...lockRoutes(controller),
  ];
}

/** An import under the id of a project answers that project, as it is. */
function importRoute({ projects }: Controller, twin: DeclareTwin): Route {
  const made = twin('POST /v3/projects/{project_id}/import', 'POST /v2/projects/{project_id}/import');
  return {
    ...made,
    handle: (call) => {
      const known = projects.find((call.path as { project_id: string }).project_id);
      requireVisible(call, known);
      return known?.object ?? made.handle(call);
    },
  };
}

function lockRoutes({ projects }: Controller): Route[] {
  const setLocked = (path: { project_id: string }, locked: boolean) =>
    projects.get(path.project_id).change((live) => placeAll(live, everythingOf(live, locked)));
  return [
    route(
      'GET /v3/projects/{project_id}/locked',
      { summary: 'Whether all nodes and drawings are locked', reply: Type.Boolean(), right: 'Project.Audit' },
      async ({ path }) => {
        const live = await projects.get(path.project_id).live();
        return [...live.nodes.list(), ...live.drawings.list()].every(({ locked }) => locked);
      },
    ),
    route(
      'POST /v3/projects/{project_id}/lock',
      { summary: 'Lock all nodes and drawings', status: 204, right: 'Project.Modify' },
      ({ path }) => setLocked(path, true),
    ),
    route(
      'POST /v3/projects/{project_id}/unlock',
      { summary: 'Unlock all nodes and drawings', status: 204, right: 'Project.Modify' },
      ({ path }) => setLocked(path, false),
    ),
  ];
}

function everythingOf(live: LiveProject, locked: boolean) {
  return {
    nodes: live.nodes.list().map(({ node_id }) => ({ node_id, locked })),
    drawings: live.drawings.list().map(({ drawing_id }) => ({ drawing_id, locked })),
  };
}

/** @throws path_forbidden for a project's folder, which clients cannot choose in `/v3`; invalid_request */
function checked(call: Call): Call {
  const { path, ...body } = call.body as { readonly path?: string | null; readonly supplier?: { readonly url?: string } | null };
  const url = body.supplier?.url;
  if (url !== undefined && !URL.canParse(url))
    refuseValue({ type: 'url_parsing', loc: ['body', 'supplier', 'url'], msg: 'Input should be a valid URL', input: url });
  if (typeof path === 'string') throw fault('path_forbidden', { path, reason: 'the server chooses the folder of a project' });
  return { ...call, body };
}

function exportRoute(controller: Controller, twin: DeclareTwin): Route {
  const made = twin('GET /v3/projects/{project_id}/export', 'GET /v2/projects/{project_id}/export', { query: exportQuery });
  return {
    ...made,
    handle: ({ path, query }) => {
      const compression = compressionOf(query);
      const form = { revision: gns3Revision, version: standardVersion };
      return controller.export((path as { project_id: string }).project_id, { ...exportChoices(query, 'true'), compression, form });
    },
  };
}

/** Every client that reads `bzip2` or `lzma` reads `zip`. @throws compression_level */
function compressionOf({ compression = 'zstd', compression_level: given }: Call['query']): ArchiveCompression {
  const [lowest, highest] = levels[compression] ?? [0, -1];
  const level = given === undefined ? undefined : Number(given);
  if (level !== undefined && (level < lowest || level > highest))
    throw fault('compression_level', { compression, levels: highest < lowest ? 'no level' : `${lowest} to ${highest}` });
  if (compression === 'none' || compression === 'zstd' || compression === 'zip')
    return { method: compression, ...(level !== undefined && { level }) };
  return { method: 'zip' };
}
