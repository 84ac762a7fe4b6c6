/** Runs something on a fork of a snapshot; the fork is deleted whatever happens, also after Ctrl-C. */
import { randomBytes } from 'node:crypto';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import type { CliCall } from '../command.ts';

export interface ForkWanted {
  readonly snapshot: Snapshot;
  readonly uplinks: boolean;
}

/** @throws RequestError when it cannot be made; the reason of the signal; what `use` throws */
export async function onFork<T>(call: CliCall, { snapshot, uplinks }: ForkWanted, use: (fork: Project) => Promise<T>): Promise<T> {
  const { project_id, snapshot_id } = snapshot;
  // A request that is cut off would leave a fork behind: it is completed, then deleted.
  const api = call.api.withoutSignal();
  const name = `bisect ${randomBytes(4).toString('hex')}`;
  try {
    call.signal.throwIfAborted();
    const forked = `/v2/projects/${project_id}/snapshots/${snapshot_id}/fork`;
    const [fork] = await api.json<Project[]>('POST', forked, { name, uplinks });
    if (!fork) throw new Error(`${forked} was answered without a project`);
    call.signal.throwIfAborted();
    return await use(fork);
  } finally {
    // By its name: it may exist although the answer was an error or was lost.
    await deleteProject(call, name);
  }
}

async function deleteProject({ api, out }: CliCall, name: string): Promise<void> {
  const client = api.withoutSignal();
  try {
    const all = await client.json<Project[]>('GET', '/v2/projects');
    for (const project of all.filter((each) => each.name === name))
      await client.json('DELETE', `/v2/projects/${project.project_id}`);
  } catch (error) {
    out.note(`The fork "${name}" could not be deleted: ${(error as Error).message}. Delete it when the server answers`);
  }
}
