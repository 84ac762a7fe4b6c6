/** Metrics of this compute for monitoring systems: the processes of its nodes, and its fabric. */
import type { FabricLoad } from '../../fabric/protocol.ts';
import { counter, gauge, type Metric } from '../../lib/metric.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { processUsage } from '../../process/proc.ts';
import { pidsOf } from './emulator-facts.ts';
import type { ComputeNode } from './node.ts';

export async function computeMetrics(nodes: readonly ComputeNode[], load: () => Promise<FabricLoad>): Promise<Metric[]> {
  const [ofNodes, ofFabric] = await Promise.all([
    nodeMetrics(nodes),
    load().then(fabricMetrics, () => [gauge('patchbay_fabric_up', fabricUp, [{ value: 0 }])]),
  ]);
  return [...ofNodes, ...ofFabric];
}

const fabricUp = 'Whether the process that moves frames answers';

async function nodeMetrics(nodes: readonly ComputeNode[]): Promise<Metric[]> {
  // Nodes in the fabric are no processes, and there may be thousands.
  const all = await mapInTurns(nodes, (node) => ({ node, pids: pidsOf(node.emulator) }));
  const ofProcesses = all.filter(({ pids }) => pids.length > 0);
  const used = await Promise.all(
    ofProcesses.map(async ({ node, pids }) => {
      const usages = await Promise.all(pids.map(processUsage));
      const present = usages.flatMap((usage) => usage ?? []);
      if (present.length === 0) return [];
      const labels = { project_id: node.project.id, node_id: node.id, node: node.name, node_type: node.driver.kind.type };
      const sum = (key: 'cpuSeconds' | 'residentBytes') => present.reduce((total, usage) => total + usage[key], 0);
      return [{ labels, cpuSeconds: sum('cpuSeconds'), residentBytes: sum('residentBytes') }];
    }),
  );
  const values = (key: 'cpuSeconds' | 'residentBytes') => used.flat().map(({ labels, [key]: value }) => ({ labels, value }));
  return [
    counter('patchbay_node_cpu_seconds_total', "Processor time of a node's emulator", values('cpuSeconds')),
    gauge('patchbay_node_memory_bytes', "Resident memory of a node's emulator", values('residentBytes')),
  ];
}

function fabricMetrics({ cpuSeconds, residentBytes, links, loopDelay }: FabricLoad): Metric[] {
  const late = (quantile: string, ms: number) => ({ labels: { quantile }, value: ms / 1000 });
  return [
    gauge('patchbay_fabric_up', fabricUp, [{ value: 1 }]),
    counter('patchbay_fabric_cpu_seconds_total', 'Processor time of the fabric', [{ value: cpuSeconds }]),
    gauge('patchbay_fabric_memory_bytes', 'Resident memory of the fabric', [{ value: residentBytes }]),
    gauge('patchbay_fabric_links', 'Links in the fabric', [{ value: links }]),
    gauge('patchbay_fabric_event_loop_delay_seconds', "How late the fabric's event loop was since the last scrape", [
      late('0.5', loopDelay.medianMs),
      late('0.99', loopDelay.p99Ms),
      late('1', loopDelay.maxMs),
    ]),
  ];
}
