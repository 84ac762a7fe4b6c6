/** Routes that only this kind has: emulators and tools of the host, images, and the disks of a node. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { type Route, route, Stream } from '../../api/route.ts';
import { oneOf, strict } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { NodeAccess } from '../driver.ts';
import type { Host } from '../host.ts';
import type { QemuDriver } from './driver.ts';
import { ImgCreate, ImgUpdate, imageFolder, ResizeDisk } from './img.ts';
import { platforms } from './platforms.ts';

const BinaryFilter = Type.Object(
  { archs: Type.Optional(Type.Array(oneOf(platforms), { description: 'Only emulators of these architectures' })) },
  strict,
);

export type QemuRouteParts = Pick<QemuDriver, 'binaries' | 'imageMaker' | 'capabilities' | 'resizeDisk'>;

export function qemuRoutes(driver: QemuRouteParts, host: Host, nodes: NodeAccess): Route[] {
  return [...toolRoutes(driver), ...imageRoutes(host), resizeRoute(driver, nodes)];
}

function toolRoutes({ binaries, capabilities, imageMaker }: QemuRouteParts): Route[] {
  const list = { summary: 'List the QEMU emulators of this host', body: BinaryFilter };
  const create = { summary: 'Make a disk image with qemu-img', body: ImgCreate, status: 201 };
  const update = { summary: 'Make a disk image larger', body: ImgUpdate, status: 201 };
  return [
    route('GET /v2/compute/qemu/binaries', list, ({ body }) => binaries.list(body.archs)),
    route('GET /v2/compute/qemu/img-binaries', { summary: 'List the qemu-img programs of this host' }, () => binaries.listImg()),
    route('GET /v2/compute/qemu/capabilities', { summary: 'Architectures with hardware acceleration' }, () => capabilities()),
    route('POST /v2/compute/qemu/img', create, ({ body }) => imageMaker.create(body as Static<typeof ImgCreate>)),
    route('PUT /v2/compute/qemu/img', update, ({ body }) => imageMaker.update(body as Static<typeof ImgUpdate>)),
  ];
}

function imageRoutes(host: Host): Route[] {
  const images = host.images.folder(imageFolder);
  const upload = { summary: 'Upload an image', raw: true, status: 204 };
  return [
    route('GET /v2/compute/qemu/images', { summary: 'List the QEMU images of this host' }, () => images.list()),
    route('POST /v2/compute/qemu/images/{filename:.+}', upload, ({ path, stream }) =>
      images.upload(path.filename, stream ?? Readable.from([])),
    ),
    route('GET /v2/compute/qemu/images/{filename:.+}', { summary: 'Download an image' }, async ({ path }) => {
      const source = await images.downloadSource(path.filename);
      return new Stream('application/octet-stream', createReadStream(source));
    }),
  ];
}

function resizeRoute(driver: QemuRouteParts, nodes: NodeAccess): Route {
  const spec = { summary: 'Make a disk of a stopped node larger', body: ResizeDisk, status: 201 };
  return route('POST /v2/compute/projects/{project_id}/qemu/nodes/{node_id}/resize_disk', spec, ({ path, body }) => {
    const { drive_name, extend } = body as Static<typeof ResizeDisk>;
    return nodes.whileStopped(path, 'resize its disks', (node) => driver.resizeDisk(node, drive_name, extend));
  });
}
