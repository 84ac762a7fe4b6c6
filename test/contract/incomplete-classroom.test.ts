/** A classroom of 350 nodes on a server that has none of their images, over HTTP, by every way on which a lab arrives. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createProject, type NodeBody, withServer } from '../support/with-server.ts';

const { client } = await withServer();
const limitMs = 120_000;

/** 50 desks of seven nodes, six of which lack four images together; the machines of each desk have a link. */
const desks = 50;
const lab = `name: classroom
nodes:
  R[1-${desks}]: {kind: qemu, image: iosv.qcow2, memory: 512M, adapters: 4}
  S[1-${desks}]: {kind: qemu, image: iosv.qcow2, memory: 512M, adapters: 4}
  F[1-${desks}]: {kind: qemu, image: asav.qcow2, memory: 512M, properties: {hdb_disk_image: asav.qcow2}}
  D[1-${desks}]: {kind: iou, image: l2.bin}
  E[1-${desks}]: {kind: dynamips, image: c3725.image, memory: 128M, properties: {platform: c3725}}
  L[1-${desks}]: {kind: qemu, properties: {cdrom_image: asav.qcow2, ram: 64}}
  PC[1-${desks}]: {kind: vpcs}
links:
  - ['R[1-${desks}]', 'S[1-${desks}]']
  - ['PC[1-${desks}]', 'R[1-${desks}]']
`;
const count = 7 * desks;
const lacking = 6 * desks;

interface Project {
  readonly project_id: string;
  readonly name: string;
}
interface Missing {
  readonly image: string;
  readonly nodes: readonly string[];
}
const pathOf = ({ project_id }: Project) => `/v2/projects/${project_id}`;
const projects = () => client.get<Project[]>('/v2/projects');

/** Checks that all nodes and links are there, and that each node that lacks something says what. */
async function holdsAll(path: string, nodes = count): Promise<void> {
  const made = await client.get<NodeBody[]>(`${path}/nodes`);
  assert.equal(made.length, nodes);
  const silent = made.filter(
    ({ node_type, command_line }) => node_type !== 'vpcs' && !/was not found: /.test(String(command_line)),
  );
  assert.deepEqual(
    silent.map(({ name, command_line }) => [name, command_line]),
    [],
  );
  assert.equal((await client.get<unknown[]>(`${path}/links`)).length, 2 * desks);
  assert.equal((await client.get<unknown[]>(`${path}/problems`)).length, lacking + nodes - count);
}

describe('a classroom without images', { concurrency: false }, () => {
  let path = '';

  test('is planned: each missing image once, with all nodes that need it', { timeout: limitMs }, async () => {
    const { missing } = await client.post<{ missing: Missing[] }>('/v2/labs/plan', { lab }, 200);
    assert.deepEqual(
      missing.map(({ image, nodes }) => [image, new Set(nodes).size, nodes.length]),
      [
        ['asav.qcow2', 2 * desks, 2 * desks],
        ['c3725.image', desks, desks],
        ['iosv.qcow2', 2 * desks, 2 * desks],
        ['l2.bin', desks, desks],
      ],
    );
  });

  test('is refused where the client is strict, with all images, and leaves no project', { timeout: limitMs }, async () => {
    const before = await projects();
    const answer = await client.send('POST /v2/labs/apply', { body: { lab, strict: true }, limitMs });
    assert.match(
      answer.text().slice(-600),
      /"failure":"The lab file cannot be used: lab\.yaml:3:3: these images were not found: asav[^"]*iosv[^"]*l2\.bin on local/,
    );
    const link = '{ends: [Q1, Q2], filters: {bpf: no such words}}';
    const late = lab.replace('links:', `  Q[1-2]: {kind: vpcs}\nlinks:\n  - ${link}`);
    const failed = await client.send('POST /v2/labs/apply', { body: { lab: late }, limitMs });
    assert.match(failed.text().slice(-600), /"failure":"(?:The lab file cannot be used: )?lab\.yaml:12:5: Filter bpf/);
    assert.deepEqual(await projects(), before);
  });

  test('is made, says what it lacks, and refuses starts', { timeout: limitMs }, async () => {
    expectStatus(await client.send('POST /v2/labs/apply', { body: { lab }, limitMs }), 200);
    path = pathOf((await projects()).find(({ name }) => name === 'classroom') as Project);
    await holdsAll(path);
    const nodes = await client.get<NodeBody[]>(`${path}/nodes`);
    const named = (name: string) => nodes.find((one) => one.name === name)?.node_id;
    expectFault(await client.send(`POST ${path}/nodes/${named('R7')}/start`), 409, /iosv\.qcow2/);
    expectFault(await client.send(`POST ${path}/nodes/${named('F7')}/start`), 409, /asav\.qcow2/);
    await client.post(`${path}/nodes/${named('PC7')}/start`, {}, 200);
    await client.post(`${path}/nodes/${named('PC7')}/stop`, {}, 200);
    const { missing } = await client.post<{ missing: Missing[] }>('/v2/labs/plan', { lab }, 200);
    assert.equal(missing.length, 4, 'also where nothing is to be made');
  });

  test('is exported and imported as a portable project, duplicated and forked', { timeout: limitMs }, async () => {
    const archive = await client.send(`GET ${path}/export`, { limitMs });
    expectStatus(archive, 200);
    const id = randomUUID();
    expectStatus(await client.send(`POST /v2/projects/${id}/import?name=imported`, { raw: archive.bytes, limitMs }), 201);
    await client.post(`/v2/projects/${id}/open`);
    await holdsAll(`/v2/projects/${id}`);
    await client.delete(`/v2/projects/${id}`);
    const twin = await client.post<Project>(`${path}/duplicate`, { name: 'twin' });
    await client.post(`${pathOf(twin)}/open`);
    await holdsAll(pathOf(twin));
    await client.delete(pathOf(twin));
    const [fork] = await client.post<Project[]>(`${path}/fork`, { name: 'forked' });
    await holdsAll(pathOf(fork as Project));
    await client.delete(pathOf(fork as Project));
  });

  test('takes further nodes, in bulk and of templates', { timeout: limitMs }, async () => {
    const nodes = Array.from({ length: 20 }, (_, index) => ({
      name: `X${index}`,
      node_type: 'qemu',
      compute_id: 'local',
      properties: { hda_disk_image: 'asav.qcow2' },
    }));
    const strict = await client.send(`POST ${path}/bulk`, { body: { nodes, strict: true } });
    expectFault(strict, 409, /^nodes\[\d+\]: .*asav\.qcow2/);
    await client.post(`${path}/bulk`, { nodes });
    const { template_id } = await client.post<{ template_id: string }>('/v2/templates', {
      name: 'asav',
      template_type: 'qemu',
      compute_id: 'local',
      hda_disk_image: 'asav.qcow2',
    });
    await client.post(`${path}/templates/${template_id}`, { x: 0, y: 0, strict: false });
    await holdsAll(path, count + 21);
    const other = await createProject(client);
    assert.deepEqual(await client.get(`${other.path}/problems`), []);
  });
});
