/** Chooses the compute of a node: the least loaded one with the node, among those where the node's memory fits. */

export interface NodeNeeds {
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
}

export interface Candidate {
  readonly id: string;
  /** Processors of the host; null: unknown, which counts as a small host. */
  readonly cpus: number | null;
  /** MiB; null: unknown. */
  readonly memory: number | null;
  /** The needs of the nodes that are on it. */
  readonly used: NodeNeeds;
}

/** Processors are shared; memory is not. */
const memoryShare = 0.9;
const unknown = { cpus: 2, memory: 4096 };

/** Undefined: it fits on none. The first one wins among equals. */
export function chooseCompute(needs: NodeNeeds, candidates: readonly Candidate[]): string | undefined {
  let best: { id: string; load: number } | undefined;
  for (const candidate of candidates) {
    const load = loadOf(needs, candidate);
    if (load !== undefined && (best === undefined || load < best.load)) best = { id: candidate.id, load };
  }
  return best?.id;
}

/** The fuller of its two resources, with the node on it; undefined: it does not fit. */
function loadOf(needs: NodeNeeds, { cpus, memory, used }: Candidate): number | undefined {
  const usable = (memory ?? unknown.memory) * memoryShare;
  const wanted = used.memory + needs.memory;
  if (wanted > usable) return undefined;
  return Math.max(wanted / usable, (used.cpus + needs.cpus) / (cpus ?? unknown.cpus));
}
