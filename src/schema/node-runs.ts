/** Reports how a compute's nodes ran, to Patchbay controllers. A stock GNS3 compute reports none of this. */
import { named, oneOf, Uuid } from './common.ts';
import { NodeStatus, nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

/**
 * Causes of the end of a node's last run. `asked`: by a request. `guest`: the guest switched off. `failed`: the emulator exited by itself,
 * or had exited when a restarted server looked. `lost`: its host, lease or slice ended. `server`: the server ended with `--stop-nodes`.
 */
export const runEndings = ['asked', 'failed', 'guest', 'lost', 'server'] as const;
export type RunEnding = (typeof runEndings)[number];

const facts = {
  generation: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The number that its controller gave with the start of its current or last run' }),
  ),
  ending: Type.Optional(oneOf(runEndings, { description: 'How its last run ended; absent while it runs, or when it never ran' })),
};

/** Facts of the run that a node's event carries in `run`, because the GNS3 node object has no field for them. */
export const RunFacts = Type.Object(facts, { title: 'RunFacts' });
export type RunFacts = Static<typeof RunFacts>;

/** A node in a compute's list of all nodes of a project. */
export const ComputeNodeRun = Type.Object(
  {
    ...{ node_id: Uuid, node_type: oneOf(nodeTypes), status: NodeStatus, ...facts },
    joined_ports: Type.Optional(
      Type.Array(Type.Object({ adapter_number: Type.Integer(), port_number: Type.Integer() }), {
        description: 'Its ports that have a link; absent when there is none',
      }),
    ),
  },
  named('ComputeNodeRun'),
);
export type ComputeNodeRun = Static<typeof ComputeNodeRun>;
