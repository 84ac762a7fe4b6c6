/** The decision, by the facts that GNS3 3.0.6 was seen to answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Privilege } from '../schema/privilege.ts';
import { builtinRoles } from './built-in.ts';
import { decide, indexRights } from './decide.ts';
import type { EntryRecord, RoleRecord } from './records.ts';

const dated = { created_at: '', updated_at: '' };
const one = '/projects/one';
const role = (name: string): RoleRecord => ({
  ...{ role_id: name, name, description: null, is_builtin: true, ...dated },
  privileges: builtinRoles[name]?.privileges ?? (name as Privilege).split(' ').map((text) => text as Privilege),
});

interface Given {
  readonly to?: 'user' | 'group';
  readonly role: string;
  readonly path: string;
  readonly propagate?: boolean;
  readonly allowed?: boolean;
}

/** Decides requests of a user, who is a member of a group, in the presence of entries. `pooled`: projects of the pool `p`. */
function may(given: readonly Given[], pooled: readonly string[] = []) {
  const entries = given.map(
    ({ to = 'user', role: role_id, path, propagate = true, allowed = true }, at): EntryRecord => ({
      ...{ ace_id: String(at), ace_type: to, path, propagate, allowed, role_id, ...dated },
      user_id: to === 'user' ? 'u' : null,
      group_id: to === 'group' ? 'g' : null,
    }),
  );
  const index = indexRights({
    entries,
    groups: [{ user_group_id: 'g', name: 'g', is_builtin: false, members: ['u'], ...dated }],
    pools: [{ resource_pool_id: 'p', name: 'p', projects: pooled.map((project_id) => ({ project_id, at: '' })), ...dated }],
    findRole: role,
  });
  return (privilege: Privilege, path: string) => decide(index, { userId: 'u', isSuperAdmin: false }, privilege, path).allowed;
}

describe('a user with entries', () => {
  it('without any may do nothing', () => assert.equal(may([])('Project.Audit', one), false));

  it('has the privileges of the role below the path, where the entry propagates', () => {
    const all = may([{ role: 'User', path: '/projects' }]);
    assert.deepEqual(
      [all('Node.Audit', `${one}/nodes/n`), all('Project.Modify', one), all('User.Audit', '/access/users')],
      [true, true, false],
    );
    const flat = may([{ role: 'User', path: '/projects', propagate: false }]);
    assert.deepEqual([flat('Project.Audit', '/projects'), flat('Project.Audit', one)], [true, false]);
    const auditor = may([{ role: 'Auditor', path: one, propagate: false }]);
    assert.deepEqual([auditor('Project.Audit', one), auditor('Node.Audit', `${one}/nodes`)], [true, false]);
  });

  it('is refused by the nearest entry, also where that does not propagate', () => {
    const given = [
      { role: 'User', path: '/projects' },
      { role: 'User', path: one, allowed: false, propagate: false },
    ];
    const asked = may(given);
    assert.deepEqual([asked('Node.Audit', `${one}/nodes`), asked('Node.Audit', '/projects/two/nodes')], [false, true]);
    const child = may([
      { role: 'User', path: '/projects', allowed: false },
      { role: 'User', path: one },
    ]);
    assert.deepEqual([child('Project.Audit', one), child('Project.Audit', '/projects/two')], [true, false]);
  });

  it('is refused nothing by No Access, whose entries match no privilege', () => {
    assert.equal(
      may([
        { role: 'User', path: '/projects' },
        { role: 'No Access', path: one },
      ])('Project.Audit', one),
      true,
    );
  });

  it('has nodes and not their project by an entry on the nodes', () => {
    const asked = may([{ role: 'User', path: `${one}/nodes` }]);
    assert.deepEqual(
      [asked('Node.PowerMgmt', `${one}/nodes/n/stop`), asked('Project.Audit', one), asked('Link.Audit', `${one}/links`)],
      [true, false, false],
    );
  });

  it('is decided by the own entries before those of groups', () => {
    const group: Given = { to: 'group', role: 'User', path: '/projects' };
    assert.equal(may([group])('Project.Modify', one), true);
    assert.equal(may([group, { role: 'User', path: one, allowed: false }])('Project.Audit', one), false);
    assert.equal(may([group, { role: 'User', path: one, allowed: false }])('Project.Audit', '/projects/two'), true);
    const forbidden = may([
      { ...group, allowed: false },
      { role: 'Auditor', path: '/projects' },
    ]);
    assert.deepEqual([forbidden('Project.Audit', one), forbidden('Project.Modify', one)], [true, false]);
  });

  it('follows the entries on the pool for its projects, and no others', () => {
    const pooled = ['one'];
    for (const path of ['/', '/projects', one])
      assert.equal(may([{ role: 'User', path }], pooled)('Project.Audit', one), false, path);
    const user = may([{ role: 'User', path: '/pools/p' }], pooled);
    assert.deepEqual(
      [user('Project.Audit', one), user('Node.PowerMgmt', `${one}/nodes/n/stop`), user('Project.Audit', '/projects/two')],
      [true, true, false],
    );
    assert.equal(user('Project.Allocate', '/projects'), false);
    const auditors = may([{ to: 'group', role: 'Auditor', path: '/pools/p' }], pooled);
    assert.deepEqual([auditors('Project.Audit', one), auditors('Project.Modify', one)], [true, false]);
    assert.equal(may([{ role: 'User', path: '/pools/q' }], pooled)('Project.Audit', one), false);
  });

  it('is refused by an entry on the pool that refuses, and not stopped by one on all pools', () => {
    assert.equal(may([{ role: 'User', path: '/pools/p', allowed: false }], ['one'])('Project.Audit', one), false);
    assert.equal(may([{ role: 'User', path: '/pools' }], ['one'])('Project.Audit', one), true);
    const both = may(
      [
        { role: 'User', path: '/pools/p', allowed: false },
        { to: 'group', role: 'User', path: '/pools/p' },
      ],
      ['one'],
    );
    assert.equal(both('Project.Audit', one), false);
  });
});
