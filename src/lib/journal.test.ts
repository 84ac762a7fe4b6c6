import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { DurableMap } from './durable-map.ts';
import { Journal, JournalDamaged } from './journal.ts';
import { encode } from './journal-lines.ts';

interface Entry {
  n: number;
}

describe('journal', () => {
  let folder: string;
  let count = 0;
  const path = () => join(folder, `${count++}.log`);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-journal-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('gives back what was appended, in order', async () => {
    const file = path();
    const { journal } = await Journal.open<Entry>(file);
    await Promise.all(Array.from({ length: 500 }, (_, n) => journal.append({ n })));
    await journal.close();
    const { records, cutBytes, journal: again } = await Journal.open<Entry>(file);
    assert.deepEqual(
      records.map((record) => record.n),
      Array.from({ length: 500 }, (_, n) => n),
    );
    assert.equal(cutBytes, 0);
    await again.close();
  });

  it('cuts a torn last record off and continues', async () => {
    const file = path();
    const { journal } = await Journal.open<Entry>(file);
    await journal.append({ n: 1 });
    await journal.close();
    await appendFile(file, '1234abcd {"n":');
    const { journal: again, records, cutBytes } = await Journal.open<Entry>(file);
    assert.deepEqual(records, [{ n: 1 }]);
    assert.equal(cutBytes, 14);
    await again.append({ n: 2 });
    await again.close();
    assert.deepEqual(await Journal.read<Entry>(file), [{ n: 1 }, { n: 2 }]);
  });

  it('gives back long lists, and cuts one off that is torn or damaged at the end', async () => {
    const file = path();
    const odd = [
      '"',
      '\\',
      '\\"',
      ',',
      '[{',
      '}]',
      'é\u2028\n',
      1,
      null,
      true,
      [],
      {},
      [[1, [2]], '],'],
      { 'a"],': { b: [',{'] } },
    ];
    const list = Array.from({ length: 1_000 }, (_, n) => odd.map((item) => [n, item, 'x'.repeat(20)])).flat();
    const { journal } = await Journal.open<unknown>(file);
    await journal.append(list);
    await journal.append(odd);
    await journal.append([]);
    await journal.close();
    assert.deepEqual(await Journal.read(file), [list, odd, []]);
    const goodBytes = (await stat(file)).size;
    const line = encode(list);
    for (const bad of [
      line.slice(0, -1),
      line.slice(0, line.length / 2),
      line.replace('xxx', 'xxy'),
      `${line.slice(0, 8)}-${line.slice(9)}`,
    ]) {
      await truncate(file, goodBytes);
      await appendFile(file, bad);
      const { journal: again, records, cutBytes } = await Journal.open(file);
      assert.deepEqual([records.length, cutBytes], [3, Buffer.byteLength(bad)]);
      await again.close();
    }
  });

  it('refuses a file that is damaged in the middle and leaves it as it is', async () => {
    const file = path();
    const { journal } = await Journal.open<Entry>(file);
    for (const n of [1, 2, 3]) await journal.append({ n });
    await journal.close();
    const damaged = (await readFile(file, 'utf8')).replace('"n":2', '"n":7');
    await writeFile(file, damaged);
    await assert.rejects(Journal.open(file), JournalDamaged);
    assert.equal(await readFile(file, 'utf8'), damaged);
  });

  it('keeps appends that come while it is restarted', async () => {
    const file = path();
    const { journal } = await Journal.open<Entry>(file);
    await journal.append({ n: 1 });
    const early = journal.append({ n: 2 });
    const restarted = journal.restart(() => [{ n: 100 }]);
    await early;
    const late = journal.append({ n: 3 });
    await Promise.all([restarted, late]);
    await journal.close();
    assert.deepEqual(await Journal.read<Entry>(file), [{ n: 100 }, { n: 2 }, { n: 3 }]);
  });

  it('writes nothing into a new file before that is settled, and tries again when that failed', async () => {
    const file = path();
    const tries = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const { promise } of tries) promise.catch(() => undefined);
    let count = 0;
    const journal = Journal.create<Entry>(file, async () => tries[count++]?.promise);
    const [early, refused] = [journal.append({ n: 1 }), journal.append({ n: 2 })];
    const settled = Promise.allSettled([early, refused]);
    tries[0]?.reject(new Error('the disk is gone'));
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const again = journal.settle();
    const late = journal.append({ n: 3 });
    while (count < 2) await new Promise(setImmediate);
    assert.deepEqual(await Journal.read<Entry>(file), []);
    tries[1]?.resolve();
    await Promise.all([again, late]);
    assert.deepEqual(await Journal.read<Entry>(file), [{ n: 3 }]);
    await journal.restart(() => [{ n: 100 }]);
    await journal.append({ n: 4 });
    assert.equal(count, 2);
    await journal.close();
    assert.deepEqual(await Journal.read<Entry>(file), [{ n: 100 }, { n: 4 }]);
  });

  it('writes to the file that has its name when it could not be restarted', async () => {
    const own = path();
    await mkdir(own);
    const { journal } = await Journal.open<Entry>(join(own, 'log'));
    await journal.append({ n: 1 });
    await rm(own, { recursive: true });
    await assert.rejects(journal.restart(() => [{ n: 100 }]));
    await assert.rejects(journal.append({ n: 2 }), { code: 'ENOENT' });
    await mkdir(own);
    await writeFile(join(own, 'log'), encode({ n: 3 }));
    await journal.append({ n: 4 });
    await journal.close();
    assert.deepEqual(await Journal.read<Entry>(join(own, 'log')), [{ n: 3 }, { n: 4 }]);
  });

  it('refuses appends that cannot be written and leaves no part of them', async () => {
    const { journal } = await Journal.open<Entry>('/dev/full');
    await assert.rejects(journal.append({ n: 1 }), { code: 'ENOSPC' });
    await journal.close();
  });
});

describe('durable map', () => {
  it('comes back after it was rewritten', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-map-'));
    const file = join(folder, 'map.log');
    const map = await DurableMap.open<number>(file, assert.fail);
    for (let round = 0; round < 300; round++) await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => map.set(key, round)));
    await map.delete('e');
    await map.close();
    const again = await DurableMap.open<number>(file, assert.fail);
    assert.deepEqual(
      [...again.entries()],
      [
        ['a', 299],
        ['b', 299],
        ['c', 299],
        ['d', 299],
      ],
    );
    assert.ok((await readFile(file, 'utf8')).split('\n').length < 1100);
    await again.close();
    await rm(folder, { recursive: true });
  });

  it('is rewritten for its bytes, too: a few large values that change often', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-map-'));
    const file = join(folder, 'map.log');
    const map = await DurableMap.open<string>(file, assert.fail);
    await map.set('small', 'kept');
    for (let round = 0; round < 30; round++) await map.set('large', `${round}`.padEnd(2 ** 20));
    await map.close();
    assert.ok((await stat(file)).size < 24 * 2 ** 20);
    const again = await DurableMap.open<string>(file, assert.fail);
    assert.deepEqual([again.get('small'), again.get('large')?.trim(), again.size], ['kept', '29', 2]);
    await again.close();
    await rm(folder, { recursive: true });
  });

  it('reverts what cannot be written', async () => {
    const map = await DurableMap.open<number>('/dev/full', assert.fail);
    await assert.rejects(map.set('a', 1), { code: 'ENOSPC' });
    assert.equal(map.has('a'), false);
    await Promise.allSettled([map.set('a', 1), map.set('a', 2)]);
    assert.equal(map.has('a'), false);
    await map.close();
  });

  it('has the same values in memory and on disk when changes of one key are refused apart', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-map-'));
    const file = join(folder, 'map.log');
    const map = await DurableMap.open<number>(file, assert.fail);
    await map.set('other', 1);
    const disk = await fullDisk(t);
    /** Refuses `change`, and while it is written makes a second one, which is refused as well or not. */
    const apart = async (change: () => Promise<void>, next: () => Promise<void>, isRefused: boolean) => {
      disk.fullFor(isRefused ? 2 : 1);
      const writing = disk.untilWrite();
      const first = change();
      await writing;
      const results = await Promise.allSettled([first, next()]);
      disk.fullFor(0);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', isRefused ? 'rejected' : 'fulfilled'],
      );
    };
    const set = (key: string, value: number) => () => map.set(key, value);
    await apart(set('kept', 1), set('kept', 2), false);
    await apart(set('gone', 1), set('gone', 2), true);
    await map.set('back', 1);
    const remove = () => map.delete('back');
    await apart(remove, remove, true);
    disk.stopCutting();
    await apart(set('other', 7), set('other', 8), true);
    disk.cutAgain();
    await map.set('last', 1);
    const expected = [
      ['other', 1],
      ['kept', 2],
      ['back', 1],
      ['last', 1],
    ];
    const sorted = (entries: Iterable<[string, number]>) => [...entries].sort();
    assert.deepEqual(sorted(map.entries()), expected.toSorted());
    await map.close();
    const again = await DurableMap.open<number>(file, assert.fail);
    assert.deepEqual(sorted(again.entries()), expected.toSorted());
    await again.close();
    await rm(folder, { recursive: true });
  });
});

/** A disk that is full for some writes: half of what is written arrives. A file system of a chosen size takes root rights. */
async function fullDisk(t: TestContext) {
  const handle = await open('/dev/null', 'r');
  const methods = Object.getPrototypeOf(handle) as {
    write: (bytes: Uint8Array) => Promise<{ bytesWritten: number }>;
    truncate: () => Promise<void>;
  };
  await handle.close();
  const original = methods.write;
  let refusals = 0;
  let begun = Promise.withResolvers<void>();
  t.mock.method(methods, 'write', async function (this: unknown, bytes: Uint8Array, at = 0) {
    begun.resolve();
    await new Promise(setImmediate);
    const half = refusals > 0 ? bytes.subarray(at, at + ((bytes.length - at) >> 1)) : bytes.subarray(at);
    const result = await original.call(this, half);
    if (refusals === 0) return result;
    refusals -= 1;
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  });
  const cut = t.mock.method(methods, 'truncate');
  return {
    fullFor: (count: number) => {
      refusals = count;
    },
    untilWrite: () => {
      begun = Promise.withResolvers<void>();
      return begun.promise;
    },
    stopCutting: () => cut.mock.mockImplementation(() => Promise.reject(new Error('input/output error'))),
    cutAgain: () => cut.mock.restore(),
  };
}
