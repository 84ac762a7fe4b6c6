import { Readable } from 'node:stream';
import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { named, oneOf } from '../../../schema/common.ts';
import type { StoredImage } from '../../../schema/host.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import type { ApplianceInstaller } from '../../library/appliance-installer.ts';
import type { ImageLibrary } from '../../library/image-library.ts';
import { DiskImageCreate, diskOptions } from './disk-images.ts';

/** Types of images as GNS3 3 names them: by the folders of the kinds. */
const imageTypes = ['qemu', 'ios', 'iou'] as const;

const Image3 = Type.Object(
  {
    filename: Type.String(),
    path: Type.String({ description: "Below the folder of the image's type, or absolute where it lies elsewhere" }),
    image_type: oneOf(imageTypes),
    image_size: Type.Integer({ minimum: 0, description: 'Bytes' }),
    checksum: Type.String({ description: 'Empty while the sum of a large file is being computed' }),
    checksum_algorithm: oneOf(['md5']),
    created_at: Type.String({ description: 'UTC, without a zone' }),
    updated_at: Type.String({ description: 'UTC, without a zone' }),
  },
  named('ImageOfV3'),
);

export function imageRoutes(controller: Controller, images: ImageLibrary, installer: ApplianceInstaller): Route[] {
  // Paths that are words come before those that name an image.
  return [...arrivalRoutes(controller, images, installer), ...storedRoutes(images)];
}

function storedRoutes(images: ImageLibrary): Route[] {
  return [
    route(
      'GET /v3/images',
      {
        summary: 'List the images of this server',
        query: { image_type: oneOf(imageTypes) },
        reply: Type.Array(Image3),
        right: 'Image.Audit',
      },
      async ({ query: { image_type } }) =>
        (await images.list()).map(imageOf).filter((image) => image_type === undefined || image.image_type === image_type),
    ),
    route(
      'DELETE /v3/images/prune',
      { summary: 'Delete the images that no template and no node uses', status: 204, right: 'Image.Allocate' },
      () => images.prune(),
    ),
    route(
      'GET /v3/images/{image_path:.+}',
      { summary: 'Get an image by its file name, or by the end of its path', reply: Image3, right: 'Image.Audit' },
      async ({ path }) => imageOf(await images.get(path.image_path)),
    ),
    route(
      'DELETE /v3/images/{image_path:.+}',
      { summary: 'Delete an image that no template and no node uses', status: 204, right: 'Image.Allocate' },
      ({ path }) => images.remove(path.image_path),
    ),
  ];
}

function arrivalRoutes({ computes }: Controller, images: ImageLibrary, installer: ApplianceInstaller): Route[] {
  return [
    route(
      'POST /v3/images/upload/{image_path:.+}',
      {
        summary: 'Upload an image of a new name; its first bytes show its type',
        query: { install_appliances: Type.Boolean() },
        raw: 'file',
        status: 201,
        reply: Image3,
        right: 'Image.Allocate',
      },
      async ({ path, query, stream }) => {
        const image = await images.add(path.image_path, stream ?? Readable.from([]));
        if (query.install_appliances === 'true') await installer.installAllOf([image]);
        return imageOf(image);
      },
    ),
    route(
      'POST /v3/images/install',
      { summary: 'Make the templates of appliances whose images are here and unused', status: 204, right: 'Image.Allocate' },
      async () => {
        await installer.installAllOf(await images.unused());
      },
    ),
    route(
      'POST /v3/images/qemu/{image_path:.+}',
      {
        summary: 'Make an empty disk',
        body: DiskImageCreate,
        status: 201,
        reply: Image3,
        fillsDisk: true,
        right: 'Image.Allocate',
      },
      async ({ path: { image_path: name }, body }) => {
        if (/^\.|[/\\]/.test(name)) throw fault('path_forbidden', { path: name, reason: 'it is not a plain file name' });
        if ((await images.list()).some(({ filename }) => filename === name))
          throw fault('image_refused', { image: name, reason: 'there is an image of this name already' });
        const request = { ...diskOptions(body), path: name, qemu_img: 'qemu-img' };
        await computes.local.transport.raw('POST', '/v2/compute/qemu/img', Buffer.from(JSON.stringify(request)));
        return imageOf(await images.get(name));
      },
    ),
  ];
}

function imageOf({ filename, path, folder, filesize, md5sum, created_at, modified_at }: StoredImage) {
  const time = (ms: number) => new Date(ms).toISOString().slice(0, 19);
  return {
    filename,
    path,
    image_type: folder.toLowerCase(),
    image_size: filesize,
    checksum: md5sum ?? '',
    checksum_algorithm: 'md5',
    created_at: time(created_at),
    updated_at: time(modified_at),
  };
}
