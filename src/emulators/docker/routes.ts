/** Routes that only this kind has. */
import { computeRoute, type Route } from '../../api/route.ts';
import { named, nullable } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { NodeAccess } from '../driver.ts';
import type { DockerEngine } from './engine.ts';
import { imageVolumes, listImages } from './images.ts';

const ImageVolumes = Type.Object(
  { volumes: nullable(Type.Array(Type.String())) },
  {
    ...named('ImageVolumes'),
    description: 'Folders that the image declares as volumes; null where the engine does not have the image',
  },
);
const DockerImage = Type.Object({ image: Type.String() }, named('DockerImage'));

export function dockerRoutes(engine: DockerEngine, nodes: NodeAccess): Route[] {
  return [
    computeRoute('GET /v2/compute/docker/images', { summary: 'Images of the Docker engine', reply: Type.Array(DockerImage) }, () =>
      listImages(engine),
    ),
    computeRoute(
      'GET /v2/compute/docker/image_volumes/{image:.+}',
      { summary: 'Volumes that an image of the Docker engine declares', reply: ImageVolumes, own: true },
      async ({ path }) => ({ volumes: (await imageVolumes(engine, path.image)) ?? null }),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/docker/nodes/{node_id}/pause',
      { summary: 'Suspend a Docker node', status: 204 },
      ({ path }) => nodes.suspend(path),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/docker/nodes/{node_id}/unpause',
      { summary: 'Resume a suspended Docker node', status: 204 },
      ({ path }) => nodes.resume(path),
    ),
  ];
}
