/** Facts of the kind "nat": an uplink through this host's own addresses. Sources of the constants: README.md beside this file. */
import { Name, strict, Uuid } from '../../schema/common.ts';
import { NodeStatus } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { uplinkFacts } from '../facts/always-running.ts';
import { symbol } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

/** Accepted and ignored, so that clients may send back what they were sent. */
const ignored = {
  node_id: Type.Optional(Uuid),
  ports_mapping: Type.Optional(Type.Array(Type.Unknown(), { description: 'Ignored: there is one port, nat0' })),
  project_id: Type.Optional(Uuid),
  status: Type.Optional(NodeStatus),
};

const template: TemplateFacts = {
  default_name_format: 'NAT{0}',
  symbol: symbol('nat'),
  ownSymbol: {
    name: 'nat',
    width: 159,
    height: 71,
    figure: 'cumulus',
    letters: 'NAT',
    theme: { category: 'nat', affinity: 'nat' },
  },
  category: 'guest',
  builtIn: { template_id: 'df8f4ea9-33b7-3e96-86a2-c39bc9bb649c', name: 'NAT' },
};

export const natKind: Kind = {
  type: 'nat',
  title: 'NAT',
  template,
  create: Type.Object({ ...ignored, name: Name() }, strict),
  update: Type.Object({ ...ignored, name: Type.Optional(Name()) }, strict),
  ...uplinkFacts,
  lab: { generated: ['ports_mapping'] },
  needsVmCompute: true,
  hasFolder: () => undefined,
  programs: [
    {
      name: 'passt',
      package: 'passt',
      for: 'NAT nodes for one guest, or with a resolver of their own',
      versionArgs: ['--version'],
      version: /passt (\S+)/,
      optional: true,
    },
  ],
  ports: () => [
    {
      adapter_number: 0,
      port_number: 0,
      name: 'nat0',
      short_name: 'nat0',
      link_type: 'ethernet',
      data_link_types: { Ethernet: 'DLT_EN10MB' },
    },
  ],
};
