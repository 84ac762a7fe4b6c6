/**
 * Decides whether an account has a privilege on a path, as GNS3 3.x does. The entries of a user decide first, and those of the user's
 * groups only where they do not. From the full path up to `/`, the first entry whose role holds the privilege counts: it refuses, or it
 * grants when it lies on the full path or propagates. Projects in a pool follow the entries on their pools and no others.
 */
import { copiesPath } from '../api/rights.ts';
import type { Privilege } from '../schema/privilege.ts';
import type { EntryRecord, GroupRecord, PoolRecord, RoleRecord } from './records.ts';

/** An entry with the privileges of its role. */
interface AclEntry {
  readonly record: EntryRecord;
  readonly privileges: ReadonlySet<Privilege>;
  /** Position in the list of entries: of several that match, the first one counts. */
  readonly order: number;
}

type EntriesByPath = Map<string, AclEntry[]>;

/** The entries, groups and pools, indexed for decisions. */
export interface RightsIndex {
  /** Entries by the id of their user or group. */
  readonly entries: ReadonlyMap<string, EntriesByPath>;
  /** Ids of a user's groups. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Ids of the pools that hold a project. */
  readonly pools: ReadonlyMap<string, readonly string[]>;
}

export interface Subject {
  readonly userId: string;
  readonly isSuperAdmin: boolean;
}

type DecidedBy = 'superadmin' | 'user' | 'group' | 'pool' | 'nothing';

interface RightDecision {
  readonly allowed: boolean;
  readonly by: DecidedBy;
  /** The entry that decided. */
  readonly entry?: EntryRecord;
}

const refusedByNothing: RightDecision = { allowed: false, by: 'nothing' };
const allowedToAll: RightDecision = { allowed: true, by: 'superadmin' };

export function indexRights(given: {
  readonly entries: Iterable<EntryRecord>;
  readonly groups: Iterable<GroupRecord>;
  readonly pools: Iterable<PoolRecord>;
  readonly findRole: (id: string) => RoleRecord | undefined;
}): RightsIndex {
  const privilegesOf = new Map<string, ReadonlySet<Privilege>>();
  const entries = new Map<string, EntriesByPath>();
  let order = 0;
  for (const record of given.entries) {
    order += 1;
    const subject = record.ace_type === 'user' ? record.user_id : record.group_id;
    if (subject === null) continue;
    const privileges = privilegesOf.get(record.role_id) ?? new Set(given.findRole(record.role_id)?.privileges);
    privilegesOf.set(record.role_id, privileges);
    const byPath = getOrMake(entries, subject, () => new Map<string, AclEntry[]>());
    getOrMake(byPath, record.path, () => []).push({ record, privileges, order });
  }
  const groups = new Map<string, string[]>();
  for (const { user_group_id, members } of given.groups)
    for (const member of members) getOrMake(groups, member, () => []).push(user_group_id);
  const pools = new Map<string, string[]>();
  for (const { resource_pool_id, projects } of given.pools)
    for (const { project_id } of projects) getOrMake(pools, project_id, () => []).push(resource_pool_id);
  return { entries, groups, pools };
}

/** `path`: in the spelling of `/v3`, without the prefix. */
export function decide(index: RightsIndex, subject: Subject, privilege: Privilege, path: string): RightDecision {
  if (subject.isSuperAdmin) return allowedToAll;
  if (path.startsWith(copiesPath)) {
    const id = path.slice(copiesPath.length);
    const inPool = index.pools.has(id) ? decide(index, subject, privilege, `/projects/${id}`) : undefined;
    return inPool?.allowed ? inPool : decide(index, subject, privilege, '/projects');
  }
  const own = index.entries.get(subject.userId);
  const ofGroups = entriesOfGroups(index, subject.userId);
  const pools = path.startsWith('/projects/') ? index.pools.get(path.split('/', 3)[2] ?? '') : undefined;
  if (pools) return decideByPools([own ? [own] : [], ofGroups], pools, privilege);
  if (own) {
    const entry = findOnPath([own], privilege, path);
    if (entry) return { allowed: entry.allowed, by: 'user', entry };
  }
  if (ofGroups.length > 0) {
    const entry = findOnPath(ofGroups, privilege, path);
    if (entry) return { allowed: entry.allowed, by: 'group', entry };
  }
  return refusedByNothing;
}

function entriesOfGroups({ entries, groups }: RightsIndex, userId: string): EntriesByPath[] {
  const found: EntriesByPath[] = [];
  for (const id of groups.get(userId) ?? []) {
    const byPath = entries.get(id);
    if (byPath) found.push(byPath);
  }
  return found;
}

function findOnPath(sources: readonly EntriesByPath[], privilege: Privilege, path: string): EntryRecord | undefined {
  for (let level: string | undefined = path; level !== undefined; level = above(level)) {
    const entry = firstAt(sources, privilege, level);
    if (entry && (!entry.allowed || entry.propagate || level === path)) return entry;
  }
  return undefined;
}

function above(path: string): string | undefined {
  if (path === '/') return undefined;
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function firstAt(sources: readonly EntriesByPath[], privilege: Privilege, path: string): EntryRecord | undefined {
  let first: AclEntry | undefined;
  for (const byPath of sources)
    for (const entry of byPath.get(path) ?? [])
      if (entry.privileges.has(privilege) && (!first || entry.order < first.order)) first = entry;
  return first?.record;
}

/**
 * Decides by the entries on the pools of a project. An entry on `/pools` counts for each pool. A refusing entry refuses; of several pools,
 * one that grants is enough.
 */
function decideByPools(
  [own, ofGroups]: readonly [readonly EntriesByPath[], readonly EntriesByPath[]],
  pools: readonly string[],
  privilege: Privilege,
): RightDecision {
  let refused: RightDecision | undefined;
  for (const sources of [own, ofGroups]) {
    for (const pool of pools) {
      const entry = firstAt(sources, privilege, `/pools/${pool}`) ?? firstAt(sources, privilege, '/pools');
      if (entry?.allowed) return { allowed: true, by: 'pool', entry };
      if (entry) refused = { allowed: false, by: 'pool', entry };
    }
    if (refused) return refused;
  }
  return refusedByNothing;
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
