import type { NodeType } from '../../schema/node.ts';
import { findKind } from '../model/node.ts';
import type { NodeNeeds } from './choose-compute.ts';

/** Needs of a node that declares none, such as a VPCS: its process, as measured. */
const smallest: NodeNeeds = { cpus: 0.02, memory: 16 };
/** MiB of an emulator beside the memory of its guest. */
const overhead = 64;
/** Limit for processors, and for MiB: a project file may hold any number, and sums have to stay exact. */
const most = 1e12;

/** Returns the needs that a node declares, in the properties that lab files call `cpus` and `memory`. */
export function needsOf(nodeType: string, properties: Readonly<Record<string, unknown>>): NodeNeeds {
  const kind = findKind(nodeType as NodeType);
  const read = (name: string | undefined) =>
    Math.min(most, Number((name && (properties[name] ?? kind?.nodeDefaults?.[name])) || 0));
  const memory = read(kind?.lab?.memory);
  const cpus = read(kind?.lab?.cpus);
  return {
    cpus: cpus > 0 ? cpus : memory > 0 ? 1 : smallest.cpus,
    memory: memory > 0 ? memory + overhead : smallest.memory,
  };
}
