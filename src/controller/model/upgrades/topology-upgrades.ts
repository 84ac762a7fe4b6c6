/**
 * Brings older project files to the present revision, one step each. The steps name kinds of node because the old files did things
 * differently for some of them; nothing else may. Source: the history of GNS3's format (revision 5: 2.0 alpha … 9: 2.2).
 */

/** Files of 1.x have another structure altogether: `upgrades/from-1x.ts`. */
export const oldestRevision = 5;

const steps: readonly { readonly from: number; readonly apply: (project: Raw) => Raw }[] = [
  {
    from: 5,
    apply: (project) =>
      eachNode(project, (node) => ({
        ...node,
        ...(node.console_type === 'serial' && { console_type: 'telnet' }),
        properties: ['vmware', 'virtualbox'].includes(String(node.node_type))
          ? without(node.properties, ['enable_remote_console'])
          : node.properties,
      })),
  },
  // The step from 6 to 7 only moved files of one kind: `upgrades/files.ts`.
  { from: 6, apply: (project) => project },
  {
    from: 7,
    apply: (project) =>
      eachNode(project, (node) => ({ ...node, properties: without(node.properties, obsoleteFiles[String(node.node_type)] ?? []) })),
  },
  {
    from: 8,
    apply: (project) => ({
      ...eachNode(project, (node) => ({
        ...node,
        ...(node.console_type === null && { console_type: noConsoleOf(node.node_type) }),
        properties: ['qemu', 'vmware', 'virtualbox'].includes(String(node.node_type))
          ? withOnClose(node.properties)
          : node.properties,
      })),
      ...('grid_size' in project && { drawing_grid_size: project.grid_size }),
    }),
  },
];

const configFiles = ['startup_config', 'private_config', 'startup_config_content', 'private_config_content'];
const obsoleteFiles: Readonly<Record<string, readonly string[]>> = {
  vpcs: ['startup_script_path', 'startup_script'],
  dynamips: configFiles,
  iou: configFiles,
};

export function upgrade(project: Raw, revision: number): Raw {
  let upgraded = project;
  for (const step of steps) {
    if (step.from >= revision) upgraded = { ...step.apply(upgraded), revision: step.from + 1 };
  }
  return upgraded;
}

function eachNode(project: Raw, change: (node: Raw) => Raw): Raw {
  const topology = project.topology as Raw | undefined;
  if (!topology || !Array.isArray(topology.nodes)) return project;
  const nodes = topology.nodes.map((node: unknown) => (typeof node === 'object' && node !== null ? change(node as Raw) : node));
  return { ...project, topology: { ...topology, nodes } };
}

function without(properties: unknown, keys: readonly string[]): unknown {
  if (typeof properties !== 'object' || properties === null) return properties;
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}

function withOnClose(properties: unknown): unknown {
  if (typeof properties !== 'object' || properties === null) return properties;
  const { acpi_shutdown: _shutdown, save_vm_state: saves, ...rest } = properties as Raw;
  return { ...rest, on_close: rest.on_close ?? (saves === true ? 'save_vm_state' : 'power_off') };
}

import { noConsoleOf } from '../no-console.ts';
import type { Raw } from './raw.ts';
