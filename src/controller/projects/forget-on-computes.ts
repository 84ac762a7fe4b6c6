/** Remote computes have their own files of a project's nodes. */
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { readProject } from '../log/project-state.ts';
import type { KnownProject } from './project.ts';

/**
 * Has the files of a project removed on all computes that have or had nodes of it, as they keep folders of deleted nodes. Returns the computes
 * that keep them, as they do not answer. `alsoOn`: computes that had nodes of it before.
 */
export async function forgetElsewhere(
  project: KnownProject,
  computes: Computes,
  alsoOn: readonly RegisteredCompute[] = [],
): Promise<readonly RegisteredCompute[]> {
  if (!computes.all().some(({ isLocal }) => !isLocal)) return [];
  // `KnownProject.stored` would wait for the deletion that waits for this.
  const state = await readProject(project.file).catch(() => undefined);
  const used = new Set(alsoOn);
  for (const id of state?.pastComputes ?? []) {
    const compute = computes.find(id);
    if (compute) used.add(compute);
  }
  // The server died before it had recorded the first node there.
  for (const compute of computes.all()) if (computes.temporary.isUsed(project.id, compute)) used.add(compute);
  const keeping: RegisteredCompute[] = [];
  for (const compute of used) {
    if (compute.isLocal) continue;
    if (await forgetOn(compute, project)) await computes.temporary.removed(project.id, compute);
    else keeping.push(compute);
  }
  return keeping;
}

/** Has one remote compute remove its files of a project. @returns whether it has */
async function forgetOn(
  { transport }: RegisteredCompute,
  { id: project_id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  if (!transport.state.connected) return false;
  return transport
    .send('POST /v2/compute/projects', { body: { name, project_id } })
    .then(() => transport.send('DELETE /v2/compute/projects/{project_id}', { path: { project_id } }))
    .then(
      () => true,
      () => false,
    );
}
