/** Uploads of images: as plain bodies, and in forms as `curl -F` and browsers send them. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const elf = (order: string, bits: string) => Buffer.from(`7f454c46${bits}${order}01000000000000000000`, 'hex');
/** Heads of images that each kind lists; dashes and line ends in them are not those of the form. */
const heads: Record<string, Buffer> = {
  qemu: Buffer.from('QFI\xfb', 'latin1'),
  dynamips: elf('02', '01'),
  iou: elf('01', '01'),
};
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const routesOf = (type: string, name: string) => [
  `/v2/compute/${type}/images/direct-${name}`,
  `/v2/computes/local/${type}/images/by-${name}`,
];

function post(path: string, form: FormData): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', body: form });
}

for (const [type, head] of Object.entries(heads)) {
  test(`${type}: the file of a form is the image, byte for byte`, async () => {
    const image = Buffer.concat([head, Buffer.from('\r\n--x\r\n--\r\n'), randomBytes(3 * 1024 * 1024), Buffer.from('\r\n--')]);
    for (const path of routesOf(type, 'form.bin')) {
      const form = new FormData();
      form.append('comment', 'before it');
      form.append('file', new Blob([new Uint8Array(image)]), 'another-name.bin');
      form.append('file', new Blob(['a second one']), 'second.bin');
      const answer = await post(path, form);
      assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
      const name = path.split('/').at(-1) as string;
      const kept = expectStatus(await client.send(`GET /v2/compute/${type}/images/${name}`), 200).bytes;
      assert.deepEqual([kept.length, md5(kept)], [image.length, md5(image)]);
      const listed = await client.get<{ filename: string; md5sum: string }[]>(`/v2/compute/${type}/images`);
      assert.equal(listed.find(({ filename }) => filename === name)?.md5sum, md5(image));
    }
  });
}

test('a form without a file is refused with how to send one; a torn one, too; neither leaves a file', async () => {
  for (const path of routesOf('qemu', 'none.img')) {
    for (const fields of [{}, { file: 'only a text' }]) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      const answer = await post(path, form);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), /holds no file.*curl -F file=@FILE/);
    }
    const torn = '--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nQFI';
    expectFault(await client.send(`POST ${path}`, { raw: torn }), 400, /form cannot be used/);
  }
  const kept = await readdir(join(server.dataDir, 'images', 'QEMU'));
  assert.deepEqual(
    kept.filter((name) => name.includes('none') || name.endsWith('.tmp')),
    [],
  );
});

test('a body that is not a form is kept unchanged, and its Content-Type is ignored', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=B' };
  for (const content of ['--B\r\nno form at all', '--\n', '--B', 'QFI as clients send it']) {
    expectStatus(await client.send('POST /v2/compute/qemu/images/plain.img', { raw: content, headers }), 204);
    assert.equal(expectStatus(await client.send('GET /v2/compute/qemu/images/plain.img'), 200).text(), content);
  }
});
