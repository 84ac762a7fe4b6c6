import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DurableMap } from '../../../lib/durable-map.ts';
import { gns3CaptureId } from '../../../schema/capture.ts';
import { CaptureStore } from './capture-store.ts';
import type { StoredCapture } from './stored-capture.ts';

const [project, other] = [crypto.randomUUID(), crypto.randomUUID()];
const [link, second] = [crypto.randomUUID(), crypto.randomUUID()];
const id = crypto.randomUUID();
const options = { data_link_type: 'DLT_EN10MB', side: 'before', nanoseconds: true, max_bytes: 5000, ends_at: null } as const;
const plain = { data_link_type: 'DLT_EN10MB', side: 'after', nanoseconds: false, max_bytes: null, ends_at: null } as const;
const capture = (capture_id: string, state: 'waiting' | 'ended'): StoredCapture => ({
  ...{ capture_id, capture_file_name: 'a.pcap', state },
  ...options,
});

const warnings: string[] = [];
const warn = (message: string) => warnings.push(message);
let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'patchbay-captures-'));
});
after(() => rm(root, { recursive: true }));

async function stateFolder(name: string): Promise<string> {
  await mkdir(join(root, name));
  return join(root, name);
}

async function writeMap(path: string, entries: Record<string, unknown>): Promise<void> {
  const map = await DurableMap.open<unknown>(path, warn);
  for (const [key, value] of Object.entries(entries)) await map.set(key, value);
  await map.close();
}

describe('the store of captures', () => {
  it('gives back what was stored, in the order of the first time, by project', async () => {
    const folder = await stateFolder('stored');
    const store = await CaptureStore.open(folder, warn);
    const running: StoredCapture = { ...capture(gns3CaptureId, 'waiting'), state: 'capturing', end: 1 };
    await store.of(project).set(link, running);
    await store.of(project).set(link, capture(id, 'waiting'));
    await store.of(other).set(link, running);
    await store.of(project).set(link, capture(gns3CaptureId, 'ended'));
    await store.close();
    const again = await CaptureStore.open(folder, warn);
    const expected = [
      [link, capture(gns3CaptureId, 'ended')],
      [link, capture(id, 'waiting')],
    ];
    assert.deepEqual(again.of(project).read(), expected);
    await again.of(project).set(link, capture(id, 'ended'));
    assert.deepEqual(again.of(project).read(), expected.slice(0, 1));
    await again.forget(project);
    assert.deepEqual(again.of(project).read(), []);
    assert.deepEqual(again.of(other).read(), [[link, running]]);
    await again.close();
  });

  it('takes over the two files of 0.1, once', async () => {
    const folder = await stateFolder('old');
    const waiting = { ...options, capture_file_name: 'waits.pcap' };
    await writeMap(join(folder, 'captures.log'), {
      [project]: [
        { ...waiting, link_id: link, capture_id: null },
        { ...waiting, link_id: link, capture_id: id },
      ],
    });
    const names = { [`${project}/${link}`]: 'waits.pcap', [`${project}/${second}`]: 'last.pcap', [`${other}/${link}`]: 'x.pcap' };
    await writeMap(join(folder, 'capture-names.log'), names);
    const expected = [
      [link, { ...waiting, capture_id: gns3CaptureId, state: 'waiting' }],
      [link, { ...waiting, capture_id: id, state: 'waiting' }],
      [second, { ...plain, capture_id: gns3CaptureId, capture_file_name: 'last.pcap', state: 'ended' }],
    ];
    for (let round = 0; round < 2; round += 1) {
      const store = await CaptureStore.open(folder, warn);
      assert.deepEqual(store.of(project).read(), expected);
      assert.equal(store.of(other).read().length, 1);
      assert.deepEqual(await readdir(folder), ['captures.log']);
      await store.close();
    }
    assert.deepEqual(warnings, []);
  });

  it('leaves out what cannot be read of either file, says so, and serves the rest', async () => {
    const folder = await stateFolder('damaged');
    const store = await CaptureStore.open(folder, warn);
    for (const linkId of [link, second]) await store.of(project).set(linkId, capture(id, 'waiting'));
    await store.close();
    await writeMap(join(folder, 'capture-names.log'), { [`${project}/${link}`]: 'x.pcap', [`${other}/${link}`]: 'y.pcap' });
    for (const name of ['captures.log', 'capture-names.log']) {
      const bytes = await readFile(join(folder, name));
      bytes[30] = 0;
      await writeFile(join(folder, name), bytes);
    }
    const again = await CaptureStore.open(folder, warn);
    assert.deepEqual(again.of(project).read(), [[second, capture(id, 'waiting')]]);
    assert.deepEqual(
      again
        .of(other)
        .read()
        .map(([, { capture_file_name }]) => capture_file_name),
      ['y.pcap'],
    );
    assert.equal(warnings.length, 2);
    assert.match(warnings.join(' '), /captures\.log.*capture-names\.log/);
    await again.close();
  });
});
