/** Routes that only this kind has: emulators and tools of the host, images, and the disks of a node. */
import { computeRoute, type Route } from '../../api/route.ts';
import { named, oneOf, strict } from '../../schema/common.ts';
import { Binary } from '../../schema/host.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { NodeAccess, NodeView } from '../driver.ts';
import type { Binaries } from './binaries.ts';
import { type ImageConverter, ImgConversions, ImgConvert, ImgConverted } from './convert.ts';
import { type ImageMaker, ImgCreate, ImgUpdate, NodeDiskCreate, NodeDiskUpdate, ResizeDisk } from './img.ts';
import { platforms } from './platforms.ts';
import type { Slot } from './properties.ts';

const BinaryFilter = Type.Object(
  { archs: Type.Optional(Type.Array(oneOf(platforms), { description: 'Only emulators of these architectures' })) },
  strict,
);

const Accelerated = Type.Object({ kvm: Type.Array(Type.String()) }, named('QemuCapabilities'));

/** Parts of the driver that the routes of the kind need. */
export interface QemuTools {
  readonly binaries: Binaries;
  readonly imageMaker: ImageMaker;
  readonly converter: ImageConverter;
  /** Architectures with working hardware acceleration. */
  capabilities(): Promise<{ kvm: string[] }>;
  /** Makes a disk of a stopped node larger; makes the node's overlay first where there is none. @throws qemu_failed */
  resizeDisk(
    node: Pick<NodeView, 'directory' | 'projectDirectory' | 'name' | 'properties' | 'warn'>,
    slot: Slot,
    mebibytes: number,
  ): Promise<void>;
}

export function qemuRoutes(driver: QemuTools, nodes: NodeAccess): Route[] {
  return [...toolRoutes(driver), ...convertRoutes(driver), resizeRoute(driver, nodes), ...nodeDiskRoutes(driver, nodes)];
}

function toolRoutes({ binaries, capabilities, imageMaker }: QemuTools): Route[] {
  const list = { summary: 'List the QEMU emulators of this host', reply: Type.Array(Binary), body: BinaryFilter };
  const create = { summary: 'Make a disk image with qemu-img', empty: true as const, body: ImgCreate, status: 201 };
  const update = { summary: 'Make a disk image larger', empty: true as const, body: ImgUpdate, status: 201 };
  return [
    computeRoute('GET /v2/compute/qemu/binaries', list, ({ body }) => binaries.list(body.archs)),
    computeRoute(
      'GET /v2/compute/qemu/img-binaries',
      { summary: 'List the qemu-img programs of this host', reply: Type.Array(Binary) },
      () => binaries.listImg(),
    ),
    computeRoute(
      'GET /v2/compute/qemu/capabilities',
      { summary: 'Architectures with hardware acceleration', reply: Accelerated },
      () => capabilities(),
    ),
    computeRoute('POST /v2/compute/qemu/img', create, ({ body }) => imageMaker.create(body as Static<typeof ImgCreate>)),
    computeRoute('PUT /v2/compute/qemu/img', update, ({ body }) => imageMaker.update(body as Static<typeof ImgUpdate>)),
  ];
}

/** Ours. */
export function convertRoutes({ converter }: Pick<QemuTools, 'converter'>) {
  const summary = 'Make a qcow2 image of a VDI, VMDK, VHD or VHDX image of the image folder';
  return [
    computeRoute(
      'POST /v2/compute/qemu/convert',
      { summary, body: ImgConvert, reply: ImgConverted, status: 201, own: true, fillsDisk: true },
      ({ body }) => converter.convert((body as Static<typeof ImgConvert>).source),
    ),
    computeRoute('GET /v2/compute/qemu/convert', { summary: 'Conversions that run', reply: ImgConversions, own: true }, () =>
      converter.list(),
    ),
  ];
}

export function resizeRoute(driver: QemuTools, nodes: NodeAccess) {
  const spec = { summary: 'Make a disk of a stopped node larger', empty: true as const, body: ResizeDisk, status: 201 };
  return computeRoute('POST /v2/compute/projects/{project_id}/qemu/nodes/{node_id}/resize_disk', spec, ({ path, body }) => {
    const { drive_name, extend } = body as Static<typeof ResizeDisk>;
    return nodes.whileStopped(path, 'resize its disks', (node) => driver.resizeDisk(node, drive_name, extend));
  });
}

/** Ours: disks in the folder of a node, which GNS3 3 makes, grows and deletes by their names. */
export function nodeDiskRoutes({ imageMaker }: Pick<QemuTools, 'imageMaker'>, nodes: NodeAccess) {
  const key = '/v2/compute/projects/{project_id}/qemu/nodes/{node_id}/disk_image/{disk_name}' as const;
  const what = 'change its disks';
  const made = { summary: 'Make a disk of a stopped node', body: NodeDiskCreate, status: 204, own: true, fillsDisk: true } as const;
  const grown = {
    summary: 'Make a disk of a stopped node larger by its name',
    body: NodeDiskUpdate,
    status: 204,
    own: true,
  } as const;
  return [
    computeRoute(`POST ${key}`, made, ({ path, body }) =>
      nodes.whileStopped(path, what, ({ directory }) =>
        imageMaker.createDisk(directory, path.disk_name, body as Static<typeof NodeDiskCreate>),
      ),
    ),
    computeRoute(`PUT ${key}`, grown, ({ path, body }) =>
      nodes.whileStopped(path, what, ({ directory }) =>
        imageMaker.growDisk(directory, path.disk_name, (body as Static<typeof NodeDiskUpdate>).extend),
      ),
    ),
    computeRoute(`DELETE ${key}`, { summary: 'Delete a disk of a stopped node', status: 204, own: true }, ({ path }) =>
      nodes.whileStopped(path, what, ({ directory }) => imageMaker.deleteDisk(directory, path.disk_name)),
    ),
  ];
}
