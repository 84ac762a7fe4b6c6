import { now, type PoolRecord } from './records.ts';
import type { PeopleStore } from './store.ts';

/** Adds a project to the pools of another one; resolves when that is on disk. Returns the removal from these pools. */
export async function joinPools(store: PeopleStore, source: string, copy: string): Promise<() => Promise<void>> {
  const holds = ({ projects }: PoolRecord, id: string) => projects.some(({ project_id }) => project_id === id);
  const joined = store.list('pool').filter((pool) => holds(pool, source) && !holds(pool, copy));
  await change(store, joined, (projects) => [...projects, { project_id: copy, at: now() }]);
  return () => {
    const ids = new Set(joined.map(({ resource_pool_id }) => resource_pool_id));
    const present = store.list('pool').filter(({ resource_pool_id }) => ids.has(resource_pool_id));
    return change(store, present, (projects) => projects.filter(({ project_id }) => project_id !== copy));
  };
}

async function change(
  store: PeopleStore,
  pools: readonly PoolRecord[],
  projectsOf: (before: PoolRecord['projects']) => PoolRecord['projects'],
): Promise<void> {
  const changed = pools.map((pool) => ({ ...pool, projects: projectsOf(pool.projects), updated_at: now() }));
  if (changed.length > 0) await store.putAll(new Map(changed.map((pool) => [store.keyOf('pool', pool), pool])));
}
