import type { Node } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';

/** GNS3 removes characters from names that are host names; a message shows the name. @throws ApiError */
export async function renameNode({ api, toasts }: App, { path }: ProjectState, nodeId: string, wanted: string): Promise<void> {
  const { name } = await api.put<Node>(`${path}/nodes/${nodeId}`, { name: wanted });
  if (name !== wanted) toasts.show('info', texts.renamed(wanted, name));
}
