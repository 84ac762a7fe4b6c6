/** The account store: what was answered is there after a restart, and a damaged file is not used. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { isFault } from '../api/faults.ts';
import { fixedId } from '../lib/fixed-id.ts';
import { Accounts } from './accounts.ts';
import { isBcrypt } from './bcrypt.ts';
import { createUser } from './routes/user-routes.ts';
import { PeopleStore, StoreBroken } from './store.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'people-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const configured = { user: 'boss', password: 'of the configuration' };
const client = '10.0.0.1';
/** Most tests are about accounts, not about the strength of hashes. */
const cost = { N: 2 ** 10, r: 8, p: 1 };
const open = async () => Accounts.open(await PeopleStore.open(folder), { configured, cost });

it('accounts, their entries and their tokens live through a restart, and go with their user', async () => {
  const first = await open();
  const { user_id } = await createUser(first, { username: 'alice', password: 'alice-secret' });
  const times = { created_at: '', updated_at: '' };
  const role_id = fixedId('role User');
  const entry = {
    ace_id: 'e',
    ace_type: 'user' as const,
    path: '/projects',
    propagate: true,
    allowed: true,
    user_id,
    group_id: null,
    role_id,
  };
  await first.store.put('entry', { ...entry, ...times });
  const group = first.store.get('group', fixedId('group Users'));
  await first.store.put('group', { ...group, members: [user_id] });
  const { access_token } = await first.tokensOf(first.getUser(user_id));
  await first.store.close();

  const second = await open();
  const caller = await second.signIn({ user: 'alice', password: 'alice-secret', client });
  assert.equal(caller?.may('Project.Audit', '/projects/x'), true);
  assert.equal((await second.bearer(access_token))?.userId, user_id);
  assert.equal((await stat(join(folder, 'people'))).mode & 0o777, 0o700);
  assert.equal((await stat(join(folder, 'people/jwt_secret_key'))).mode & 0o777, 0o600);
  await second.store.remove('user', user_id);
  assert.equal(caller?.isValid(), false);
  assert.equal(await second.bearer(access_token), undefined);
  await second.store.close();

  const third = await PeopleStore.open(folder);
  assert.deepEqual([third.list('user'), third.list('entry'), third.get('group', group.user_group_id).members], [[], [], []]);
  await third.close();
});

it('hashes of a server have the standard cost, and others are replaced at the login', async () => {
  const cheap = await open();
  const { store, passwords } = await Accounts.open(cheap.store, { configured });
  const [hash, other] = await Promise.all([passwords.hash('secret'), cheap.passwords.hash('secret')]);
  assert.match(hash, /^scrypt\$32768\$8\$3\$/);
  assert.deepEqual([passwords.isOld(hash), passwords.isOld(other)], [false, true]);
  for (const one of [hash, other])
    assert.deepEqual([await passwords.verify('secret', one, client), await passwords.verify('Secret', one, client)], [true, false]);
  await store.close();
});

it('an empty hash, a hash of another program and a wrong password are refused', async () => {
  const accounts = await open();
  const user = await createUser(accounts, { username: 'bob', password: 'bob-secret' });
  for (const hash of ['', '*', 'bob-secret', 'scrypt$999999$99$9$aa$bb', '$2b$12$x']) {
    await accounts.store.put('user', { ...user, hash });
    for (const password of ['', hash, 'bob-secret'])
      assert.equal(await accounts.passwords.verify(password, hash, client), false, `${hash}: ${password}`);
  }
  assert.equal(await accounts.signIn({ user: 'bob', password: 'bob-secret', client: '10.0.0.2' }), undefined);
  assert.equal(await accounts.signIn({ user: 'boss', password: 'wrong', client: '10.0.0.2' }), undefined);
  assert.equal((await accounts.signIn({ user: 'boss', password: configured.password, client: '10.0.0.2' }))?.isSuperAdmin, true);
  await accounts.store.close();
});

// Test vectors of crypt_blowfish, the reference implementation of bcrypt.
const bcryptVectors = [
  ['U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy'],
] as const;

it('a bcrypt hash of an imported account is verified, and replaced at the login', async () => {
  const accounts = await open();
  const [password, hash] = bcryptVectors[0];
  const user = await createUser(accounts, { username: 'imported', password: 'to-be-replaced' });
  await accounts.store.put('user', { ...user, hash });
  const signIn = (given: string) => accounts.signIn({ user: 'imported', password: given, client: '10.0.0.3' });
  for (const wrong of ['U*V', '', hash]) assert.equal(await signIn(wrong), undefined, wrong);
  assert.equal(accounts.store.get('user', user.user_id).hash, hash);
  // Accounts with hashes of both kinds, and unknown ones, log in as before.
  await createUser(accounts, { username: 'beside', password: 'beside-secret' });
  assert.equal((await accounts.signIn({ user: 'beside', password: 'beside-secret', client }))?.username, 'beside');
  assert.equal(await accounts.signIn({ user: 'unknown', password, client: '10.0.0.4' }), undefined);
  assert.equal((await signIn(password))?.userId, user.user_id);
  const renewed = accounts.store.get('user', user.user_id).hash;
  assert.match(renewed, /^scrypt\$/);
  assert.equal(await accounts.passwords.verify(password, renewed, client), true);
  assert.equal((await signIn(password))?.userId, user.user_id);
  for (const name of ['imported', 'beside']) await accounts.store.remove('user', accounts.store.userNamed(name)?.user_id ?? '');
  await accounts.store.close();
});

it('a bcrypt hash of an empty password, of a large cost or a wrong length admits no one', async () => {
  const accounts = await open();
  const [empty, hash] = bcryptVectors[1];
  assert.equal(await accounts.passwords.verify(empty, hash, client, true), true);
  const [, good] = bcryptVectors[0];
  const others = ['$31$', '$03$'].map((cost) => good.replace('$05$', cost));
  for (const wrong of [...others, `${good}x`, good.slice(0, -1), good.replace('$2a', '$2x')])
    assert.equal(isBcrypt(wrong), false, wrong);
  const user = await createUser(accounts, { username: 'blank', password: 'to-be-replaced' });
  await accounts.store.put('user', { ...user, hash });
  assert.equal(await accounts.signIn({ user: 'blank', password: '', client: '10.0.0.5' }), undefined);
  await accounts.store.remove('user', user.user_id);
  await accounts.store.close();
});

it('a logout, a new version and a refresh token as a bearer are refused', async () => {
  const accounts = await open();
  const user = await createUser(accounts, { username: 'carol', password: 'carol-secret' });
  const { access_token, refresh_token } = await accounts.tokensOf(user);
  const remembered = await accounts.signIn({ user: 'carol', password: 'carol-secret', client });
  assert.equal(await accounts.bearer(refresh_token), undefined);
  assert.equal((await accounts.refresh(refresh_token)).user_id, user.user_id);
  await assert.rejects(accounts.refresh(access_token), (error) => isFault(error, 'wrong_login'));
  await accounts.store.put('user', { ...user, token_version: 1 });
  assert.equal(await accounts.bearer(access_token), undefined);
  assert.equal(remembered?.isValid(), false);
  await assert.rejects(accounts.refresh(refresh_token), (error) => isFault(error, 'wrong_login'));
  await accounts.store.close();
});

it('changes of one record at the same time are all kept, and one that the disk refuses is none', async () => {
  const { store } = await open();
  const id = fixedId('group Users');
  const add = (member: string) => {
    const group = store.get('group', id);
    return store.put('group', { ...group, members: [...group.members, member] });
  };
  await Promise.all(['a', 'b', 'c'].map(add));
  await store.close();
  const next = await PeopleStore.open(folder);
  assert.deepEqual(next.get('group', id).members, ['a', 'b', 'c']);
  await next.close();
  await assert.rejects(next.put('group', { ...next.get('group', id), members: [] }));
  assert.deepEqual(next.get('group', id).members, ['a', 'b', 'c']);
});

for (const [what, damage] of [
  ['a text', (path: string) => writeFile(path, 'no key')],
  ['a long file', (path: string) => writeFile(path, '0'.repeat(10_000))],
  ['a folder', (path: string) => rm(path).then(() => mkdir(path))],
] as const)
  it(`a key that is ${what} is set aside, and tokens of the one before have ended`, async () => {
    const first = await open();
    const { access_token } = await first.tokensOf(first.administrator);
    await first.store.close();
    const path = join(folder, 'people/jwt_secret_key');
    await damage(path);
    const warnings: string[] = [];
    const options = { configured, cost, warn: (message: string) => warnings.push(message) };
    const second = await Accounts.open(await PeopleStore.open(folder), options);
    assert.equal(await second.bearer(access_token), undefined);
    assert.match(warnings.join(), /holds no key .* moved to /);
    assert.match(await readFile(path, 'utf8'), /^[0-9a-f]{64}\n$/);
    await second.store.close();
  });

it('a file in the place of the folder is named', async () => {
  const data = join(folder, 'other');
  await mkdir(data);
  await writeFile(join(data, 'people'), '');
  await assert.rejects(PeopleStore.open(data), (error) => error instanceof StoreBroken && error.path === join(data, 'people'));
});

it('a damaged store is not used, and not changed', async () => {
  const path = join(folder, 'people/people.log');
  const text = await readFile(path, 'utf8');
  const damaged = text.replace('"Auditor"', '"auditor"');
  await writeFile(path, damaged);
  await assert.rejects(PeopleStore.open(folder), StoreBroken);
  assert.equal(await readFile(path, 'utf8'), damaged);
});
