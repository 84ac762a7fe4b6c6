/** The lab as text: a project is read as a lab file, and the plan says which lines describe which object. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const { client } = await withServer();
const root = join(import.meta.dirname, '../..');

interface LabStep {
  readonly action: string;
  readonly name: string;
  readonly id?: string;
}

interface LabText {
  readonly steps: readonly LabStep[];
  readonly lines: readonly { what: string; name: string; id: string | null; line: number; end: number }[];
}

async function readText(projectId: string): Promise<string> {
  const answer = expectStatus(await client.send(`GET /v2/projects/${projectId}/lab.yaml`), 200);
  return answer.text();
}

const plan = (lab: string, project?: string) => client.post<LabText>('/v2/labs/plan', { lab, ...(project && { project }) }, 200);

/** Applies a text. @returns the id of the project */
async function apply(body: { lab: string; project?: string }): Promise<string> {
  const answer = expectStatus(await client.send('POST /v2/labs/apply', { body, limitMs: 120_000 }), 200);
  const last = JSON.parse(answer.text().trim().split('\n').at(-1) ?? '') as { project_id?: string; failure?: string };
  return last.project_id ?? assert.fail(last.failure);
}

/** Gives the text another name, as names of projects are unique. */
const renamed = (text: string, name: string) => text.replace(/^name: .*$/m, `name: ${name}`);

describe('every sample', async () => {
  const files: string[] = [];
  for await (const file of glob(['labs/*.yaml', 'web/dialogs/samples/*.yaml'], { cwd: root })) files.push(file);
  assert.ok(files.length >= 7, `${files.length} samples`);

  for (const file of files)
    it(`${basename(file)} is applied, read, applied and read as the same text`, async () => {
      const sample = await readFile(join(root, file), 'utf8');
      const first = await apply({ lab: sample });
      const text = await readText(first);
      assert.doesNotMatch(text, /Not exported of/);
      // The plans of both texts are empty: of the sample for its project, and of the text that was read.
      assert.deepEqual((await plan(sample, first)).steps, []);
      const { steps, lines } = await plan(text, first);
      assert.deepEqual(steps, []);
      const [nodes, links] = [
        await client.get<unknown[]>(`/v2/projects/${first}/nodes`),
        await client.get<unknown[]>(`/v2/projects/${first}/links`),
      ];
      assert.equal(lines.length, nodes.length + links.length);
      const copy = await apply({ lab: renamed(text, 'copy') });
      assert.equal(renamed(await readText(copy), 'x'), renamed(text, 'x'));
      // Applied again to the project itself, it changes nothing.
      assert.equal(await apply({ lab: text, project: first }), first);
      assert.equal(await readText(first), text);
      for (const id of [first, copy]) await client.send(`DELETE /v2/projects/${id}`);
    });
});

describe('the plan', () => {
  it('gives the lines and ids of nodes and links, and the ids of what it changes', async () => {
    const project = await createProject(client);
    const [one, other] = [
      await createNode(client, project, 'vpcs', { name: 'A', x: 0, y: 0 }),
      await createNode(client, project, 'vpcs', { name: 'B', x: 90, y: 0 }),
    ];
    const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
    const lab = [
      ...['nodes:', '  A:', '    kind: vpcs', '    config: |', '      ip 10.0.0.1', '', '      set pcname A', '  # none'],
      ...["  'C[1-2]': {kind: vpcs, x: 0,", '    y: 50}', 'links:', '  - ends: [A, C1]', '    suspend: true', "  - ['C2', A]", ''],
    ].join('\n');
    await assert.rejects(plan(lab, project.id), /all 1 ports of A are taken/);
    const planned = await plan(lab.replace("  - ['C2', A]\n", ''), project.id);
    assert.deepEqual(planned.lines, [
      { what: 'node', name: 'A', id: one.node_id, line: 2, end: 7 },
      { what: 'node', name: 'C1', id: null, line: 9, end: 10 },
      { what: 'node', name: 'C2', id: null, line: 9, end: 10 },
      { what: 'link', name: 'A - C1', id: null, line: 12, end: 13 },
    ]);
    const ids = planned.steps.map(({ action, name, id }) => [action, name, id]);
    assert.deepEqual(
      ids.filter(([, , id]) => id !== undefined),
      [
        ['delete', 'B', other.node_id],
        ['update', 'A', one.node_id],
      ],
    );
    const same = await plan(await readText(project.id), project.id);
    assert.deepEqual(
      same.lines.map(({ id }) => id),
      [one.node_id, other.node_id, link_id],
    );
  });

  it('gives no lines of a project that is closed or missing', async () => {
    const project = await createProject(client);
    await client.post(`${project.path}/close`, {}, 204);
    expectFault(await client.send(`GET ${project.path}/lab.yaml`), 403, /not opened/);
    expectFault(await client.send(`GET /v2/projects/${crypto.randomUUID()}/lab.yaml`), 404, /doesn't exist/);
  });
});
