/** Remote computes have their own files of a project's nodes. */

import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { KnownProject } from './project.ts';

/** Has them removed there; a compute that does not answer keeps them. `alsoOn`: computes that had nodes of it before. */
export async function forgetElsewhere(
  project: KnownProject,
  computes: Computes,
  alsoOn: readonly RegisteredCompute[] = [],
): Promise<void> {
  if (!computes.all().some(({ isLocal }) => !isLocal)) return;
  const state = await project.stored().catch(() => undefined);
  const used = new Set(alsoOn);
  for (const node of state?.nodes.values() ?? []) {
    const compute = computes.find(node.compute_id);
    if (compute) used.add(compute);
  }
  for (const compute of used) await forgetOn(compute, project);
}

/** Has one remote compute remove its files of a project. */
export async function forgetOn(
  { isLocal, transport }: RegisteredCompute,
  { id: project_id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  if (isLocal || !transport.state.connected) return;
  await transport
    .send('POST /v2/compute/projects', { body: { name, project_id } })
    .then(() => transport.send('DELETE /v2/compute/projects/{project_id}', { path: { project_id } }))
    .catch(() => undefined);
}
