/** Facts of the kind "cloud": interfaces of this host and UDP tunnels. Sources of the constants: README.md beside this file. */
import { Name, nullable, strict, Text, Uuid } from '../../schema/common.ts';
import { NodeStatus } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { leadsOutFacts } from '../facts/always-running.ts';
import type { Kind } from '../kind.ts';
import { type CloudProperties, cloudFields } from './properties.ts';

const fields = { ...cloudFields, interfaces: Type.Optional(Type.Array(Type.Unknown(), { description: 'Ignored' })) };

export const cloudKind: Kind = {
  type: 'cloud',
  title: 'cloud',
  create: Type.Object({ ...fields, name: Name(), node_id: Type.Optional(Uuid) }, strict),
  update: Type.Object(
    {
      ...fields,
      name: Type.Optional(Name()),
      node_id: Type.Optional(Uuid),
      project_id: Type.Optional(Uuid),
      node_directory: Type.Optional(nullable(Text())),
      status: Type.Optional(NodeStatus),
    },
    strict,
  ),
  ...leadsOutFacts,
  ports: (properties) =>
    ((properties as Partial<CloudProperties>).ports_mapping ?? []).map(({ name }, port_number) => ({
      adapter_number: 0,
      port_number,
      name,
      short_name: name,
      link_type: 'ethernet',
      data_link_types: { Ethernet: 'DLT_EN10MB' },
    })),
};
