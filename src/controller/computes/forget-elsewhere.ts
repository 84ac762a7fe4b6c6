/** Computes elsewhere have files of a project's nodes of their own. */

import type { Project } from '../projects/project.ts';
import type { Compute } from './compute.ts';
import type { Computes } from './computes.ts';

/** Has them removed there; a compute that does not answer keeps them. `alsoOn`: computes that had nodes of it before. */
export async function forgetElsewhere(project: Project, computes: Computes, alsoOn: readonly Compute[] = []): Promise<void> {
  const state = await project.stored().catch(() => undefined);
  const used = new Set(alsoOn);
  for (const node of state?.nodes.values() ?? []) {
    const compute = computes.find(node.compute_id);
    if (compute) used.add(compute);
  }
  const path = { project_id: project.id };
  for (const { isLocal, transport } of used) {
    if (isLocal || !transport.state.connected) continue;
    await transport
      .call('POST /v2/compute/projects', { body: { name: project.name, ...path } })
      .then(() => transport.call('DELETE /v2/compute/projects/{project_id}', { path }))
      .catch(() => undefined);
  }
}
