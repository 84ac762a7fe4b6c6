/** Images, appliances and templates of `/v3`: the files that `/v2` shows, their types, their users, and what is made of them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Ask, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

interface ImageBody {
  readonly filename: string;
  readonly path: string;
  readonly image_type: string;
  readonly image_size: number;
  readonly checksum: string;
}
interface TemplateBody {
  readonly template_id: string;
  readonly name: string;
  readonly template_type: string;
  readonly hda_disk_image?: string;
  readonly version?: string | null;
  readonly tags?: string[];
  readonly [key: string]: unknown;
}

const elf = (bits: number, order: number, text: string) =>
  Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, bits, order, 1]), Buffer.from(text)]);

/** An empty qcow2 disk of 1 MiB, based on another when `backing` says so. */
function disk(mark: number, backing = ''): Buffer {
  const cluster = 65_536;
  const bytes = Buffer.alloc(cluster * 4);
  bytes.write('QFI\u00fb', 0, 'latin1');
  bytes.writeUInt32BE(2, 4);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(2n ** 20n, 24);
  bytes.writeUInt32BE(1, 36);
  bytes.writeBigUInt64BE(BigInt(cluster * 3), 40);
  bytes.writeBigUInt64BE(BigInt(cluster), 48);
  bytes.writeUInt32BE(1, 56);
  bytes.writeBigUInt64BE(BigInt(mark), 2048);
  bytes.writeBigUInt64BE(BigInt(cluster * 2), cluster);
  if (backing === '') return bytes;
  bytes.writeBigUInt64BE(1024n, 8);
  bytes.writeUInt32BE(backing.length, 16);
  bytes.write(backing, 1024);
  return bytes;
}

const upload = async (name: string, raw: Buffer, query = '') =>
  expectStatus(await client.send(`POST /v3/images/upload/${name}${query}`, { raw }), 201).json<ImageBody>();
const refuse = async (line: string, ask: Ask, status: number, why: RegExp) =>
  assert.match(expectStatus(await client.send(line, ask), status).json<{ message: string }>().message, why);
const names = async (path = '/v3/images') => (await client.get<ImageBody[]>(path)).map(({ filename }) => filename).sort();

test('both generations show the same images, whose type their first bytes show', async () => {
  const content = { 'one.qcow2': disk(1), 'router.bin': elf(1, 2, 'ios'), 'l3.bin': elf(2, 1, 'iou') };
  const types = { 'one.qcow2': 'qemu', 'router.bin': 'ios', 'l3.bin': 'iou' };
  const kinds = { 'one.qcow2': 'qemu', 'router.bin': 'dynamips', 'l3.bin': 'iou' };
  for (const name of Object.keys(content) as (keyof typeof content)[]) {
    const made = await upload(name, content[name]);
    assert.deepEqual(
      [made.filename, made.path, made.image_type, made.image_size, made.checksum],
      [name, name, types[name], content[name].length, md5(content[name])],
    );
    const listed = await client.get<{ filename: string; md5sum: string }[]>(`/v2/compute/${kinds[name]}/images`);
    assert.deepEqual(
      listed.map(({ filename, md5sum }) => [filename, md5sum]),
      [[name, made.checksum]],
    );
    assert.deepEqual(Object.keys(listed[0] ?? {}).sort(), ['filename', 'filesize', 'md5sum', 'path']);
    assert.deepEqual(await names(`/v3/images?image_type=${types[name]}`), [name]);
  }
  expectStatus(await client.send('POST /v2/compute/qemu/images/two.qcow2', { raw: disk(2) }), 204);
  assert.equal((await client.get<ImageBody>('/v3/images/two.qcow2')).checksum, md5(disk(2)));
  assert.equal((await upload('sub/deep.qcow2', disk(3))).path, 'sub/deep.qcow2');
  for (const path of ['deep.qcow2', 'sub/deep.qcow2', 'QEMU/sub/deep.qcow2'])
    assert.equal((await client.get<ImageBody>(`/v3/images/${path}`)).filename, 'deep.qcow2');
});

test('an upload that cannot be an image is refused, and leaves nothing', async () => {
  const before = await names();
  await refuse('POST /v3/images/upload/tiny.bin', { raw: 'abc' }, 409, /less than 7 bytes/);
  await refuse('POST /v3/images/upload/empty.bin', { raw: '' }, 409, /less than 7 bytes/);
  await refuse('POST /v3/images/upload/other.bin', { raw: elf(2, 2, 'sparc') }, 409, /no known kind/);
  await refuse('POST /v3/images/upload/one.qcow2', { raw: disk(9) }, 409, /choose another name/);
  await refuse('POST /v3/images/upload/other/one.qcow2', { raw: disk(9) }, 409, /choose another name/);
  for (const path of ['..%2f..%2fx.img', '..%2fIOU%2fx.img', '%2fetc%2fx.img', '-x.img', 'x%00.img', 'sub%2f..%2f..%2fx'])
    assert.equal((await client.send(`POST /v3/images/upload/${path}`, { raw: disk(9) })).status, 403, path);
  const away = disk(9, '/etc/passwd');
  await refuse('POST /v3/images/upload/away.qcow2', { raw: away }, 409, /backing file/);
  assert.deepEqual(await names(), before);
  const left = await readdir(join(server.dataDir, 'images'), { recursive: true });
  assert.deepEqual(
    left.filter((name) => name.endsWith('.tmp') || name.includes('other') || name.includes('away')),
    [],
  );
});

test('an empty disk is made under a name of its own', async () => {
  const made = await client.post<ImageBody>('/v3/images/qemu/blank.qcow2', { format: 'qcow2', size: '4' });
  assert.deepEqual([made.filename, made.image_type], ['blank.qcow2', 'qemu']);
  await refuse('POST /v3/images/qemu/blank.qcow2', { body: { format: 'qcow2', size: 4 } }, 400, /already/);
  assert.equal((await client.post<ImageBody>('/v3/images/qemu/v.vmdk', { format: 'vdmk', size: 1 })).filename, 'v.vmdk');
  for (const name of ['a%2fb.img', '..%2fx.img', '.x.img'])
    assert.equal((await client.send(`POST /v3/images/qemu/${name}`, { body: { format: 'raw', size: 1 } })).status, 403, name);
});

test('an image is deleted, and pruned, only when nothing uses it', async () => {
  await upload('base.qcow2', disk(20));
  await upload('child.qcow2', disk(21, 'base.qcow2'));
  await upload('of-node.qcow2', disk(22));
  await upload('of-template.qcow2', disk(23));
  await upload('orphan.qcow2', disk(24));
  await upload('lone-base.qcow2', disk(25));
  await upload('lone-child.qcow2', disk(26, 'lone-base.qcow2'));
  const project = await createProject(client);
  await createNode(client, project, 'qemu', { properties: { hda_disk_image: 'of-node.qcow2', qemu_path: 'qemu-system-x86_64' } });
  await createNode(client, project, 'qemu', { properties: { hda_disk_image: 'child.qcow2', qemu_path: 'qemu-system-x86_64' } });
  await client.post(`${project.path}/close`, {}, 204);
  const body = { name: 'used', template_type: 'qemu', hda_disk_image: 'of-template.qcow2' };
  const { template_id } = await client.post<TemplateBody>('/v3/templates', body);
  for (const name of ['of-node.qcow2', 'of-template.qcow2', 'base.qcow2'])
    assert.equal((await client.send(`DELETE /v3/images/${name}`)).status, 409, name);
  assert.equal((await client.send('DELETE /v3/images/none.qcow2')).status, 404);
  expectStatus(await client.send('DELETE /v3/images/prune'), 204);
  assert.deepEqual(await names(), ['base.qcow2', 'child.qcow2', 'of-node.qcow2', 'of-template.qcow2']);

  const path = `DELETE /v3/templates/${template_id}?prune_images=true`;
  const other = await client.post<TemplateBody>('/v3/templates', { ...body, name: 'other' });
  assert.equal((await client.send(path)).status, 409);
  await client.delete(`/v3/templates/${other.template_id}`);
  expectStatus(await client.send(path), 204);
  assert.equal((await client.send('GET /v3/images/of-template.qcow2')).status, 404);
});

test('a template of /v3 names images that are here, once for a version, and /v2 shows nothing of it', async () => {
  await upload('for-template.qcow2', disk(30));
  await upload('for-iou.bin', elf(1, 1, 'iou'));
  const body = { name: 'versioned', template_type: 'qemu', hda_disk_image: 'for-template.qcow2' };
  assert.equal((await client.send('POST /v3/templates', { body: { ...body, hda_disk_image: 'none.qcow2' } })).status, 404);
  assert.equal((await client.send('POST /v3/templates', { body: { ...body, hda_disk_image: 'for-iou.bin' } })).status, 400);
  const made = await client.post<TemplateBody>('/v3/templates', { ...body, version: '1', tags: ['lab:a'] });
  assert.deepEqual([made.version, made.tags], ['1', ['lab:a']]);
  assert.match(String(made.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  await refuse('POST /v3/templates', { body: { ...body, version: '1' } }, 409, /same version/);
  const second = await client.post<TemplateBody>('/v3/templates', { ...body, version: '2' });
  assert.equal((await client.put<TemplateBody>(`/v3/templates/${second.template_id}`, { version: '3' })).version, '3');
  const shown = await client.get<TemplateBody>(`/v2/templates/${made.template_id}`);
  for (const key of ['version', 'tags', 'created_at', 'updated_at']) assert.ok(!(key in shown), key);
  await server.kill9();
  await server.restart();
  const again = await client.get<TemplateBody>(`/v3/templates/${made.template_id}`);
  assert.deepEqual([again.version, again.tags, again.created_at], ['1', ['lab:a'], made.created_at]);
  for (const { template_id } of [made, second]) await client.delete(`/v3/templates/${template_id}`);
});

test('an appliance becomes a template when its image is here', async () => {
  const image = disk(40);
  const appliance = {
    appliance_id: '12345678-1234-4234-8234-123456789abc',
    name: 'Box',
    category: 'guest',
    registry_version: 8,
    settings: [{ default: true, template_type: 'qemu', template_properties: { ram: 128, adapters: 2, platform: 'x86_64' } }],
    images: [{ filename: 'box.qcow2', version: '1.0', checksum: md5(image), checksum_type: 'md5', filesize: image.length }],
    versions: [{ name: '1.0', images: { hda_disk_image: 'box.qcow2' } }],
  };
  expectStatus(await client.send('POST /v2/appliances/files/box.gns3a', { raw: JSON.stringify(appliance) }), 204);
  const path = `/v3/appliances/${appliance.appliance_id}`;
  assert.equal((await client.get<{ name: string }>(path)).name, 'Box');
  assert.equal((await client.send(`POST ${path}/install`)).status, 400);
  assert.equal((await client.send(`POST ${path}/install?version=9`)).status, 404);
  await refuse(`POST ${path}/install?version=1.0`, {}, 409, /needs the image box\.qcow2.*upload it/);

  await upload('another-name.qcow2', image, '?install_appliances=true');
  const box = async () => (await client.get<TemplateBody[]>('/v3/templates')).filter(({ name }) => name === 'Box');
  const [made] = await box();
  assert.deepEqual(
    [made?.version, made?.hda_disk_image, made?.ram, made?.adapters, made?.template_type],
    ['1.0', 'another-name.qcow2', 128, 2, 'qemu'],
  );
  await refuse(`POST ${path}/install?version=1.0`, {}, 409, /same version/);
  await client.delete(`/v3/templates/${made?.template_id}`);
  expectStatus(await client.send('POST /v3/images/install'), 204);
  assert.equal((await box()).length, 1);

  const version = { name: '2.0', images: { hda_disk_image: 'for-template.qcow2' } };
  const changed = await client.post<{ versions: { name: string }[] }>(`${path}/version`, version);
  assert.deepEqual(
    changed.versions.map(({ name }) => name),
    ['1.0', '2.0'],
  );
  assert.equal((await client.send(`POST ${path}/version`, { body: version })).status, 409);
  assert.equal((await client.send(`POST ${path}/version`, { body: { name: '3.0', images: {} } })).status, 400);
  const listed = await client.get<{ name: string; versions?: unknown[]; appliance_id?: string }[]>('/v2/appliances');
  assert.equal(listed.find(({ name }) => name === 'Box')?.versions?.length, 2);
  assert.ok(listed.every((one) => one.appliance_id === undefined));
  expectStatus(await client.send(`POST ${path}/install?version=2.0`), 204);
  assert.equal((await box()).length, 2);
});

test('an appliance sets no option of an emulator that its user may not set', async () => {
  const appliance = {
    name: 'Escape',
    category: 'guest',
    qemu: { ram: 64, adapters: 1, arch: 'x86_64', options: '-drive file=/etc/shadow' },
    images: [{ filename: 'escape.qcow2', md5sum: md5(disk(50)) }],
    versions: [{ name: '1', images: { hda_disk_image: 'escape.qcow2' } }],
  };
  await writeFile(join(server.dataDir, 'appliances', 'escape.gns3a'), JSON.stringify(appliance));
  await upload('escape.qcow2', disk(50), '?install_appliances=true');
  const templates = await client.get<TemplateBody[]>('/v3/templates');
  assert.ok(!templates.some(({ name }) => name === 'Escape'));
});
