/** Labs whose images are missing: they are made, say what they lack, and start once it is there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ServerClient } from '../../cli/server-client.ts';
import { applyPlan } from '../../lab/apply.ts';
import type { Lab } from '../../lab/file/lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { planOn } from '../../lab/open-lab.ts';
import { linesOf } from '../../lab/plan/lab-plan.ts';
import type { Project } from '../../src/schema/project.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const api = new ServerClient({ url: server.url });
const load = (text: string): Promise<Lab> => loadLab({ text, file: 'incomplete.yaml', files: filesOf({}) });
const labelled = (node: NodeBody) => String(node.command_line);

async function upload(name: string): Promise<void> {
  const path = join(server.dataDir, name);
  await promisify(execFile)('qemu-img', ['create', '-q', '-f', 'qcow2', path, '1M']);
  expectStatus(await client.send(`POST /v2/compute/qemu/images/${name}`, { raw: await readFile(path) }), 204);
}

/** A lab of which a link is refused, after its nodes are made. */
const refused = 'nodes: {A: {kind: vpcs}, B: {kind: vpcs}}\nlinks: [{ends: [A, B], filters: {bpf: no such words}}]\n';

describe('a lab file whose images are missing', () => {
  const text = `
name: incomplete
nodes:
  R[1-30]: {kind: qemu, image: absent-router.qcow2, memory: 16M, adapters: 2, properties: {options: "-machine accel=tcg,graphics=off"}}
  S: {kind: qemu, properties: {hdb_disk_image: absent-server.img, cdrom_image: vyos-1.1.7-amd64.iso}}
  V: {kind: qemu, image: vyos-1.3.2-amd64.qcow2, files: {config/user-data: "#cloud-config\\n"}}
  PC1: {kind: vpcs}
links:
  - [PC1, R1]
  - [R1, R2]
  - {ends: [R2, R3], filters: {delay: 20ms}}
`;

  it('is planned with all that is missing, made with all nodes and links, and changed, exported and deleted like any other', async () => {
    const lab = await load(text);
    const planned = await planOn(api, lab);
    const images = planned.missing?.map(({ image, kind, compute, nodes }) => [image, kind, compute, nodes.length]);
    assert.deepEqual(images, [
      ['absent-router.qcow2', 'qemu', 'local', 30],
      ['absent-server.img', 'qemu', 'local', 1],
      ['vyos-1.1.7-amd64.iso', 'qemu', 'local', 1],
      ['vyos-1.3.2-amd64.qcow2', 'qemu', 'local', 1],
    ]);
    const { size, md5 } = planned.missing?.find(({ image }) => image === 'vyos-1.1.7-amd64.iso') ?? {};
    assert.deepEqual([size, md5], [245_366_784, '9a7f745a0b0db0d4f1d9eee2a437fb54'], 'as the appliance says');
    assert.deepEqual(linesOf(planned).find(({ name }) => name === 'S')?.lacks, ['absent-server.img', 'vyos-1.1.7-amd64.iso']);
    const reply = await client.post<{ missing: unknown[] }>('/v2/labs/plan', { lab: text }, 200);
    assert.deepEqual(reply.missing, planned.missing);
    const project = await applyPlan(api, lab, planned);
    const path = `/v2/projects/${project.project_id}`;
    const nodes = await client.get<NodeBody[]>(`${path}/nodes`);
    assert.equal(nodes.length, 33);
    assert.equal((await client.get<unknown[]>(`${path}/links`)).length, 3);
    const router = nodes.find(({ name }) => name === 'R1');
    assert.match(labelled(router as NodeBody), /The image "absent-router\.qcow2" was not found: upload it/);
    assert.equal((await client.get<unknown[]>(`${path}/problems`)).length, 32);
    expectFault(await client.send(`POST ${path}/nodes/${router?.node_id}/start`), 409, /absent-router\.qcow2.*upload it/);
    assert.deepEqual(linesOf(await planOn(api, lab)), [], 'nothing differs');
    // The router is changed, its server starts again, and its files are there.
    await client.put(`${path}/nodes/${router?.node_id}`, { name: 'R1b', x: 77 });
    await client.post(`${path}/close`, {}, 204);
    await client.post(`${path}/open`);
    const again = await client.get<NodeBody[]>(`${path}/nodes`);
    assert.deepEqual(again.map(({ name }) => name).includes('R1b'), true);
    assert.ok(
      again.every(({ console_type }) => console_type === 'telnet'),
      'not "none", as for a node that has no console',
    );
    assert.match(labelled(again.find(({ name }) => name === 'R2') as NodeBody), /absent-router/);
    const v = again.find(({ name }) => name === 'V');
    assert.equal((await client.send(`GET ${path}/nodes/${v?.node_id}/files/config/user-data`)).text(), '#cloud-config\n');
    await client.delete(`${path}/nodes/${again.find(({ name }) => name === 'R3')?.node_id}`);
    assert.equal((await client.get<unknown[]>(`${path}/links`)).length, 2);
    // The image arrives: the node starts, and its links with it.
    await upload('absent-router.qcow2');
    await client.post(`${path}/nodes/${router?.node_id}/start`, {}, 200);
    const running = await client.get<NodeBody>(`${path}/nodes/${router?.node_id}`);
    assert.equal(running.status, 'started');
    assert.doesNotMatch(labelled(running), /not found/);
    await client.post(`${path}/nodes/stop`, {}, 204);
    await client.delete(path);
  });

  it('is refused with --strict and leaves no project; neither does any apply that fails', async () => {
    const before = await client.get<Project[]>('/v2/projects');
    const strict = await load(text.replace('absent-router', 'other-router'));
    await assert.rejects(
      applyPlan(api, strict, await planOn(api, strict), { strict: true }),
      /^LabError: incomplete\.yaml:4:3: these images were not found: absent-server\.img on local \(S\); other-router\.qcow2 on local \(R1, R2, R3 and 27 more\); vyos/,
    );
    const failing = await load(`name: failing\n${refused}`);
    await assert.rejects(applyPlan(api, failing, await planOn(api, failing)), /^LabError: incomplete\.yaml:3:9: Filter bpf/);
    const uplinks = await load('name: uplinks\nnodes: {A: {kind: nat}, B: {kind: nat}}\nlinks: [[A, B]]\n');
    await assert.rejects(applyPlan(api, uplinks, await planOn(api, uplinks)), /^LabError: incomplete\.yaml:3:\d+: /);
    const answer = await client.send('POST /v2/labs/apply', { body: { lab: text, strict: true } });
    assert.match(answer.text(), /"failure":".*images were not found/);
    assert.deepEqual(await client.get('/v2/projects'), before);
  });

  it('a project that was there before stays when its apply fails', async () => {
    const made = await createProject(client, { name: 'stays' });
    const lab = await load(`name: stays\n${refused}`);
    await assert.rejects(applyPlan(api, lab, await planOn(api, lab)), /Filter bpf/);
    await client.get(made.path);
  });
});

describe('nodes whose images are missing', () => {
  const properties = { ...tinyVm, hda_disk_image: 'nowhere.qcow2' };

  it('are refused by POST nodes as by GNS3, and made where a client asks for it; bulk makes them unless it is strict', async () => {
    const project = await createProject(client);
    const body = { name: 'A', node_type: 'qemu', compute_id: 'local', properties };
    expectFault(await client.send(`POST ${project.path}/nodes`, { body }), 409, /nowhere\.qcow2/);
    expectFault(await client.send(`POST ${project.path}/nodes`, { body: { ...body, strict: true } }), 409, /nowhere\.qcow2/);
    assert.deepEqual(await client.get(`${project.path}/nodes`), []);
    const made = await client.post<NodeBody>(`${project.path}/nodes`, { ...body, strict: false });
    assert.match(labelled(made), /nowhere\.qcow2/);
    assert.ok(!('strict' in made));
    const pc = await createNode(client, project);
    const link = await client.post<{ link_id: string }>(`${project.path}/links`, {
      nodes: [end(made), end(pc)],
      filters: { delay: [5] },
    });
    await client.put(`${project.path}/links/${link.link_id}`, { filters: { delay: [7] } }, 201);
    await client.delete(`${project.path}/links/${link.link_id}`);
    const bulk = { nodes: [{ ...body, name: 'B' }] };
    expectFault(await client.send(`POST ${project.path}/bulk`, { body: { ...bulk, strict: true } }), 409, /^nodes\[0\]: .*nowhere/);
    const { nodes } = await client.post<{ nodes: NodeBody[] }>(`${project.path}/bulk`, bulk);
    assert.match(labelled(nodes[0] as NodeBody), /nowhere\.qcow2/);
    // Errors of the request itself are refused all the same.
    const wrong = { nodes: [{ ...body, properties: { ...properties, ram: 'much' } }] };
    expectFault(await client.send(`POST ${project.path}/bulk`, { body: wrong }), 400, /ram/);
    // A wrong change of a node that was made is refused, too.
    const own = `${project.path}/nodes/${made.node_id}`;
    expectFault(await client.send(`PUT ${own}`, { body: { properties: { ram: 'much' } } }), 400, /ram/);
    assert.equal((await client.get<NodeBody>(own)).properties.ram, properties.ram);
    await client.put(own, { properties: { ram: 64 } }, 200);
  });

  it('are copied with their project, their files and their links, and forked', async () => {
    const project = await createProject(client);
    const { nodes } = await client.post<{ nodes: NodeBody[] }>(`${project.path}/bulk`, {
      nodes: ['A', 'B'].map((name) => ({ name, node_type: 'qemu', compute_id: 'local', properties })),
    });
    const [lacking] = nodes as [NodeBody];
    const pc = await createNode(client, project);
    await client.post(`${project.path}/links`, { nodes: [end(lacking), end(pc)] });
    const file = 'files/config/user-data';
    expectStatus(await client.send(`POST ${project.path}/nodes/${lacking.node_id}/${file}`, { raw: 'of A' }), 201);
    const holds = async (path: string, count: number) => {
      const copies = await client.get<NodeBody[]>(`${path}/nodes`);
      const own = copies.filter(({ node_type }) => node_type === 'qemu');
      for (const node of own) assert.match(labelled(node), /nowhere\.qcow2/, node.name);
      assert.deepEqual([own.length, (await client.get<unknown[]>(`${path}/links`)).length], [count, 1]);
      const [first] = own as [NodeBody];
      assert.equal((await client.send(`GET ${path}/nodes/${first.node_id}/${file}`)).text(), 'of A');
    };
    const twin = await client.post<Project>(`${project.path}/duplicate`, { name: 'twin' });
    await client.post(`/v2/projects/${twin.project_id}/open`);
    await holds(`/v2/projects/${twin.project_id}`, 2);
    const [fork] = await client.post<Project[]>(`${project.path}/fork`, { name: 'forked' });
    await holds(`/v2/projects/${fork?.project_id}`, 2);
    const copy = await client.post<NodeBody>(`${project.path}/nodes/${lacking.node_id}/duplicate`, { x: 5, y: 6 });
    assert.match(labelled(copy), /nowhere\.qcow2/);
    assert.equal((await client.send(`GET ${project.path}/nodes/${copy.node_id}/${file}`)).text(), 'of A');
    await client.delete(`${project.path}/nodes/${copy.node_id}`);
    const { snapshot_id } = await client.post<{ snapshot_id: string }>(`${project.path}/snapshots`, { name: 'one' });
    await client.delete(`${project.path}/nodes/${nodes[1]?.node_id}`);
    await client.post(`${project.path}/snapshots/${snapshot_id}/restore`);
    await holds(project.path, 2);
  });

  it('are made from a template where a client asks for it', async () => {
    const project = await createProject(client);
    const template = await client.post<{ template_id: string }>('/v2/templates', {
      name: 'lacking',
      template_type: 'qemu',
      compute_id: 'local',
      hda_disk_image: 'nowhere.qcow2',
    });
    const way = `${project.path}/templates/${template.template_id}`;
    expectFault(await client.send(`POST ${way}`, { body: { x: 0, y: 0 } }), 409, /nowhere\.qcow2/);
    const made = await client.post<NodeBody>(way, { x: 0, y: 0, strict: false });
    assert.match(labelled(made), /nowhere\.qcow2/);
  });
});

/** Kinds whose computes make a node without its image, each with a property that names one, and the first bytes of an image. */
const stored = [
  { node_type: 'iou', property: 'path', properties: {}, head: '7f454c46010101' },
  { node_type: 'dynamips', property: 'image', properties: { platform: 'c3725', ram: 128 }, head: '7f454c46010201' },
] as const;

describe('nodes that are made by POST nodes without their image', () => {
  for (const { node_type, property, properties, head } of stored)
    it(`${node_type}: say so before their start, also after a restart of the server, until they have it`, async () => {
      const project = await createProject(client, { auto_close: false });
      const lacked = `absent-${node_type}.image`;
      const body = { name: 'A', node_type, compute_id: 'local', properties: { ...properties, [property]: lacked } };
      const problems = () => client.get<{ name: string; message: string }[]>(`${project.path}/problems`);
      const sentence = new RegExp(`"${lacked}" was not found: upload it`);
      for (const strict of [{ strict: true }, { nodes: [body], strict: true }]) {
        const way = 'nodes' in strict ? 'bulk' : 'nodes';
        const refusal = await client.send(`POST ${project.path}/${way}`, {
          body: 'nodes' in strict ? strict : { ...body, ...strict },
        });
        expectFault(refusal, 409, sentence);
      }
      assert.deepEqual(await client.get(`${project.path}/nodes`), []);
      const made = await client.post<NodeBody>(`${project.path}/nodes`, body);
      const own = `${project.path}/nodes/${made.node_id}`;
      const shown = async () => labelled(await client.get<NodeBody>(own));
      const holds = async () => {
        assert.match(await shown(), sentence);
        assert.deepEqual(
          (await problems()).map(({ name }) => name),
          ['A'],
        );
      };
      assert.match(labelled(made), sentence);
      await holds();
      await client.put(own, { name: 'A', x: 9 });
      await holds();
      await server.kill9();
      await server.restart();
      await client.post(`${project.path}/open`);
      await holds();
      const copy = await client.post<NodeBody>(`${own}/duplicate`, { x: 5, y: 6 });
      assert.match(labelled(copy), sentence);
      await client.delete(`${project.path}/nodes/${copy.node_id}`);
      // Another image that is there ends it, and one that is not begins it again.
      const raw = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(600)]);
      expectStatus(await client.send(`POST /v2/compute/${node_type}/images/present.image`, { raw }), 204);
      await client.put(own, { properties: { [property]: 'present.image' } });
      assert.doesNotMatch(await shown(), /not found/);
      assert.deepEqual(await problems(), []);
      await client.put(own, { properties: { [property]: lacked } });
      await holds();
      // The image arrives while the project is closed.
      await client.post(`${project.path}/close`, {}, 204);
      expectStatus(await client.send(`POST /v2/compute/${node_type}/images/${lacked}`, { raw }), 204);
      await client.post(`${project.path}/open`);
      assert.doesNotMatch(await shown(), /not found/);
      assert.deepEqual(await problems(), []);
    });
});
