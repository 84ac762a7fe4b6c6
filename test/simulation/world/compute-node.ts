/** Nodes as a simulated compute keeps and reports them, and its abilities. */
import type { RunEnding } from '../../../src/schema/node-runs.ts';

export type Fields = Record<string, unknown>;

export interface KnownNode {
  readonly node_id: string;
  readonly project_id: string;
  readonly node_type: 'qemu';
  fields: Fields;
  status: 'stopped' | 'started' | 'suspended';
  generation: number | undefined;
  ending: RunEnding | undefined;
  /** Time at which the node's last run ended. */
  endedAt: number;
  /** Run of the node, also if it ran when the compute ended: the boot of the host at its start. */
  run: { readonly boot: number } | undefined;
  /** All of its machine was sent to another compute: it stays paused here, also under the next process. */
  hasDeparted?: true;
}

/** Returns the node as its compute answers requests. */
export function present({ node_id, project_id, status, fields }: KnownNode): Fields {
  return { command_line: 'qemu', node_directory: `/x/${node_id}`, ...fields, node_id, project_id, status };
}

/** Returns the facts about the last run of a node that its compute reports. */
export function factsOf({ generation, status, ending }: KnownNode): { generation?: number; ending?: RunEnding } {
  return { ...(generation !== undefined && { generation }), ...(status === 'stopped' && ending && { ending }) };
}

/** MiB that the controller takes a node for, and the share of a host's memory that it gives to nodes. */
const [nodeMemory, memoryShare] = [320, 0.9];

/**
 * Returns the answer of `GET /v2/compute/capabilities`: the compute lists nodes with their runs, and moves machines. `room`: number of nodes
 * for which it has memory.
 */
export function capabilities(room: number | undefined): Fields {
  const facts = { version: '2.2.60', node_types: ['qemu'], platform: 'linux', link_features: [], link_streams: true };
  const resources = room !== undefined && { resources: { cpus: 4, memory: Math.ceil((room * nodeMemory) / memoryShare) } };
  return { ...facts, ...resources, node_runs: true, live_moves: true };
}
