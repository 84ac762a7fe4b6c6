/** The checks of a lab file, run by the server on an open project with the rights of the client. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import type { LinkCapture } from '../../src/schema/capture.ts';
import type { LabCheckLine } from '../../src/schema/lab.ts';
import type { Link } from '../../src/schema/link.ts';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { withServer } from '../support/with-server.ts';

const boss = { user: 'boss', password: 'of the configuration' };
const basic = ({ user, password }: typeof boss) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const { server } = await withServer({ config: { Server: { auth: true, ...boss } } });
const client = new RawClient(server.url, basic(boss));
const linesOf = <T>(text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

async function apply(lab: string): Promise<string> {
  const answer = expectStatus(await client.send('POST /v2/labs/apply', { body: { lab, start: true }, limitMs: 120_000 }), 200);
  const { project_id, failure } = linesOf<{ project_id?: string; failure?: string }>(answer.text()).at(-1) ?? {};
  return project_id ?? assert.fail(failure);
}

const pair = (name: string, checks: readonly object[], test: object = {}) =>
  JSON.stringify({
    name,
    nodes: { 'PC[1-2]': { kind: 'vpcs', config: 'ip 10.0.0.$' + '{index}/24\n' } },
    links: [{ ends: ['PC1', 'PC2'], filters: { delay: '1ms', loss: '0.001%' } }],
    checks,
    test,
  });
const project = await apply(pair('checked', []));
const path = `/v2/projects/${project}/checks`;
const send = (checks: readonly object[], test?: object) =>
  client.send(`POST ${path}`, { body: { lab: pair('checked', checks, test) }, limitMs: 120_000 });
async function run(checks: readonly object[]): Promise<readonly LabCheckLine[]> {
  return linesOf<LabCheckLine>(expectStatus(await send(checks), 200).text());
}
const ping = { name: 'it answers', node: 'PC1', ping: { to: '10.0.0.2', count: 3 } };
const resultsOf = (lines: readonly LabCheckLine[]) =>
  lines.flatMap(({ check }) => (check ? [`${check.name}: ${check.outcome}`] : []));

describe('the checks of a project', () => {
  it('are run with captures and consoles, and say what holds and what does not, with the reason', async () => {
    const lines = await run([
      ping,
      { name: 'a wrong number', node: 'PC1', ping: { to: '10.0.0.2', count: 3 }, expect: { received: 99 } },
      { name: 'at the console', node: 'PC2', run: 'show ip', expect: { text: '10.0.0.2/24' } },
      { name: 'captured', capture: { link: ['PC1', 'PC2'], filter: 'icmp', while: [ping] }, expect: { packets: '>= 6' } },
    ]);
    assert.deepEqual(lines[0], { checks: ['it answers', 'a wrong number', 'at the console', 'captured'] });
    assert.deepEqual(resultsOf(lines), [
      'it answers: passed',
      'a wrong number: failed',
      'at the console: passed',
      'captured: passed',
    ]);
    const failed = lines.find(({ check }) => check?.outcome === 'failed')?.check;
    assert.match(failed?.problems.join() ?? '', /expected 99/);
    assert.match(lines.at(-1)?.verdict ?? '', /^(failed|void)$/);
    // The lab is not changed: links get no seed of the test.
    const [link] = await client.get<Link[]>(`/v2/projects/${project}/links`);
    assert.deepEqual(Object.keys(link?.filters ?? {}).toSorted(), ['delay', 'packet_loss']);
  });

  it('of the sample without images hold', async () => {
    const lab = await readFile(join(import.meta.dirname, '../../labs/vlan-trunk.yaml'), 'utf8');
    // PCs that have just started look for other users of their addresses first.
    const id = await apply(lab);
    const answer = expectStatus(await client.send(`POST /v2/projects/${id}/checks`, { body: { lab }, limitMs: 120_000 }), 200);
    const checks = linesOf<LabCheckLine>(answer.text()).flatMap(({ check }) => check ?? []);
    assert.deepEqual(
      checks.flatMap(({ name, outcome, problems }) => (outcome === 'passed' ? [] : [`${name}: ${problems.join('; ')}`])),
      [],
    );
    assert.equal(checks.length, 3);
  });

  it('use nothing of the server itself', async () => {
    const ssh = { host: '127.0.0.1', user: 'root', key_env: 'PATCHBAY_SSH_KEY' };
    const traffic = { from: { at: 'PC1', address: '10.0.0.8' }, to: { at: 'PC2', address: '10.0.0.9' }, pcap: 'etc/passwd' };
    for (const [checks, test] of [
      [[{ node: 'PC1', by: 'ssh', run: 'id' }], { nodes: { PC1: { ssh } } }],
      [[], { nodes: { PC1: { ssh } } }],
      [[ping], { nodes: { PC1: { platform: './passwd.yaml' } } }],
      [[{ traffic, expect: {} }], {}],
      [[{ capture: { link: ['PC1', 'PC2'], while: [{ node: 'PC1', by: 'ssh', run: 'id' }] } }], {}],
      [[{ capture: { link: ['PC1', 'PC2'], filter: 'tcp or '.repeat(100), while: [ping] } }], {}],
    ] as const)
      expectFault(await send(checks, test), 400, /^The lab file cannot be used/);
  });

  it('with mistakes are refused before anything is run', async () => {
    for (const checks of [[{ node: 'PC9', run: 'x' }], [{ what: 1 }], [{ node: 'PC1', iperf: { to: '10.0.0.2', server: 'PC2' } }]])
      expectFault(await send(checks), 400, /^The lab file cannot be used/);
    expectFault(await client.send(`POST ${path}`, { body: { lab: 'checks: [' } }), 400, /^The lab file cannot be used/);
    const none = '/v2/projects/00000000-0000-4000-8000-000000000000/checks';
    assert.equal((await client.send(`POST ${none}`, { body: { lab: '' } })).status, 404);
  });

  it('run once at a time, and no longer than their client listens', async () => {
    const slow = [{ name: 'never', node: 'PC1', ping: { to: '10.0.0.99', count: 1 }, eventually: '10m' }];
    const ending = new AbortController();
    const first = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { ...basic(boss), 'content-type': 'application/json' },
      body: JSON.stringify({ lab: pair('checked', slow) }),
      signal: ending.signal,
    });
    assert.equal(first.status, 200);
    expectFault(await send([ping]), 409, /run already/);
    ending.abort();
    await waitFor(async () => (await send([ping])).status === 200, { what: 'the end of the first run', everyMs: 200 });
  });

  it('leave no capture behind when their client leaves', async () => {
    const [link] = await client.get<Link[]>(`/v2/projects/${project}/links`);
    const captures = () => client.get<LinkCapture[]>(`/v2/projects/${project}/links/${link?.link_id}/captures`);
    const during = [{ name: 'never', node: 'PC1', ping: { to: '10.0.0.99', count: 1 }, eventually: '10m' }];
    const ending = new AbortController();
    const left = fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { ...basic(boss), 'content-type': 'application/json' },
      body: JSON.stringify({
        lab: pair('checked', [{ name: 'captured', capture: { link: ['PC1', 'PC2'], while: during }, expect: { packets: '>= 0' } }]),
      }),
      signal: ending.signal,
    }).then((answer) => answer.text());
    await Promise.all([
      assert.rejects(left, { name: 'AbortError' }),
      waitFor(async () => (await captures()).length === 1, { what: 'the capture' }).finally(() => ending.abort()),
    ]);
    await waitFor(async () => (await captures()).length === 0, { what: 'the end of the capture' });
    await waitFor(async () => (await send([ping])).status === 200, { what: 'the end of the run', everyMs: 200 });
  });

  it('with an expression that takes for ever are ended, while the server answers', async () => {
    const endless = { node: 'PC1', run: `echo ${'a'.repeat(60)}!`, expect: { match: '^(a+)+$' } };
    let isOver = false;
    const endlessRun = run([{ name: 'endless', ...endless }]).finally(() => {
      isOver = true;
    });
    let answers = 0;
    while (!isOver) {
      await client.get('/v2/version');
      if (!isOver) answers += 1;
      await pass(100);
    }
    assert.match((await endlessRun).at(-1)?.failure ?? '', /more than 10 s of processor time/);
    assert.ok(answers > 10, `${answers} answers in ten seconds`);
  });

  it('have the rights of their client only', async () => {
    const reader = { user: 'reader', password: 'password-of-reader' };
    await client.post('/v3/access/users', { username: reader.user, password: reader.password });
    const own = new RawClient(server.url, basic(reader));
    const body = {
      lab: pair('checked', [
        { name: 'typed', node: 'PC1', run: 'show ip' },
        { name: 'cut', suspend: ['PC1', 'PC2'] },
      ]),
    };
    assert.equal((await own.send(`POST ${path}`, { body })).status, 404);
    const shared = await client.send(`PUT /v3/projects/${project}/access`, {
      body: { ace_type: 'user', name: reader.user, level: 'view' },
    });
    expectStatus(shared, 200);
    const answer = expectStatus(await own.send(`POST ${path}`, { body, limitMs: 120_000 }), 200);
    assert.deepEqual(resultsOf(linesOf<LabCheckLine>(answer.text())), ['typed: error', 'cut: error']);
    const [link] = await client.get<Link[]>(`/v2/projects/${project}/links`);
    assert.equal(link?.suspend, false);
  });

  it('of a closed project are refused', async () => {
    await client.send(`POST /v2/projects/${project}/close`);
    expectFault(await send([ping]), 403, /is not opened/);
  });
});
