/** Measures accounts: a decision, the list of projects, and requests with a login beside requests to a server without accounts. */
import { randomUUID } from 'node:crypto';
import { Client } from 'undici';
import { hashOfToken, tokenPrefix } from '../src/people/accounts.ts';
import { decide, type RightsIndex } from '../src/people/decide.ts';
import { type EntryRecord, now } from '../src/people/records.ts';
import { PeopleStore } from '../src/people/store.ts';
import { latencies, median, type Row, request, throughput } from './measure.ts';
import { type Running, startPatchbay } from './server.ts';

const counts = { users: 500, entries: 1000, projects: 1000, pools: 50, groups: 20 };
const decisions = 200_000;
const lists = 20;
const rounds = 5;
const boss = { user: 'boss', password: 'of the configuration' };
const basic = { authorization: `Basic ${Buffer.from(`${boss.user}:${boss.password}`).toString('base64')}` };
const projectIds = Array.from({ length: counts.projects }, () => randomUUID());
const userId = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** Personal access tokens: of a user who may see all projects, and of one who may see a single one. */
const tokens = { all: `${tokenPrefix}all`, one: `${tokenPrefix}one` };

export async function benchAccounts(say: (text: string) => void): Promise<Row[]> {
  say(`${counts.users} users, ${counts.entries} entries, ${counts.projects} projects`);
  let index: RightsIndex | undefined;
  const config = `[Server]\nauth = True\nuser = ${boss.user}\npassword = ${boss.password}\n`;
  const closed = await startPatchbay(config, undefined, async (folder) => {
    const store = await PeopleStore.open(folder);
    await fill(store);
    index = store.index;
    await store.close();
  });
  const open = await startPatchbay().catch(async (error: unknown) => {
    await closed.stop();
    throw error;
  });
  try {
    if (!index) throw new Error('the store was not filled');
    return [await measureDecision(index, say), ...(await measureRequests(closed, open, say))];
  } finally {
    await closed.stop();
    await open.stop();
  }
}

async function fill(store: PeopleStore): Promise<void> {
  const dates = { created_at: now(), updated_at: now() };
  const roles = store.list('role');
  const roleId = (name: string) => roles.find((role) => role.name === name)?.role_id ?? '';
  const common = {
    email: null,
    full_name: null,
    is_active: true,
    is_superadmin: false,
    last_login: null,
    hash: '',
    token_version: 0,
  };
  for (let at = 0; at < counts.users; at++)
    await store.put('user', { ...common, ...dates, user_id: userId(at), username: `user${at}` });
  for (let at = 0; at < counts.groups; at++) {
    const members = Array.from({ length: counts.users / counts.groups }, (_, one) => userId(at + one * counts.groups));
    await store.put('group', { user_group_id: `group ${at}`, name: `group ${at}`, is_builtin: false, members, ...dates });
  }
  const entry = (at: number, path: string, user: number, role = 'User'): EntryRecord => ({
    ...{ ace_id: `entry ${at}`, ace_type: 'user', path, propagate: true, allowed: true, ...dates },
    ...{ user_id: userId(user), group_id: null, role_id: roleId(role) },
  });
  // The first two users have an entry each; the others share the rest, a tenth of which is of groups.
  await store.put('entry', entry(0, '/projects', 0));
  await store.put('entry', entry(1, `/projects/${projectIds[0]}`, 1));
  for (let at = 2; at < counts.entries; at++) {
    const path = `/projects/${projectIds[at % counts.projects]}`;
    const made = entry(at, path, 2 + (at % (counts.users - 2)));
    const ofGroup = { ...made, ace_type: 'group' as const, user_id: null, group_id: `group ${at % counts.groups}` };
    await store.put('entry', at % 10 === 0 ? ofGroup : made);
  }
  for (let at = 0; at < counts.pools; at++) {
    // The last tenth of the projects is in pools.
    const pooled = projectIds.slice(-counts.projects / 10).filter((_, one) => one % counts.pools === at);
    const projects = pooled.map((project_id) => ({ project_id, at: now() }));
    await store.put('pool', { resource_pool_id: `pool ${at}`, name: `pool ${at}`, projects, ...dates });
  }
  for (const [at, name] of (['all', 'one'] as const).entries()) {
    const token = { token_id: name, user_id: userId(at), name, hash: hashOfToken(tokens[name]), privileges: null, path: null };
    await store.put('token', { ...token, created_at: now(), expires_at: null });
  }
}

async function measureDecision(index: RightsIndex, say: (text: string) => void): Promise<Row> {
  say(`${decisions} decisions`);
  const paths = projectIds.map((id) => `/projects/${id}/nodes/${id}`);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    for (let at = 0; at < decisions; at++)
      decide(index, { userId: userId(at % counts.users), isSuperAdmin: false }, 'Node.Audit', paths[at % paths.length] ?? '');
    times.push(((performance.now() - started) * 1000) / decisions);
  }
  return { what: 'a decision, µs', ours: median(times), baseline: 20, against: 'limit' };
}

async function measureRequests(closed: Running, open: Running, say: (text: string) => void): Promise<Row[]> {
  const [admin, without] = [new Client(closed.url), new Client(open.url)];
  say('projects');
  for (const [at, project_id] of projectIds.entries())
    await request(admin, { method: 'POST', path: '/v2/projects', body: { name: `p${at}`, project_id }, headers: basic });
  const nodes = `/v2/projects/${projectIds[0]}/nodes`;
  await request(without, { method: 'POST', path: '/v2/projects', body: { name: 'p0', project_id: projectIds[0] } });
  for (const [client, headers] of [[admin, basic] as const, [without, {}] as const])
    for (let at = 0; at < 20; at++)
      await request(client, {
        method: 'POST',
        path: nodes,
        headers,
        body: { name: `S${at}`, node_type: 'ethernet_hub', compute_id: 'local' },
      });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const callers = { admin: basic, all: bearer(tokens.all), one: bearer(tokens.one) };
  const times: Record<keyof typeof callers, number[]> = { admin: [], all: [], one: [] };
  const perSecond: Record<'with' | 'password' | 'without', number[]> = { with: [], password: [], without: [] };
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const [name, headers] of Object.entries(callers) as [keyof typeof callers, Record<string, string>][])
      times[name].push(...(await latencies(admin, () => ({ method: 'GET', path: '/v3/projects', headers }), lists)));
    perSecond.with.push(await throughput(closed.url, { method: 'GET', path: nodes, headers: callers.all }));
    perSecond.without.push(await throughput(open.url, { method: 'GET', path: nodes }));
    perSecond.password.push(await throughput(closed.url, { method: 'GET', path: nodes, headers: basic }));
  }
  await Promise.all([admin.close(), without.close()]);
  const list = { baseline: median(times.admin), against: 'an administrator' };
  const rate = { baseline: median(perSecond.without), against: 'a server without accounts' };
  return [
    { what: 'list of 1,000 projects by a user who may see 900, ms', ours: median(times.all), ...list },
    { what: 'list of 1,000 projects by a user who may see one, ms', ours: median(times.one), ...list },
    { what: 'list of 20 nodes with a token, requests/s', ours: median(perSecond.with), ...rate },
    { what: 'list of 20 nodes with a password, requests/s', ours: median(perSecond.password), ...rate },
  ];
}
