import { Readable } from 'node:stream';
import { type Route, route } from '../../../api/route.ts';
import { CaptureFile } from '../../../schema/capture.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { deleteCaptureFile, listCaptureFiles, readCaptureFile } from '../../projects/capture-files.ts';
import { readFile, readNodeFile, removeNodeFile, writeFile, writeNodeFile } from '../../projects/project-files.ts';

export function fileRoutes(controller: Controller): Route[] {
  const { projects } = controller;
  const live = (path: { project_id: string }) => projects.get(path.project_id).live();
  const none = () => Readable.from([]);
  return [
    route(
      'GET /v2/projects/{project_id}/files/{path:.+}',
      { right: 'Project.Audit', summary: 'Read a file of a project', replyType: 'application/octet-stream' },
      async ({ path }) => readFile(await live(path), path.path),
    ),
    route(
      'POST /v2/projects/{project_id}/files/{path:.+}',
      { right: 'Project.Modify', summary: 'Write a file of a project; folders are made', empty: true, raw: 'file', status: 201 },
      ({ path, stream }) => writeFile(projects.get(path.project_id), path.path, stream ?? none()),
    ),
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}',
      { right: 'Node.Audit', summary: 'Read a file of a node from its compute', replyType: 'application/octet-stream' },
      async ({ path }) => readNodeFile(await live(path), path.node_id, path.path),
    ),
    route(
      'POST /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}',
      {
        right: 'Node.Modify',
        summary: 'Write a file of a node on its compute; folders are made',
        empty: true,
        raw: true,
        status: 201,
      },
      async ({ path, stream }) => writeNodeFile(await live(path), { nodeId: path.node_id, path: path.path }, stream ?? none()),
    ),
    route(
      'DELETE /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}',
      { right: 'Node.Modify', summary: 'Delete a file of a node on its compute', status: 204, own: true },
      async ({ path }) => removeNodeFile(await live(path), path.node_id, path.path),
    ),
    ...captureFileRoutes(controller),
  ];
}

function captureFileRoutes({ projects }: Controller): Route[] {
  const live = (path: { project_id: string }) => projects.get(path.project_id).live();
  return [
    route(
      'GET /v2/projects/{project_id}/captures',
      {
        right: 'Link.Capture',
        summary: 'List the capture files of a project, the newest first',
        reply: Type.Array(CaptureFile),
        own: true,
      },
      async ({ path }) => listCaptureFiles(await live(path)),
    ),
    route(
      'GET /v2/projects/{project_id}/captures/{capture_file_name}',
      {
        right: 'Link.Capture',
        summary: 'Read a capture file, also of a remote compute',
        replyType: 'application/vnd.tcpdump.pcap',
        own: true,
      },
      async ({ path }) => readCaptureFile(await live(path), path.capture_file_name),
    ),
    route(
      'DELETE /v2/projects/{project_id}/captures/{capture_file_name}',
      { right: 'Link.Capture', summary: 'Delete a capture file', status: 204, own: true },
      async ({ path }) => deleteCaptureFile(await live(path), path.capture_file_name),
    ),
  ];
}
