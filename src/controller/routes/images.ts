import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import { type Route, route } from '../../api/route.ts';
import { ImageUses } from '../../schema/image-use.ts';
import { type NodeType, nodeTypes } from '../../schema/node.ts';
import type { Controller } from '../controller.ts';
import { imageFolderOf } from '../model/node-images.ts';
import { imageUses, requireUnused } from '../projects/image-uses.ts';

export function imageRoutes({ computes, projects, templates }: Controller): Route[] {
  const usesOn = (computeId: string) => imageUses({ templates, projects: projects.all() }, computes.get(computeId).id);
  return [
    route(
      'GET /v2/computes/{compute_id}/image_uses',
      { summary: 'Templates and nodes that are made of images of a compute', reply: ImageUses, own: true },
      ({ path }) => usesOn(path.compute_id),
    ),
    route(
      'DELETE /v2/computes/{compute_id}/{emulator}/images/{filename:.+}',
      { summary: 'Delete an image that no template and no node uses', status: 204, own: true },
      async ({ path: { compute_id, emulator, filename } }) => {
        const { transport } = computes.get(compute_id);
        const type = imageType(emulator);
        if (filename.split('/').some((part) => ['', '.', '..'].includes(part)))
          throw fault('path_forbidden', { path: filename, reason: 'it leaves the image folder' });
        requireUnused(await usesOn(compute_id), type, basename(filename));
        await transport.raw('DELETE', `/v2/compute/${type}/images/${filename}`);
      },
    ),
  ];
}

/** @throws `compute_route_missing` for a kind without images */
function imageType(emulator: string): NodeType {
  const type = nodeTypes.find((one) => one === emulator);
  if (!type || imageFolderOf(type) === undefined) throw fault('compute_route_missing', { request: `/${emulator}/images` });
  return type;
}
