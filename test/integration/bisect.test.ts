/** `patchbay bisect` on checkpoints of a lab in which a link breaks after the third of them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { patientTest } from '../support/patient-fidelity.ts';
import { serverProgram } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const folder = await mkdtemp(join(tmpdir(), 'bisect-'));
after(() => rm(folder, { recursive: true }));

const project = await createProject(client, { auto_close: false, checkpoint_minutes: 60 });
const name = String((await client.get<Project>(project.path)).name);
const [one, other] = [await createNode(client, project, 'vpcs', { name: 'PC1' }), await createNode(client, project)];
const link = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
await client.post(`${project.path}/nodes/start`, {}, 204);
const taken: Snapshot[] = [];
const checkpoint = async () => taken.push(await client.post<Snapshot>(`${project.path}/checkpoints`));
for (let count = 0; count < 3; count++) await checkpoint();
await client.put(`${project.path}/links/${link.link_id}`, { filters: { packet_loss: [100] } }, 201);
for (let count = 0; count < 3; count++) await checkpoint();

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [serverProgram, 'bisect', ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', PATCHBAY_URL: server.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function run(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(args);
  const texts = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.err += text));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  assert.deepEqual(
    (await client.get<Project[]>('/v2/projects')).map((each) => each.name),
    [name],
    'forks are deleted',
  );
  return { code, ...texts };
}

/** Fails where the fork's link loses all frames; a second word is the name of a checkpoint that it skips. */
const script = join(folder, 'check.mjs');
await writeFile(
  script,
  `const { PATCHBAY_URL, PATCHBAY_PROJECT, PATCHBAY_CHECKPOINT } = process.env;
const links = await (await fetch(PATCHBAY_URL + '/v2/projects/' + PATCHBAY_PROJECT + '/links')).json();
console.log(links.length, 'links');
if (process.argv[2] === PATCHBAY_CHECKPOINT) process.exit(125);
process.exit('packet_loss' in links[0].filters ? 1 : 0);
`,
);
const command = [process.execPath, script];

test('the last good and the first bad checkpoint are found by a command, with what was changed between them', async () => {
  const { code, out, err } = await run(name, '--json', '--', ...command);
  assert.equal(code, 0, err);
  const result = JSON.parse(out) as {
    last_good: Snapshot;
    first_bad: Snapshot;
    runs: { verdict: string }[];
    events: { action: string; id: string }[];
  };
  assert.deepEqual([result.last_good.snapshot_id, result.first_bad.snapshot_id], [taken[2]?.snapshot_id, taken[3]?.snapshot_id]);
  assert.ok(result.runs.length <= 5, `${result.runs.length} forks`);
  assert.deepEqual(
    result.events.filter(({ action }) => action === 'link.updated').map(({ id }) => id),
    [link.link_id],
  );
  assert.match(err, /^1 links$/m);
});

test('checks of a lab file decide, too', async () => {
  const shows = "{ name: usable, node: PC1, run: 'show ip', expect: { text: NAME } }";
  await writeFile(join(folder, 'lab.yaml'), `name: ${name}\nnodes: { PC1: { kind: vpcs } }\nchecks: [${shows}]\n${patientTest}`);
  const range = ['--good', String(taken[2]?.name), '--bad', String(taken[3]?.name)];
  const { code, out, err } = await run('--check', 'usable', ...range);
  assert.equal(code, 3, err);
  assert.match(out, /^The check holds on checkpoint /);
  assert.match(err, /ok {3}usable/);
  assert.match((await run('--check', 'usible')).err, /no check "usible".*"usable"/);
});

test('exit codes name what could not be found', async () => {
  const range = ['--good', String(taken[2]?.name), '--bad', String(taken[4]?.name)];
  const skipped = await run(name, ...range, '--', ...command, String(taken[3]?.name));
  assert.equal(skipped.code, 4, skipped.err);
  assert.match(skipped.out, /^Last good: {2}checkpoint .*\nFirst bad: {2}checkpoint .*\nUndecided: {2}checkpoint /);
  assert.equal((await run(name, '--check', 'x', '--', 'true')).code, 2);
  const lost = await run(name, '--', join(folder, 'none'));
  assert.deepEqual([lost.code, lost.out], [1, '']);
  assert.match(lost.err, /could not be started/);
  const unusable = await run(name, '--', process.execPath, '-e', 'process.exit(127)');
  assert.equal(unusable.code, 1);
  assert.match(unusable.err, /ended with 127, which says nothing about the lab/);
});

test('Ctrl-C deletes the fork', async () => {
  const child = start([name, '--', process.execPath, '-e', 'setInterval(() => {}, 1000)']);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  await waitFor(async () => (await client.get<Project[]>('/v2/projects')).length === 2, { what: 'a fork' });
  child.kill('SIGINT');
  assert.equal(await ended, 130);
  assert.equal((await client.get<Project[]>('/v2/projects')).length, 1);
});
