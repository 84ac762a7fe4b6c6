/** Lists the templates and nodes that use a compute's images. Not part of GNS3's API. */
import { Name, named, oneOf, strict } from './common.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

/** Disks to convert; a QEMU machine has at most four. */
export const DisksToConvert = Type.Object(
  { disks: Type.Array(Name({ description: 'VDI, VMDK, VHD or VHDX, in the image folder' }), { minItems: 1, maxItems: 4 }) },
  strict,
);

const NodeOfImage = Type.Object(
  { project_id: Type.String(), project: Type.String(), node_id: Type.String(), name: Type.String() },
  named('NodeOfImage'),
);
const TemplateOfImage = Type.Object({ template_id: Type.String(), name: Type.String() }, named('TemplateOfImage'));

export const ImageUse = Type.Object(
  {
    node_type: oneOf(nodeTypes),
    image: Type.String({ description: 'File name, without folders' }),
    templates: Type.Array(TemplateOfImage),
    nodes: Type.Array(NodeOfImage, { description: 'Nodes of open and closed projects' }),
  },
  named('ImageUse'),
);
export type ImageUse = Static<typeof ImageUse>;

export const ImageUses = Type.Object(
  {
    images: Type.Array(ImageUse),
    unread: Type.Array(Type.String({ description: 'Names of projects that cannot be read: their nodes are missing' })),
  },
  named('ImageUses'),
);
export type ImageUses = Static<typeof ImageUses>;
