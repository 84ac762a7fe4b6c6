import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Appliance, imagesOf, isAppliance, isEmptyDisk, kindOf, templateOf, versionWith } from './appliance.ts';

const router = {
  name: 'Router',
  category: 'multilayer_switch',
  symbol: ':/symbols/router.svg',
  port_name_format: 'eth{0}',
  qemu: { arch: 'x86_64', ram: 256, kvm: 'allow', unheard_of: 1 },
  images: [
    { filename: 'new.img', md5sum: 'a'.repeat(32), filesize: 10 },
    { filename: 'old.img', md5sum: 'b'.repeat(32), filesize: 9 },
    { filename: 'boot.iso', md5sum: 'c'.repeat(32) },
  ],
  versions: [
    { name: '2', images: { hda_disk_image: 'new.img', cdrom_image: 'boot.iso' } },
    { name: '1', images: { hda_disk_image: 'old.img', hdb_disk_image: 'empty8G.qcow2' } },
  ],
} as unknown as Appliance;
const kinds = ['vpcs', 'qemu', 'docker'];
const known = new Set(['ram', 'platform', 'hda_disk_image', 'cdrom_image', 'port_name_format']);

test('a version says its files, and a checksum finds its version', () => {
  assert.ok(isAppliance(router));
  assert.equal(kindOf(router, kinds), 'qemu');
  assert.deepEqual(
    imagesOf(router, router.versions?.[1]).map(({ filename, filesize }) => [filename, filesize]),
    [
      ['old.img', 9],
      ['empty8G.qcow2', undefined],
    ],
  );
  assert.equal(versionWith(router, 'b'.repeat(32))?.name, '1');
  assert.equal(versionWith(router, 'd'.repeat(32)), undefined);
  assert.ok(isEmptyDisk('empty8G.qcow2'));
  assert.ok(!isEmptyDisk('empty.qcow2'));
});

test('a template has the known properties, under the names that the files have on the compute', () => {
  const parts = { name: 'R', kind: 'qemu', computeId: 'local', known, fileNames: new Map([['new.img', 'other.img']]) } as const;
  assert.deepEqual(templateOf(router, { ...parts, version: router.versions?.[0] }), {
    ram: 256,
    platform: 'x86_64',
    symbol: ':/symbols/router.svg',
    port_name_format: 'eth{0}',
    hda_disk_image: 'other.img',
    cdrom_image: 'boot.iso',
    category: 'switch',
    name: 'R',
    template_type: 'qemu',
    compute_id: 'local',
  });
});

test('other JSON is no appliance', () => {
  const wrong: unknown[] = [null, [], 'x', {}, { name: 1 }, { ...router, images: {} }, { ...router, images: [{}] }];
  // A page that shows such a value would fail, or take a file whose checksum is not known yet for this one.
  for (const field of [{ md5sum: null }, { filesize: '1' }, { download_url: { toString: 1 } }, { compression: [] }])
    wrong.push({ ...router, images: [{ filename: 'x', ...field }] });
  for (const field of ['product_name', 'documentation_url']) wrong.push({ ...router, [field]: { toString: 1 } });
  for (const value of [...wrong, { ...router, versions: [{ name: 'x', images: { a: 1 } }] }, { ...router, symbol: 1 }])
    assert.ok(!isAppliance(value), JSON.stringify(value));
});
