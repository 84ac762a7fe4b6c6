/**
 * GNS3 3.0.6's recording, replayed: same statuses. Each intended difference is a row of `divergences.tsv`; a difference without a row
 * fails, and so does a row without a difference. The calls that 3.1.0a2 answers otherwise are rows of `divergences-3.1.tsv`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RawClient } from '../../support/raw-http.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { readDivergences3 } from './divergences.ts';
import { Replay3 } from './replay.ts';

/** Sections in the order in which they were recorded: later ones count on what earlier ones left. */
const sections = [
  ...['projects', 'nodes', 'links', 'drawings', 'images', 'templates', 'symbols', 'appliances', 'computes', 'snapshots', 'misc'],
];
/** Sections of the server's accounts, which need logins. */
const accountSections = ['anon', 'compute', 'users', 'groups', 'roles', 'acl', 'rbac', 'pools'];
const divergences = await readDivergences3('divergences.tsv');
const of31 = await readDivergences3('divergences-3.1.tsv');

describe('the recording of GNS3 3.0.6', () => {
  let server: RunningServer;
  let client: RawClient;
  let replay: Replay3;

  before(async () => {
    server = await startServer({
      args: ['--no-local'],
      config: { Qemu: { acceleration: 'off' }, Server: { remote_duplicate: true } },
    });
    client = new RawClient(server.url);
    replay = new Replay3(client);
  });
  after(async () => {
    client?.close();
    await server?.stop();
  });

  for (const section of sections) it(section, () => compare(replay, section));

  it('has a reason for every difference', () => {
    for (const row of divergences)
      assert.ok([...sections, ...accountSections].includes(row.section) && row.reason, JSON.stringify(row));
  });

  it('has a reason where neither generation answers alike', () => {
    for (const { name, gns3, ours, reason } of of31) assert.equal(reason === '', gns3 === ours, name);
  });

  it('differs in at most 60 statuses beside those of GNS3 3.1, and failures of GNS3', () => {
    const others = divergences.filter(({ gns3, reason }) => gns3 !== 500 && !reason.includes('GNS3 3.1'));
    assert.ok(others.length <= 60, String(others.length));
  });
});

describe('the recording of GNS3 3.0.6, with accounts', () => {
  const login = { username: 'admin', password: 'admin' };
  let server: RunningServer;
  let client: RawClient;
  let replay: Replay3;

  before(async () => {
    server = await startServer({
      args: ['--no-local'],
      config: {
        Qemu: { acceleration: 'off' },
        // GNS3 allows every port of the own machine.
        Server: {
          auth: true,
          user: login.username,
          password: login.password,
          allowed_origins: 'http://localhost:4200',
          remote_duplicate: true,
        },
      },
    });
    client = new RawClient(server.url);
    replay = new Replay3(client);
    await replay.logIn(login);
  });
  after(async () => {
    client?.close();
    await server?.stop();
  });

  for (const section of accountSections) it(section, () => compare(replay, section));
});

/** Replays a section and compares its differences with the intended ones. */
async function compare(replay: Replay3, section: string): Promise<void> {
  const answered = await replay.section(section);
  for (const row of of31.filter((one) => one.section === section)) {
    const { status, text } = answered.find(({ call }) => call.name === row.name && call.call === row.call) ?? assert.fail(row.name);
    assert.equal(status, row.ours, `${row.name}, which GNS3 3.1 answers with ${row.gns3}: ${text}`);
  }
  const differing = answered.filter(({ call, status }) => call.status !== status);
  const found = differing.map(({ call, status, text }) => ({
    key: [call.name, call.call, call.status, status].join('\t'),
    text,
  }));
  const known = divergences
    .filter((row) => row.section === section)
    .map(({ name, call, gns3, ours }) => [name, call, gns3, ours].join('\t'));
  const keys = found.map(({ key }) => key);
  const unknown = found.filter(({ key }) => !known.includes(key)).map(({ key, text }) => `${key}: ${text}`);
  assert.deepEqual(unknown, []);
  assert.deepEqual(
    known.filter((row) => !keys.includes(row)),
    [],
    'rows without a difference',
  );
}
