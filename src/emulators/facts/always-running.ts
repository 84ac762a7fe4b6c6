/** Facts shared by the kinds that run as soon as they are made: switches inside the fabric, and uplinks. */
import { Name, strict, Uuid } from '../../schema/common.ts';
import { NodeStatus } from '../../schema/node.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import type { Kind } from '../kind.ts';

export const alwaysRunningFacts = {
  can: {
    suspend: false,
    filter: true,
    resetConsole: false,
    reload: false,
    duplicate: true,
    startAnswersNode: false,
    addressesByPort: true,
  },
  alwaysRunning: true,
} as const satisfies Partial<Kind>;

export const withoutConsole = {
  consoleTypes: [],
  defaults: { console_type: null, port_name_format: 'Ethernet{0}', port_segment_size: 0 },
} as const satisfies Partial<Kind>;

/** An uplink: it connects the project to the networks of the host. */
export const uplinkFacts = {
  ...alwaysRunningFacts,
  can: { ...alwaysRunningFacts.can, duplicate: false },
  ...withoutConsole,
  folder: 'builtin',
  isUplink: true,
} as const satisfies Partial<Kind>;

/** The bodies of create and update; `changeable` are the kind's own keys, all of them optional. */
export function bodySchemas(changeable: Readonly<Record<string, TSchema>>) {
  return {
    create: Type.Object({ ...changeable, name: Name(), node_id: Type.Optional(Uuid) }, strict),
    update: Type.Object(
      {
        ...changeable,
        name: Type.Optional(Name()),
        // Clients send a node back as they got it.
        node_id: Type.Optional(Uuid),
        project_id: Type.Optional(Uuid),
        status: Type.Optional(NodeStatus),
      },
      strict,
    ),
  };
}
