/** The groups and roles of a new store, as GNS3 3.x has them. */
import { createHash } from 'node:crypto';
import { type Privilege, privileges, privilegeTable } from '../schema/privilege.ts';

export const builtinGroups = ['Administrators', 'Users'] as const;

const all = (...areas: string[]) => privileges.filter((one) => areas.includes(one.slice(0, one.indexOf('.'))));
const audits = (...areas: string[]) => areas.map((area) => `${area}.Audit` as Privilege);
const project = ['Project', 'Snapshot', 'Node', 'Link', 'Drawing'];
const catalog = ['Template', 'Symbol', 'Image', 'Compute', 'Appliance'];

/** Name to description and privileges. */
export const builtinRoles: Readonly<Record<string, { readonly description: string; readonly privileges: readonly Privilege[] }>> = {
  Administrator: { description: 'Administrator role', privileges },
  User: {
    description: 'User role',
    privileges: [...all(...project), ...audits('Template', 'Symbol', 'Image', 'Compute'), 'Appliance.Allocate', 'Appliance.Audit'],
  },
  Auditor: { description: 'Role with read only access', privileges: audits(...project, ...catalog) },
  'Template manager': {
    description: 'Role to allocate and manage templates',
    privileges: all('Template', 'Symbol', 'Image', 'Appliance'),
  },
  'User manager': { description: 'Role to allocate and manage users and groups', privileges: all('User', 'Group') },
  'ACL manager': { description: 'Role to allocate and manage the ACL', privileges: all('Role', 'ACE') },
  'No Access': { description: 'Role with no privileges', privileges: [] },
};

/** Returns a UUID of version 4 that is always the same for a text: clients know built-in things by their ids. */
export function fixedId(text: string): string {
  const digits = createHash('sha256').update(`patchbay:${text}`).digest('hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

const privilegeIds = new Map(privileges.map((name) => [fixedId(`privilege ${name}`), name]));

export function findPrivilege(id: string): Privilege | undefined {
  return privilegeIds.get(id);
}

export function privilegeObject(name: Privilege, at: string) {
  return { privilege_id: fixedId(`privilege ${name}`), name, description: privilegeTable[name], created_at: at, updated_at: at };
}
