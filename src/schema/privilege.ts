/** The privileges of GNS3 3.x, of which roles are made. Source: `GET /v3/access/privileges` of its server 3.0.6. */

/** Privilege to its description, in GNS3's order. */
export const privilegeTable = {
  'User.Allocate': 'Create or delete a user',
  'User.Audit': 'View a user',
  'User.Modify': 'Update a user',
  'Group.Allocate': 'Create or delete a group',
  'Group.Audit': 'View a group',
  'Group.Modify': 'Update a group',
  'Role.Allocate': 'Create or delete a role',
  'Role.Audit': 'View a role',
  'Role.Modify': 'Update a role',
  'ACE.Allocate': 'Create or delete an ACE',
  'ACE.Audit': 'View an ACE',
  'ACE.Modify': 'Update an ACE',
  'Pool.Allocate': 'Create or delete a resource pool',
  'Pool.Audit': 'View a resource pool',
  'Pool.Modify': 'Update a resource pool',
  'Template.Allocate': 'Create or delete a template',
  'Template.Audit': 'View a template',
  'Template.Modify': 'Update a template',
  'Project.Allocate': 'Create or delete a project',
  'Project.Audit': 'View a project',
  'Project.Modify': 'Update a project',
  'Snapshot.Allocate': 'Create or delete snapshots',
  'Snapshot.Restore': 'Restore a snapshot',
  'Snapshot.Audit': 'View a snapshot',
  'Node.Allocate': 'Create or delete a node',
  'Node.Audit': 'View a node',
  'Node.Modify': 'Update a node',
  'Node.Console': 'Console access to a node',
  'Node.PowerMgmt': 'Start, stop, suspend or reload a node',
  'Link.Allocate': 'Create or delete a link',
  'Link.Audit': 'View a link',
  'Link.Modify': 'Update a link',
  'Link.Capture': 'Capture the traffic of a link',
  'Drawing.Allocate': 'Create or delete a drawing',
  'Drawing.Audit': 'View a drawing',
  'Drawing.Modify': 'Update a drawing',
  'Symbol.Allocate': 'Create or delete a symbol',
  'Symbol.Audit': 'View a symbol',
  'Image.Allocate': 'Create or delete an image',
  'Image.Audit': 'View an image',
  'Compute.Allocate': 'Create or delete a compute',
  'Compute.Modify': 'Update a compute',
  'Compute.Audit': 'View a compute',
  'Appliance.Allocate': 'Create or delete an appliance',
  'Appliance.Audit': 'View an appliance',
} as const;

export type Privilege = keyof typeof privilegeTable;

export const privileges = Object.keys(privilegeTable) as readonly Privilege[];

export function isPrivilege(text: string): text is Privilege {
  return Object.hasOwn(privilegeTable, text);
}
