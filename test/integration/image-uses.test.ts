/** Images are deleted when nothing uses them, and appliance files can be uploaded. */
import assert from 'node:assert/strict';
import { mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const folder = join(server.dataDir, 'images', 'QEMU');
const image = '/v2/computes/local/qemu/images/disk.img';
interface Uses {
  readonly images: readonly { image: string; templates: { name: string }[]; nodes: { name: string; project: string }[] }[];
  readonly unread: readonly string[];
}
const uses = async () => (await client.get<Uses>('/v2/computes/local/image_uses')).images;
const remove = (path = image) => client.send(`DELETE ${path}`);

test('an image that a template or a node of an open or a closed project uses is kept', async () => {
  expectStatus(await client.send(`POST ${image}`, { raw: Buffer.alloc(4096) }), 200);
  await waitFor(async () => (await readdir(folder)).some((name) => name.endsWith('.md5sum')), { what: 'its checksum' });
  const template = await client.post<{ template_id: string }>('/v2/templates', {
    name: 'Box',
    template_type: 'qemu',
    compute_id: 'local',
    hda_disk_image: 'disk.img',
  });
  const project = await createProject(client, { name: 'Lab', auto_close: false });
  const node = await createNode(client, project, 'qemu', { name: 'R1', properties: { hdb_disk_image: 'disk.img' } });
  assert.deepEqual(
    (await uses()).map((use) => [use.image, use.templates.map(({ name }) => name), use.nodes.map(({ name }) => name)]),
    [['disk.img', ['Box'], ['R1']]],
  );
  expectFault(await remove(), 409, /the template "Box", "R1" of the project "Lab"/);
  await client.delete(`/v2/templates/${template.template_id}`);
  await client.post(`${project.path}/close`, {}, 204);
  expectFault(await remove(), 409, /"R1" of the project "Lab"/);
  await client.post(`${project.path}/open`, {}, 201);
  expectFault(await remove('/v2/compute/qemu/images/disk.img'), 409, /"R1"/);
  await client.delete(`${project.path}/nodes/${node.node_id}`);
  assert.deepEqual(await uses(), []);
  expectStatus(await remove(), 204);
  assert.deepEqual(await readdir(folder), []);
  expectFault(await remove(), 409, /was not found/);
  const spaced = '/v2/computes/local/qemu/images/my%20disk%20%25.img';
  expectStatus(await client.send(`POST ${spaced}`, { raw: Buffer.alloc(4096) }), 200);
  // Its checksum is stored in the background.
  await waitFor(async () => (await readdir(folder)).some((name) => name.endsWith('.md5sum')), { what: 'its checksum' });
  expectStatus(await remove(spaced), 204);
  assert.deepEqual(await readdir(folder), []);
  for (const path of ['..%2Fdisk.img', '%2Fetc%2Fpasswd', 'a%2F..%2F..%2Fx'])
    expectFault(await remove(`/v2/computes/local/qemu/images/${path}`), 403, /not allowed/);
  expectFault(await remove('/v2/computes/local/vpcs/images/disk.img'), 404, /vpcs/);
});

test('of a deletion and a node that is made of the image at once, one is refused', async () => {
  const project = await createProject(client);
  for (let round = 0; round < 12; round++) {
    expectStatus(await client.send(`POST ${image}`, { raw: 'an image of some bytes' }), 200);
    const body = { name: `n${round}`, node_type: 'qemu', compute_id: 'local', properties: { hda_disk_image: 'disk.img' } };
    const create = () => client.send(`POST ${project.path}/nodes`, { body });
    // The route of the compute looks at the compute's own nodes only: half of the rounds begin with the one, half with the other.
    const deletion = () => remove('/v2/compute/qemu/images/disk.img');
    const [made, removed] =
      round % 2 === 0 ? await Promise.all([create(), deletion()]) : await Promise.all([deletion(), create()].toReversed());
    assert.ok([201, 404, 409].includes(made?.status ?? 0) && [204, 409].includes(removed?.status ?? 0), made?.text());
    const kept = (await readdir(folder)).includes('disk.img');
    assert.deepEqual([made?.status === 201, removed?.status === 204], [kept, !kept]);
    if (kept) await client.delete(`${project.path}/nodes/${made?.json<{ node_id: string }>().node_id}`);
  }
});

test('an uploaded appliance is listed, and anything else is refused and not stored', async () => {
  const own = async () => (await client.get<{ name: string; builtin: boolean }[]>('/v2/appliances')).filter((one) => !one.builtin);
  const upload = (name: string, raw: string) => client.send(`POST /v2/appliances/files/${name}`, { raw });
  expectStatus(await upload('box.gns3a', '{"name": "Box", "category": "guest"}'), 204);
  expectStatus(await upload('box.gns3a', '{"name": "Box 2", "category": "guest"}'), 204);
  expectFault(await upload('box.json', '{"name": "Box"}'), 400, /does not end in \.gns3a/);
  expectFault(await upload('..%2Fbox.gns3a', '{"name": "Box"}'), 400, /slashes/);
  expectFault(await upload(`${'x'.repeat(247)}.gns3a`, '{"name": "Box"}'), 400, /longer than 255 bytes/);
  expectFault(await upload('a.gns3a', '[]'), 400, /no JSON object/);
  expectFault(await upload('a.gns3a', '{"name": 1}'), 400, /has no name/);
  expectFault(await upload('a.gns3a', '['.repeat(1000)), 400, /nested deeper/);
  expectFault(await upload('a.gns3a', `{"name": "${'x'.repeat(600_000)}"}`), 413, /./);
  assert.deepEqual(
    (await own()).map(({ name }) => name),
    ['Box 2'],
  );

  const appliances = join(server.dataDir, 'appliances');
  await mkdir(join(appliances, 'mine'));
  await truncate(join(appliances, 'box.gns3a'), 32 * 2 ** 20);
  expectFault(await upload('a.gns3a', '{"name": "A"}'), 409, /: 2 of 33554445 bytes, at most 2000 of 33554432 bytes/);
  // One that becomes smaller makes room.
  expectStatus(await upload('box.gns3a', '{"name": "Box 3"}'), 204);
  await Promise.all(Array.from({ length: 1999 }, (_, index) => writeFile(join(appliances, `mine/${index}.gns3a`), '')));
  expectFault(await upload('a.gns3a', '{"name": "A"}'), 409, /: 2001 of /);
  expectStatus(await upload('box.gns3a', '{"name": "Box 4 is longer"}'), 204);
  await rm(join(appliances, 'mine'), { recursive: true });
  expectStatus(await upload('a.gns3a', '{"name": "A"}'), 204);
});
