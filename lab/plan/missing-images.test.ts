/** Images that a plan says are missing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindFacts } from '../../src/schema/kind.ts';
import type { NodeType } from '../../src/schema/node.ts';
import type { LabApi } from '../state/lab-api.ts';
import type { LabPlan } from './lab-plan.ts';
import { missingImages } from './missing-images.ts';
import { unseenFiles } from './unseen-files.ts';

const kinds = new Map<NodeType, KindFacts>([
  [
    'docker',
    {
      engine_images: true,
      images: false,
      image_properties: [],
      lab: { image: 'image', files: ['etc/network/interfaces'] },
    } as unknown as KindFacts,
  ],
  ['qemu', { engine_images: false, images: true, image_properties: ['hda_disk_image'], lab: {} } as unknown as KindFacts],
]);

function planOf(nodes: readonly (readonly [name: string, node_type: NodeType, properties: object])[]): LabPlan {
  const steps = nodes.map(([name, node_type, properties]) => ({ name, create: { node_type, compute_id: 'local', properties } }));
  return { nodes: steps } as unknown as LabPlan;
}

function apiOf(replies: Readonly<Record<string, unknown>>): Pick<LabApi, 'json'> {
  return { json: async <T>(_method: string, path: string) => replies[path] as T };
}

const find = async (plan: LabPlan, replies: Readonly<Record<string, unknown>>) => {
  const missing = await missingImages(apiOf({ '/v2/appliances': [], ...replies }), plan, { state: undefined, catalog: { kinds } });
  return missing.map(({ image, nodes, size, md5 }) => ({ image, nodes, ...(size && { size }), ...(md5 && { md5 }) }));
};

test('a container image is missing although another registry has one of this name', async () => {
  const plan = planOf([
    ['A', 'docker', { image: 'registry.example/lab/router:1' }],
    ['B', 'docker', { image: 'router:1' }],
    ['C', 'docker', { image: 'router' }],
  ]);
  const images = { '/v2/computes/local/docker/images': [{ image: 'router:1' }, { image: 'router:latest' }] };
  assert.deepEqual(await find(plan, images), [{ image: 'registry.example/lab/router:1', nodes: ['A'] }]);
});

test('a file in a folder is found by its name', async () => {
  const plan = planOf([['A', 'qemu', { hda_disk_image: 'folder/disk.qcow2' }]]);
  assert.deepEqual(await find(plan, { '/v2/computes/local/qemu/images': [{ filename: 'disk.qcow2' }] }), []);
});

test('appliances of users that list no images, or wrong ones, are passed over', async () => {
  const appliances = [{ images: null }, { images: 'disk.qcow2' }, { images: [null, 'x', { filename: 'disk.qcow2', filesize: 7 }] }];
  const plan = planOf([['A', 'qemu', { hda_disk_image: 'disk.qcow2' }]]);
  const replies = { '/v2/computes/local/qemu/images': [], '/v2/appliances': appliances };
  assert.deepEqual(await find(plan, replies), [{ image: 'disk.qcow2', nodes: ['A'], size: 7 }]);
});

test('checksums of appliances of registry version 8 are known', async () => {
  const images = [{ filename: 'disk.qcow2', checksum: 'a'.repeat(32), checksum_type: 'md5' }];
  const plan = planOf([['A', 'qemu', { hda_disk_image: 'disk.qcow2' }]]);
  const replies = { '/v2/computes/local/qemu/images': [], '/v2/appliances': [{ registry_version: 8, images }] };
  assert.deepEqual(await find(plan, replies), [{ image: 'disk.qcow2', nodes: ['A'], md5: 'a'.repeat(32) }]);
});

test('a plan names files that are outside the volumes of their container, and of its image where that is known', async () => {
  const files = new Map(['etc/network/interfaces', 'etc/frr/frr.conf', 'root/x', 'kept/y'].map((path) => [path, '']));
  const node = (image: string) => ({
    create: { node_type: 'docker', compute_id: 'local', properties: { image, extra_volumes: ['/etc/frr'] } },
    files,
  });
  const plan = {
    nodes: [
      { name: 'A', ...node('a/b:1') },
      { name: 'B', create: { node_type: 'qemu', compute_id: 'local', properties: {} }, files },
      { name: 'C', ...node('absent') },
    ],
  } as unknown as LabPlan;
  const asked: string[] = [];
  const api = {
    json: async (_method: string, path: string) => {
      asked.push(path);
      return { volumes: path.endsWith('/a/b%3A1') ? ['/kept/'] : null };
    },
  };
  const sentences = await unseenFiles(api as never, plan, { state: undefined, catalog: { kinds } });
  const rule = 'only if its image declares a volume there: add its folder to extra_volumes';
  assert.deepEqual(sentences, [
    'The container of A does not see the file root/x, as neither its image nor extra_volumes has a volume there: add its folder to extra_volumes',
    `The container of C sees the file root/x ${rule}`,
    `The container of C sees the file kept/y ${rule}`,
  ]);
  assert.deepEqual(asked, ['/v2/computes/local/docker/image_volumes/a/b%3A1', '/v2/computes/local/docker/image_volumes/absent']);
});
