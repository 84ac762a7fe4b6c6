import { Readable } from 'node:stream';
import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { Project } from '../../../schema/project.ts';
import { importProject } from '../../archive/import.ts';
import type { Controller } from '../../controller.ts';
import { requireHostAccess } from '../common-rights.ts';

/** Returns what an export holds; `yes` is the word for it in the query. */
export function exportChoices(query: Readonly<Record<string, string>>, yes: string) {
  const isYes = (key: string) => query[key]?.toLowerCase() === yes;
  return {
    includeImages: isYes('include_images'),
    includeSnapshots: isYes('include_snapshots'),
    resetMacAddresses: isYes('reset_mac_addresses'),
    keepComputeIds: isYes('keep_compute_ids'),
  };
}

/** GNS3's API offers two more methods; every program that reads them reads `zip` too. */
const compressions = ['zip', 'none', 'bzip2', 'lzma'];

export function portableRoutes(controller: Controller): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/export',
      {
        right: 'Project.Audit',
        summary: 'Read a project as an archive (ZIP), running or not',
        replyType: 'application/gns3project',
      },
      ({ path, query }) => {
        const compression = query.compression?.toLowerCase() ?? 'zip';
        if (!compressions.includes(compression))
          throw fault('invalid_request', { reason: `compression is one of ${compressions.join(', ')}` });
        const method = compression === 'none' ? 'none' : 'zip';
        return controller.export(path.project_id, { ...exportChoices(query, 'yes'), compression: { method } });
      },
    ),
    route(
      'POST /v2/projects/{project_id}/import',
      {
        right: 'Project.Allocate',
        summary: 'Make a closed project of an archive, sent as it is or as a form',
        raw: 'file',
        status: 201,
        reply: Project,
      },
      async ({ path, query, stream, ...call }) => {
        requireHostAccess(call, query.path);
        const wanted = { projectId: path.project_id, name: query.name, path: query.path };
        return (await importProject(stream ?? Readable.from([]), wanted, controller.portableOptions())).object;
      },
    ),
  ];
}
