/** Images are deleted when nothing uses them, and downloaded from hosts of a list; appliance files can be uploaded. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { imageBytes, imageMd5, imageSha256, withImageServer } from '../support/image-server.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const tls = await mkdtemp(join(tmpdir(), 'pb-images-tls-'));
after(() => rm(tls, { recursive: true }));
const [certFile, keyFile] = [join(tls, 'cert.pem'), join(tls, 'key.pem')];
const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', keyFile, '-out', certFile];
await promisify(execFile)('openssl', [...made, ...subject]);
const source = await withImageServer();
const named = await withImageServer();
const unlisted = await withImageServer();
const secure = await withImageServer({ cert: await readFile(certFile), key: await readFile(keyFile) });
const image_hosts = [
  ...[source.origin, `http://localhost:${named.port}`, `localhost:${secure.port}`, secure.origin, 'appliances'],
  // Where localhost is that, too.
  `https://[::1]:${secure.port}`,
  ...[`http://localhost:${unlisted.port}`, `http://*.localhost:${source.port}`],
].join(', ');
const { server, client } = await withServer({
  config: { Server: { image_hosts, upload_idle_timeout: 6 } },
  env: { NODE_EXTRA_CA_CERTS: certFile },
});
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
  // The image's checksum is stored in the background.
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
  // An appliance that becomes smaller makes room.
  expectStatus(await upload('box.gns3a', '{"name": "Box 3"}'), 204);
  await Promise.all(Array.from({ length: 1999 }, (_, index) => writeFile(join(appliances, `mine/${index}.gns3a`), '')));
  expectFault(await upload('a.gns3a', '{"name": "A"}'), 409, /: 2001 of /);
  expectStatus(await upload('box.gns3a', '{"name": "Box 4 is longer"}'), 204);
  await rm(join(appliances, 'mine'), { recursive: true });
  expectStatus(await upload('a.gns3a', '{"name": "A"}'), 204);
});

const downloads = '/v2/computes/local/image_downloads';
type Line = Partial<Record<'done_bytes' | 'total_bytes' | 'filesize', number> & Record<'filename' | 'failure', string>>;
const wanted = (path: string, fields: object = {}) => {
  const url = path.startsWith('/') ? `${source.origin}${path}` : path;
  return { body: { node_type: 'qemu', url, filename: 'new.img', ...fields } };
};
const request = (path: string, fields?: object) => client.send(`POST ${downloads}`, wanted(path, fields));
async function download(path: string, fields?: object): Promise<Line> {
  const lines = expectStatus(await request(path, fields), 200)
    .text()
    .trim()
    .split('\n');
  return JSON.parse(lines.at(-1) ?? '') as Line;
}
const stored = async () => (await readdir(folder)).filter((name) => !name.endsWith('.md5sum')).sort();

test('an image is downloaded, verified and never in the place of another one', async () => {
  assert.deepEqual(await client.get('/v2/image_hosts'), [
    ...[source.origin, `http://localhost:${named.port}`, `https://localhost:${secure.port}`, secure.origin],
    ...['https://download2.mikrotik.com', 'https://downloads.openwrt.org', 'https://sourceforge.net'],
    `https://[::1]:${secure.port}`,
    ...[`http://localhost:${unlisted.port}`, `http://*.localhost:${source.port}`],
  ]);
  const filesize = imageBytes.length;
  const sums = { md5sum: imageMd5.toUpperCase(), sha256: imageSha256, filesize };
  assert.deepEqual(await download('/disk.img', sums), { filename: 'new.img', filesize });
  assert.ok((await readFile(join(folder, 'new.img'))).equals(imageBytes));
  const count = source.requests.length;
  assert.deepEqual(await download('/disk.img', { md5sum: imageMd5 }), { filename: 'new.img', filesize });
  expectFault(await request('/disk.img'), 409, /has an image of this name already/);
  expectFault(await request('/disk.img', { md5sum: '0'.repeat(32) }), 409, /has an image of this name already/);
  assert.equal(source.requests.length, count, 'nothing was requested for an image that is not replaced');
  // A file that is not listed, as it is too short to be an image, is kept all the same.
  await writeFile(join(folder, 'short.img'), 'x');
  assert.match((await download('/disk.img', { filename: 'short.img' })).failure ?? '', /file of this name already/);
  assert.equal(await readFile(join(folder, 'short.img'), 'utf8'), 'x');
  const redirected = `/redirect?to=${encodeURIComponent(`https://localhost:${secure.port}/unknown-size.img`)}`;
  assert.deepEqual(await download(redirected, { filename: 'two.img' }), { filename: 'two.img', filesize });
  assert.deepEqual(await stored(), ['new.img', 'short.img', 'two.img']);
  await Promise.all((await readdir(folder)).map((name) => rm(join(folder, name))));
});

test('a download is refused with its reason, tells nothing of the answer, and leaves no file', async () => {
  const silent = request('/silent', { filename: 'silent.img' });
  const to = (target: string) => `/redirect?to=${encodeURIComponent(target)}`;
  const port = source.port;
  const refused: readonly (readonly [string, number, RegExp])[] = [
    ['ftp://127.0.0.1/x', 400, /not an http or https address/],
    ['/etc/passwd', 409, /status 404/],
    ['file:///etc/passwd', 400, /not an http or https address/],
    [`http://user:secret@127.0.0.1:${port}/disk.img`, 400, /holds a user or a password/],
    ['https://example.org/disk.img', 403, /example\.org: it is not in image_hosts/],
    [`https://127.0.0.1:${port}/disk.img`, 403, /not in image_hosts/],
    [`http://127.0.0.1:${unlisted.port}/disk.img`, 403, /not in image_hosts/],
    // The names are listed, their address is not.
    [`http://localhost:${named.port}/disk.img`, 403, /add that address to image_hosts/],
    [to(`http://localhost:${unlisted.port}/disk.img`), 403, /add that address to image_hosts/],
    [to(`http://127.0.0.1:${unlisted.port}/disk.img`), 403, /redirects to a host that is not in image_hosts/],
    [to('file:///etc/passwd'), 403, /redirects to a host that is not in image_hosts/],
    [to(`http://u:p@127.0.0.1:${port}/disk.img`), 409, /redirect cannot be followed/],
    // To itself.
    ['/redirect', 409, /redirects more than 5 times/],
    ['/page', 409, /web page/],
    ['/packed', 409, /compressed/],
    ['/huge', 507, /min_free_bytes/],
  ];
  for (const [path, status, says] of refused) {
    const reply = await request(path);
    expectFault(reply, status, says);
    assert.doesNotMatch(reply.text(), /secret text/);
  }
  expectFault(await request('/disk.img', { filesize: 5 }), 409, /does not have 5 bytes/);
  for (const name of ['a/b', '..', 'a\nb', '.hidden', 'disk.img.md5sum', 'x.tmp'])
    expectFault(await request('/disk.img', { filename: name }), 400);
  expectFault(await request('/disk.img', { node_type: 'vpcs' }), 404);
  const failing = [
    ['/disk.img', { filename: '-x' }, /begins with a dash/],
    ['/disk.img', { md5sum: '0'.repeat(32) }, /MD5 checksum is not 0{32}/],
    ['/disk.img', { md5sum: imageMd5, sha256: '0'.repeat(64) }, /SHA-256 checksum is not 0{64}/],
    ['/unknown-size.img', { filesize: 5 }, /does not have 5 bytes/],
    ['/unknown-size.img', { filesize: imageBytes.length + 1 }, /does not have/],
    ['/empty', {}, /is empty/],
    ['/cut', {}, /the connection failed/],
  ] as const;
  for (const [path, fields, says] of failing) assert.match((await download(path, fields)).failure ?? '', says);
  assert.deepEqual([named.requests, unlisted.requests], [[], []]);
  expectFault(await silent, 409, /sent nothing for 6 s/);
  assert.deepEqual(await stored(), []);
});

test('a download whose client goes, or whose server is killed, leaves nothing', async () => {
  const holdsHalf = async () => {
    const [name = ''] = (await stored()).filter((one) => one.endsWith('.tmp'));
    return name === '' ? undefined : (await stat(join(folder, name)).catch(() => undefined))?.size || undefined;
  };
  const begun = () => waitFor(async () => (source.waiting.size === 1 ? holdsHalf() : undefined), { what: 'half of an image' });
  const away = new AbortController();
  const cancelled = fetch(`${server.url}${downloads}`, {
    ...{ method: 'POST', signal: away.signal },
    body: JSON.stringify(wanted('/half').body),
  });
  const answer = await cancelled;
  await begun();
  expectFault(await request('/half'), 409, /being downloaded already/);
  away.abort();
  await assert.rejects(answer.text(), { name: 'AbortError' });
  await waitFor(async () => source.waiting.size === 0 && (await stored()).length === 0, { what: 'the end of a download' });
  const lost = request('/half', { filename: 'lost.img' }).catch((error: Error) => error);
  await begun();
  await server.kill9();
  assert.ok((await lost) instanceof Error);
  assert.equal((await stored()).length, 1);
  await server.restart();
  await waitFor(async () => (await stored()).length === 0, { what: 'the removal of the unfinished file' });
});
