import { Readable } from 'node:stream';
import { computeRoute } from '../../api/route.ts';
import { FileEntry, NodeFile } from '../../schema/compute-node.ts';
import { Type } from '../../schema/type.ts';
import { listFiles, listNodeFiles, readProjectFile, removeProjectFile, writeProjectFile } from '../host/files.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function fileRoutes({ projects }: ComputeRouteContext) {
  return [
    computeRoute(
      'GET /v2/compute/projects/{project_id}/files',
      { summary: 'List the files of a project, with MD5 sums', reply: Type.Array(FileEntry) },
      ({ path }) => listFiles(projects.get(path.project_id).path),
    ),
    computeRoute(
      'GET /v2/compute/projects/{project_id}/node_files/{node_type}/{node_id}',
      { summary: 'List the files of a node', reply: Type.Array(NodeFile), own: true },
      ({ path }) => listNodeFiles(projects.get(path.project_id).path, path),
    ),
    computeRoute(
      'GET /v2/compute/projects/{project_id}/files/{path:.+}',
      { summary: 'Read a file of a project', replyType: 'application/octet-stream' },
      ({ path }) => readProjectFile(projects.get(path.project_id).path, path.path),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/files/{path:.+}',
      { summary: 'Write a file of a project', empty: true, raw: 'file', status: 201 },
      ({ path, stream }) => writeProjectFile(projects.get(path.project_id), path.path, stream ?? Readable.from([])),
    ),
    computeRoute(
      'DELETE /v2/compute/projects/{project_id}/files/{path:.+}',
      { summary: 'Delete a file of a project', status: 204, own: true },
      ({ path }) => removeProjectFile(projects.get(path.project_id), path.path),
    ),
  ];
}
