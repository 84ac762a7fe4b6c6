import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readStates, SavedStates, type StateMap, writeStates } from './saved-states.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-states-'));
});
after(() => rm(folder, { recursive: true }));

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const many = (count: number): StateMap =>
  new Map(
    Array.from({ length: count }, (_, number) => [idOf(number), { type: 'vpcs', text: `{"number":${number},"text":"ä\\n"}` }]),
  );

test('states are read as they were written, in files of several pieces', async () => {
  const path = join(folder, 'many');
  const states = new Map(Array.from(many(30), ([id, state]) => [id, { ...state, text: `{"text":"${'é'.repeat(50_000)}"}` }]));
  await writeStates(path, states);
  assert.deepEqual(await readStates(path), states);
  await assert.rejects(writeStates(path, states), { code: 'EEXIST' });
  assert.deepEqual(await readStates(join(folder, 'missing')), new Map());
});

test('a node has its state until it is dropped, also after a restart; the last one takes the file along', async () => {
  const path = join(folder, 'states');
  await writeStates(path, many(3));
  const saved = new SavedStates(() => path);
  assert.deepEqual(await saved.find(idOf(1).toUpperCase()), many(3).get(idOf(1)));
  await saved.drop(idOf(1));
  assert.equal(await saved.find(idOf(1)), undefined);
  assert.deepEqual([...(await readStates(path)).keys()], [idOf(0), idOf(2)]);
  await saved.drop(idOf(9));
  await Promise.all([saved.drop(idOf(0)), saved.drop(idOf(2))]);
  assert.deepEqual(await readdir(folder), ['many']);
  await writeStates(path, many(1));
  assert.equal(await saved.find(idOf(0)), undefined);
  saved.reset();
  assert.deepEqual(await saved.find(idOf(0)), many(1).get(idOf(0)));
});

test('drops while a file is being written are all in the next one', async () => {
  const path = join(folder, 'dropped');
  await writeStates(path, many(50));
  const saved = new SavedStates(() => path);
  const drops: Promise<void>[] = [];
  for (let number = 0; number < 49; number++) {
    drops.push(saved.drop(idOf(number)));
    if (number % 7 === 0) await new Promise(setImmediate);
  }
  await Promise.all(drops);
  assert.deepEqual([...(await readStates(path)).keys()], [idOf(49)]);
});

test('a damaged file is refused, and removed when a node of it is dropped', async () => {
  const good = `${idOf(1)} vpcs {}\n`;
  const path = join(folder, 'damaged');
  const inputs = [
    `${good}x\n`,
    `${good}${idOf(2)} vpcs {"torn":`,
    `${idOf(1)} vpcs []\n`,
    `${idOf(1)} ../../vpcs {}\n`,
    '\u0000',
    'x'.repeat(5 << 20),
  ];
  for (const text of inputs) {
    await writeFile(path, text);
    const saved = new SavedStates(() => path);
    await assert.rejects(saved.find(idOf(1)), /is damaged in line/, text.slice(0, 80));
    await saved.drop(idOf(1));
    assert.equal(await saved.find(idOf(1)), undefined);
    await assert.rejects(readFile(path), { code: 'ENOENT' });
  }
  await symlink(join(folder, 'many'), path);
  await assert.rejects(readStates(path), /symbolic link/);
  await new SavedStates(() => path).drop(idOf(1));
  const names = await readdir(folder);
  assert.deepEqual([names.includes('damaged'), names.includes('many')], [false, true], 'the link has gone, and nothing else');
});
