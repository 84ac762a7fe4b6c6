/** How nodes of a compute ran, as it reports to a controller of ours. A stock GNS3 compute has nothing of this. */
import { named, oneOf, Uuid } from './common.ts';
import { NodeStatus, nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

/**
 * How the last run of a node ended. `asked`: by a request. `guest`: its guest switched it off. `failed`: its emulator ended by itself, or
 * was found ended by a server that started again. `lost`: with its host, its lease or its slice. `server`: with the server, as
 * `--stop-nodes` wants it.
 */
export const runEndings = ['asked', 'failed', 'guest', 'lost', 'server'] as const;
export type RunEnding = (typeof runEndings)[number];

const facts = {
  generation: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The number that its controller gave with the start of its current or last run' }),
  ),
  ending: Type.Optional(oneOf(runEndings, { description: 'How its last run ended; absent while it runs, or when it never ran' })),
};

/** Beside the event of a node (`run`): what its object has no place for. */
export const RunFacts = Type.Object(facts, { title: 'RunFacts' });
export type RunFacts = Static<typeof RunFacts>;

/** One node in the list of all nodes that a compute has of a project. */
export const ComputeNodeRun = Type.Object(
  { node_id: Uuid, node_type: oneOf(nodeTypes), status: NodeStatus, ...facts },
  named('ComputeNodeRun'),
);
export type ComputeNodeRun = Static<typeof ComputeNodeRun>;
