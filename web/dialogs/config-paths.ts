/** The paths of files that configure a node. */
import type { Node } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';

export const startupFile = (app: App, { node_type }: Node) => app.server.kinds.value.get(node_type)?.lab.startup_file;

/** Files that a node of its kind has: its start-up configuration, the folders that a container keeps, a config disk's files. */
export function configFiles(app: App, node: Node): string[] {
  const { extra_volumes, create_config_disk } = node.properties as { extra_volumes?: unknown; create_config_disk?: unknown };
  const volumes = Array.isArray(extra_volumes) ? extra_volumes.map((one) => `${String(one).replace(/^\/+|\/+$/g, '')}/`) : [];
  return [startupFile(app, node) ?? '', ...volumes, create_config_disk === true ? 'config.zip' : ''].filter(Boolean);
}
