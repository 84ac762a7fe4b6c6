import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Appliance, appliancesOf, imagesOf, isEmptyDisk, kindOf, templateOf, versionWith } from './appliance.ts';

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
  assert.deepEqual(appliancesOf(router), [router]);
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
    assert.deepEqual(appliancesOf(value), [], JSON.stringify(value));
});

/** A file of registry version 8: settings of two emulators, a version for each, and one that inherits. */
const twoEmulators = {
  name: 'Both',
  category: 'router',
  registry_version: 8,
  default_username: 'admin',
  default_password: 'secret',
  settings: [
    { name: 'machine', default: true, template_type: 'qemu', template_properties: { platform: 'x86_64', ram: 512, adapters: 4 } },
    { name: 'large', template_type: 'qemu', template_properties: { ram: 4096 } },
    { name: 'bare', inherit_default_properties: false, template_type: 'qemu', template_properties: { ram: 64 } },
    { name: 'container', template_type: 'docker', template_properties: { image: 'acme/both:1', adapters: 2 } },
  ],
  images: [
    { filename: 'a.img', version: '1', checksum: 'A'.repeat(32), filesize: 5 },
    { filename: 'b.img', version: '2', checksum: 'b'.repeat(32), checksum_type: 'md5' },
    { filename: 'c.img', version: '3', checksum: 'c'.repeat(64), checksum_type: 'sha256' },
  ],
  versions: [
    { name: '3', settings: 'bare', images: { hda_disk_image: 'c.img' } },
    { name: '2', settings: 'large', usage: 'Wait.', category: 'firewall', images: { hda_disk_image: 'b.img' } },
    { name: '1', images: { hda_disk_image: 'a.img' } },
    { name: 'box', settings: 'container' },
  ],
};

test('a file of registry version 8 is one appliance for each emulator, with the settings of each version', () => {
  const [machine, container, ...more] = appliancesOf(twoEmulators);
  assert.ok(machine && container);
  assert.deepEqual(more, []);
  assert.deepEqual([machine.name, kindOf(machine, kinds)], ['Both (qemu)', 'qemu']);
  assert.deepEqual([container.name, kindOf(container, kinds), container.images], ['Both (docker)', 'docker', []]);
  assert.equal(versionWith(machine, 'a'.repeat(32))?.name, '1');
  assert.equal(versionWith(machine, 'b'.repeat(32))?.name, '2');
  assert.equal(machine.images?.[2]?.md5sum, undefined);
  const all = new Set(['ram', 'platform', 'adapters', 'hda_disk_image', 'usage', 'image']);
  const templateFor = (one: Appliance, kind: 'qemu' | 'docker', name: string) =>
    templateOf(one, {
      ...{ name: 'T', kind, computeId: 'local', known: all, fileNames: new Map() },
      version: one.versions?.find((version) => version.name === name),
    });
  const made = { name: 'T', template_type: 'qemu', compute_id: 'local' };
  const login = 'User name: admin. Password: secret';
  const machineOf = { platform: 'x86_64', adapters: 4 };
  assert.deepEqual(templateFor(machine, 'qemu', '1'), {
    ...{ ...made, ...machineOf, ram: 512, category: 'router', hda_disk_image: 'a.img', usage: login },
  });
  assert.deepEqual(templateFor(machine, 'qemu', '2'), {
    ...{ ...made, ...machineOf, ram: 4096, category: 'firewall', hda_disk_image: 'b.img', usage: `Wait.\n${login}` },
  });
  assert.deepEqual(templateFor(machine, 'qemu', '3'), {
    ...{ ...made, ram: 64, category: 'router', hda_disk_image: 'c.img', usage: login },
  });
  assert.deepEqual(templateFor(container, 'docker', 'box'), {
    ...{ ...made, template_type: 'docker', adapters: 2, image: 'acme/both:1', category: 'router', usage: login },
  });
});

test('settings of version 8 in another form are left out', () => {
  const ofField = (template_type: string) => ({ template_type, template_properties: { x: 1 } });
  const [named] = appliancesOf({ name: 'x', settings: ['name', 'usage', 'versions', '__proto__'].map(ofField) });
  assert.deepEqual([named?.name, typeof named?.usage, named?.versions], ['x', 'undefined', undefined]);
  for (const settings of [null, {}, 'x', [null, 'x', { template_type: 1 }, { template_type: 'qemu', template_properties: [] }]])
    assert.equal(kindOf(appliancesOf({ name: 'x', settings })[0] as Appliance, kinds), undefined);
  assert.deepEqual(appliancesOf({ name: 'x', settings: [], default_password: 5 }), []);
});
