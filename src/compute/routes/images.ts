/** Images of the kinds that have some: listed, uploaded and downloaded. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { computeRoute, Stream } from '../../api/route.ts';
import type { ImageFolder } from '../../emulators/host/images.ts';
import type { Kind } from '../../emulators/kind.ts';
import { Image, StoredImage } from '../../schema/host.ts';
import { Type } from '../../schema/type.ts';
import { AllImages } from '../host/all-images.ts';
import type { ImageClaims } from '../host/image-claims.ts';
import type { ComputeNode } from '../nodes/node.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function imageRoutes({ context, host, projects }: ComputeRouteContext) {
  const kinds = Array.from(context.drivers.values(), ({ kind }) => kind);
  return [
    ...kinds.flatMap((kind) =>
      kind.images
        ? routesOf({ kind, images: host.images.of(kind.images), claims: context.imageClaims, nodes: () => projects.allNodes() })
        : [],
    ),
    ...commonRoutes(new AllImages(kinds, host.images)),
  ];
}

function commonRoutes(all: AllImages) {
  return [
    computeRoute(
      'GET /v2/compute/images',
      { summary: 'List the images of this host, of all kinds', reply: Type.Array(StoredImage), own: true },
      () => all.list(),
    ),
    computeRoute(
      'POST /v2/compute/images/{path:.+}',
      {
        summary: 'Upload an image of a new name, whose kind its first bytes show',
        raw: true,
        status: 201,
        reply: StoredImage,
        own: true,
      },
      ({ path, stream }) => all.add(path.path, stream ?? Readable.from([])),
    ),
  ];
}

interface ImageRoutes {
  readonly kind: Kind;
  readonly images: ImageFolder;
  readonly claims: ImageClaims;
  readonly nodes: () => readonly ComputeNode[];
}

function routesOf({ kind, images, claims, nodes }: ImageRoutes) {
  const { type, title } = kind;
  const upload = { summary: `Upload an image for ${title} nodes`, raw: 'file', status: 204 } as const;
  return [
    computeRoute(
      `GET /v2/compute/${type}/images`,
      { summary: `List the images for ${title} nodes of this host`, reply: Type.Array(Image) },
      () => images.list(),
    ),
    computeRoute(`POST /v2/compute/${type}/images/{filename:.+}`, upload, ({ path, stream }) =>
      images.upload(path.filename, stream ?? Readable.from([])),
    ),
    computeRoute(
      `POST /v2/compute/${type}/new_images/{filename}`,
      { summary: `Upload an image for ${title} nodes whose name no other one has`, raw: 'file', status: 204, own: true },
      async ({ path, stream }) => {
        await images.add(path.filename, stream ?? Readable.from([]));
      },
    ),
    computeRoute(
      `GET /v2/compute/${type}/images/{filename:.+}`,
      { summary: 'Download an image', replyType: 'application/octet-stream' },
      async ({ path }) => {
        const source = await images.downloadSource(path.filename);
        return new Stream('application/octet-stream', createReadStream(source));
      },
    ),
    computeRoute(
      `DELETE /v2/compute/${type}/images/{filename:.+}`,
      { summary: `Delete an image for ${title} nodes that no node uses`, status: 204, own: true },
      ({ path }) => {
        const users = nodes().map(({ driver, name, properties }) => ({ kind: driver.kind, name, properties }));
        return claims.remove({ kind, name: path.filename }, users, () => images.remove(path.filename));
      },
    ),
  ];
}
