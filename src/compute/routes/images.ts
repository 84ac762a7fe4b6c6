/** Images of the kinds that have some: listed, uploaded and downloaded. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { route, Stream } from '../../api/route.ts';
import type { Kind } from '../../emulators/kind.ts';
import { Image } from '../../schema/host.ts';
import { Type } from '../../schema/type.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function imageRoutes({ context, host }: ComputeRouteContext) {
  return [...context.drivers.values()].flatMap(({ kind }) => (kind.images ? routesOf(kind, host.images.of(kind.images)) : []));
}

function routesOf({ type, title }: Kind, images: ReturnType<ComputeRouteContext['host']['images']['of']>) {
  const upload = { summary: `Upload an image for ${title} nodes`, raw: true, status: 204 };
  return [
    route(
      `GET /v2/compute/${type}/images`,
      { summary: `List the images for ${title} nodes of this host`, reply: Type.Array(Image) },
      () => images.list(),
    ),
    route(`POST /v2/compute/${type}/images/{filename:.+}`, upload, ({ path, stream }) =>
      images.upload(path.filename, stream ?? Readable.from([])),
    ),
    route(
      `GET /v2/compute/${type}/images/{filename:.+}`,
      { summary: 'Download an image', replyType: 'application/octet-stream' },
      async ({ path }) => {
        const source = await images.downloadSource(path.filename);
        return new Stream('application/octet-stream', createReadStream(source));
      },
    ),
  ];
}
