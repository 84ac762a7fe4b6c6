/** Routes that only this kind has. */
import { type Route, route } from '../../api/route.ts';
import { named } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { NodeAccess } from '../driver.ts';
import type { DockerEngine } from './engine.ts';
import { listImages } from './images.ts';

const DockerImage = Type.Object({ image: Type.String() }, named('DockerImage'));

export function dockerRoutes(engine: DockerEngine, nodes: NodeAccess): Route[] {
  return [
    route('GET /v2/compute/docker/images', { summary: 'Images of the Docker engine', reply: Type.Array(DockerImage) }, () =>
      listImages(engine),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/docker/nodes/{node_id}/pause',
      { summary: 'Suspend a Docker node', status: 204 },
      ({ path }) => nodes.suspend(path),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/docker/nodes/{node_id}/unpause',
      { summary: 'Resume a suspended Docker node', status: 204 },
      ({ path }) => nodes.resume(path),
    ),
  ];
}
