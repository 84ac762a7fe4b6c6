/** Records that leave what the project file holds as it is: there is nothing to revert, and listeners are not sent them. */
import { strict, Uuid } from '../../../schema/common.ts';
import { Type } from '../../../schema/type.ts';
import { WantedRun } from '../../model/wanted.ts';
import type { MarkerAction } from '../records.ts';
import type { ActionRules } from './action-rules.ts';

export const UdpPortPair = Type.Array(Type.Integer({ minimum: 0, maximum: 65_535 }), { minItems: 2, maxItems: 2 });

const inert = { conflict: () => undefined, invert: async () => undefined, notice: () => undefined };
const was = Type.Null();

export const markerRules: { [A in MarkerAction]: ActionRules<A> } = {
  'project.snapshot': {
    ...inert,
    schema: {
      event: Type.Object(
        {
          udp_ports: Type.Optional(Type.Record(Type.String(), UdpPortPair)),
          wanted: Type.Optional(Type.Record(Type.String(), WantedRun)),
          deleting: Type.Optional(Type.Array(Uuid)),
          incarnation: Type.Optional(Type.Integer({ minimum: 0 })),
          history: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        strict,
      ),
      was,
    },
    apply: (state, { event }) => {
      for (const [linkId, ports] of Object.entries(event.udp_ports ?? {})) state.udpPorts.set(linkId, ports);
      for (const [nodeId, wanted] of Object.entries(event.wanted ?? {})) state.wanted.set(nodeId, wanted);
      for (const nodeId of event.deleting ?? []) state.deleting.add(nodeId);
      state.incarnation = event.incarnation ?? state.incarnation;
    },
  },
  'node.wanted': {
    ...inert,
    schema: { event: Type.Object({ node_id: Uuid, ...WantedRun.properties }, strict), was },
    apply: (state, { event: { node_id, ...wanted } }) => {
      state.wanted.set(node_id, wanted);
    },
  },
  'node.deleting': {
    ...inert,
    schema: { event: Type.Object({ node_id: Uuid }, strict), was },
    apply: ({ deleting }, { event: { node_id } }) => {
      deleting.add(node_id);
    },
  },
  'step.empty': {
    ...inert,
    schema: { event: Type.Object({}, strict), was },
    apply: () => undefined,
  },
};
