/** The first start with logins and without a password: an address, printed once, by which the first administrator sets one. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';

let server: RunningServer;
let client: RawClient;
before(async () => {
  server = await startServer({ config: { Server: { auth: true, user: 'chief' } } });
  client = new RawClient(server.url);
});
after(() => server.stop());

const address = () =>
  /^No administrator has a password yet\. Set that of chief .*: (\S+)\/setup#(\S+)$/m.exec(server.output()) ?? [];
const tokenOfStart = () => address()[2] ?? '';
const statusFor = async (password: string) =>
  (await new RawClient(server.url, { authorization: `Basic ${btoa(`chief:${password}`)}` }).send('GET /v2/projects')).status;
const set = (token: string, password: string) => client.send('POST /v3/access/setup', { body: { token, password } });

test('no password logs in before one is set, and no other request is answered', async () => {
  for (const password of ['', 'admin', 'chief']) assert.equal(await statusFor(password), 401, password);
  expectStatus(await client.send('GET /v3/projects'), 401);
  expectStatus(await client.send('POST /v3/access/users/login', { raw: 'username=chief&password=' }), 401);
});

test('a wrong token, and a password that is too short, change nothing', async () => {
  assert.equal(address()[1], server.url);
  assert.match(tokenOfStart(), /^[\w-]{43}$/);
  for (const token of ['', 'wrong', tokenOfStart().slice(1)]) {
    const answer = expectStatus(await set(token, 'long-enough'), 403);
    assert.equal(answer.headers['x-error-code'], 'setup_refused');
  }
  expectStatus(await set(tokenOfStart(), 'short'), 422);
  assert.equal(await statusFor('long-enough'), 401);
});

test('each start prints an address of its own, and the one before has ended', async () => {
  const token = tokenOfStart();
  await server.kill9();
  await server.restart();
  assert.notEqual(tokenOfStart(), token);
  expectStatus(await set(token, 'long-enough'), 403);
});

test('guesses of a client are answered later and later, and refused while too many wait', async () => {
  const statuses: number[] = [];
  // Most of the others are answered after seconds: the restart ends them.
  for (let index = 0; index < 20; index++)
    void set(`guess-${index}`, 'long-enough').then(
      ({ status }) => statuses.push(status),
      () => undefined,
    );
  await waitFor(() => statuses.filter((status) => status === 429).length >= 7, { what: 'guesses that are refused' });
  assert.deepEqual(new Set(statuses), new Set([403, 429]));
  await server.restart();
});

test('the address sets the password once, of several requests at once too, and it survives a kill', async () => {
  const token = tokenOfStart();
  const answers = await Promise.all(['first-password', 'other-password'].map((password) => set(token, password)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 403]);
  const password = answers[0]?.status === 204 ? 'first-password' : 'other-password';
  await server.kill9();
  await server.restart();
  assert.equal(await statusFor(password), 200);
  assert.equal(tokenOfStart(), '');
  expectStatus(await set(token, 'third-password'), 403);
  const log = await readFile(join(server.dataDir, 'people/people.log'), 'utf8');
  assert.ok(!log.includes(password) && !log.includes(token) && !server.log().includes(token));
});

test('the first administrator changes that password, but not its name', async () => {
  const password = (await statusFor('first-password')) === 200 ? 'first-password' : 'other-password';
  const admin = new RawClient(server.url, { authorization: `Basic ${btoa(`chief:${password}`)}` });
  const { user_id } = await admin.get<{ user_id: string }>('/v3/access/users/me');
  expectStatus(await admin.send(`PUT /v3/access/users/${user_id}`, { body: { username: 'other' } }), 403);
  expectStatus(await admin.send(`PUT /v3/access/users/${user_id}`, { body: { is_active: false } }), 403);
  expectStatus(await admin.send('PUT /v3/access/users/me', { body: { password: 'changed-later' } }), 200);
  assert.equal(await statusFor(password), 401);
  assert.equal(await statusFor('changed-later'), 200);
});
