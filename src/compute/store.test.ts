import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type CaptureRecord, type NioRecord, type NodeRecord, type ProjectRecord, type RunRecord, Store } from './store.ts';

const projectId = '11111111-1111-4111-8111-111111111111';
const nodeId = '22222222-2222-4222-8222-222222222222';
const project: ProjectRecord = { project_id: projectId, name: 'p', path: '/p', variables: null, owned: true };
const node: NodeRecord = {
  project_id: projectId,
  node_id: nodeId,
  node_type: 'vpcs',
  name: 'PC1',
  console: 5000,
  console_type: 'telnet',
  properties: {},
};
const nio: NioRecord = { lport: 1, rhost: 'h', rport: 2, address: '192.0.2.1', filters: {}, bpf: [], suspend: false };
const run: RunRecord = { record: { pid: 1 }, status: 'started', command_line: 'x', stale: false };

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-store-'));
});
after(() => rm(folder, { recursive: true }));

it('gives back what was stored', async () => {
  const path = join(folder, 'state', 'all.journal');
  const store = await Store.open(path, assert.fail);
  await Promise.all([store.setProject(project), store.setNode(node), store.setNio(nodeId, { adapter: 3, port: 0 }, nio)]);
  await store.setRun(nodeId, run);
  await store.beginCopy('/p/.copy');
  await store.close();
  const again = await Store.open(path, assert.fail);
  const expected = {
    projects: [project],
    nodes: [{ record: node, commandLine: run.command_line, nios: [{ adapter: 3, port: 0, nio }], run }],
    copies: ['/p/.copy'],
  };
  assert.deepEqual(again.load(), expected);
  await again.endRun(nodeId, { command_line: 'vpcs -p 1', generation: 7, ending: 'guest' });
  const [ended] = again.load().nodes;
  assert.deepEqual([ended?.commandLine, ended?.run, ended?.generation, ended?.ending], ['vpcs -p 1', undefined, 7, 'guest']);
  await again.deleteNode(nodeId, [{ adapter: 3, port: 0 }]);
  await again.endCopy('/p/.copy');
  assert.deepEqual(again.load(), { projects: [project], nodes: [], copies: [] });
  await again.close();
});

it('leaves out what hangs on something that is gone', async () => {
  const store = await Store.open(join(folder, 'parts.journal'), assert.fail);
  await store.setNode(node);
  await store.setNio(nodeId, { adapter: 0, port: 0 }, nio);
  await store.setRun(nodeId, run);
  assert.deepEqual(store.load(), { projects: [], nodes: [], copies: [] });
  await store.setProject(project);
  assert.deepEqual(store.load().nodes, [], 'it was removed, not only hidden');
  await store.close();
});

it('says so when the disk is full', async () => {
  const store = await Store.open('/dev/full', assert.fail);
  await assert.rejects(store.setProject(project), { code: 'storage_failed', status: 507 });
  assert.deepEqual(store.load().projects, []);
  await store.close();
});

it('reads a NIO of 0.1, whose first capture stood apart', async () => {
  const path = join(folder, 'old.journal');
  const store = await Store.open(path, assert.fail);
  const capture = { id: 'an id', path: '/p/a.pcap', file_name: 'a.pcap', link_type: 1, side: 'after', nanoseconds: false } as const;
  const second = { ...capture, id: 'second', path: '/p/b.pcap', file_name: 'b.pcap' };
  await Promise.all([store.setProject(project), store.setNode(node)]);
  const old: NioRecord & { capture: CaptureRecord } = { ...nio, capture, captures: [second] };
  await store.setNio(nodeId, { adapter: 0, port: 0 }, old);
  await store.setNio(nodeId, { adapter: 1, port: 0 }, nio);
  await store.close();
  const again = await Store.open(path, assert.fail);
  const [loaded] = again.load().nodes;
  assert.deepEqual(
    loaded?.nios.map((one) => one.nio),
    [{ ...nio, captures: [{ ...capture, id: 'gns3' }, second] }, nio],
  );
  await again.close();
});
