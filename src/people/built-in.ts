/** The groups and roles of a new store, as GNS3 3.x has them. */
import { fixedId } from '../lib/fixed-id.ts';
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

const privilegeIds = new Map(privileges.map((name) => [fixedId(`privilege ${name}`), name]));

export function findPrivilege(id: string): Privilege | undefined {
  return privilegeIds.get(id);
}

export function privilegeObject(name: Privilege, at: string) {
  return { privilege_id: fixedId(`privilege ${name}`), name, description: privilegeTable[name], created_at: at, updated_at: at };
}
