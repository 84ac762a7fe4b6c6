import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { PcBench } from '../../../test/support/pc-bench.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { isFault } from '../../api/faults.ts';
import { savedMemoryName } from '../../schema/folders.ts';
import { vpcsKind } from './kind.ts';
import { MacIds, macOf, type NumberOptions } from './mac-id.ts';
import type { PcRecord } from './pc-emulator.ts';
import { renameScript, scriptName, writeScript } from './script.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-vpcs-'));
});
after(() => rm(folder, { recursive: true }));

async function newFolder(...names: string[]): Promise<string> {
  const path = join(folder, ...names);
  await mkdir(path, { recursive: true });
  return path;
}

/** The script of a PC runs after its start: an address is checked for duplicates first. */
const hasAddress = (emulator: { readonly record: unknown }, address: string) =>
  waitFor(async () => addressOf(emulator) === address, { what: `the address ${address}` });
const addressOf = ({ record }: { readonly record: unknown }) => (record as PcRecord).settings.ip4?.address;

test('a PC starts with its script, is adopted as it is, and stops', async (context) => {
  const bench = await PcBench.open(context);
  const emulator = await bench.start('one', 'set pcname %h\nip 10.0.0.1/24\n');
  await hasAddress(emulator, '10.0.0.1');
  assert.deepEqual(JSON.parse(JSON.stringify(emulator.record)), emulator.record);
  assert.deepEqual([emulator.port(0, 0), emulator.port(0, 1)], [{ type: 'pc', pc: 'one' }, undefined]);
  emulator.release();
  bench.restart();
  // The record may be older than the PC.
  const record = {
    ...emulator.record,
    settings: { ...(emulator.record as PcRecord).settings, ip4: { address: '10.0.0.9', prefix: 24 } },
  };
  const adopted = await bench.driver.adopt(await bench.view('one'), record);
  assert.deepEqual(adopted && [addressOf(adopted), adopted.commandLine], ['10.0.0.1', emulator.commandLine]);
  await adopted?.stop();
  assert.equal((await adopted?.ended)?.how, 'stopped');
  assert.equal(await bench.fabric.pcState('one'), null);
});

test('a fabric that was killed has its PCs again with their addresses, also when the server was away', async (context) => {
  const bench = await PcBench.open(context);
  const emulator = await bench.start('one', 'ip 10.0.0.1/24\n');
  await hasAddress(emulator, '10.0.0.1');
  process.kill(bench.fabric.pid, 'SIGKILL');
  await waitFor(async () => (await bench.fabric.pcState('one')) !== null, { what: 'the PC in the next fabric' });
  assert.equal(addressOf(emulator), '10.0.0.1');
  emulator.release();
  await bench.fabric.removePc('one');
  const adopted = await bench.driver.adopt(await bench.view('one'), emulator.record);
  assert.equal(adopted && addressOf(adopted), '10.0.0.1');
});

test('its state is saved and continued from; a damaged one is refused', async (context) => {
  const bench = await PcBench.open(context);
  const emulator = await bench.start('one', 'ip 10.0.0.1/24\n');
  await hasAddress(emulator, '10.0.0.1');
  const state = JSON.parse(JSON.stringify(await emulator.saveState?.()));
  bench.driver.memory?.checkState?.(state, 'other');
  bench.saved.set('other', state);
  const other = await bench.start('other', 'ip 10.0.0.99/24\n');
  assert.equal(addressOf(other), '10.0.0.1');
  await other.stop();
  bench.saved.delete('other');
  await hasAddress(await bench.start('other'), '10.0.0.99');
  const damaged = { ...state, pc: { version: 99 } };
  bench.saved.set('third', damaged);
  const refused = (error: Error) => isFault(error, 'memory_refused');
  await assert.rejects(bench.start('third'), refused);
  assert.throws(() => bench.driver.memory?.checkState?.(damaged, 'third'), refused);
});

test('a PC continues once from the file that version 0.2 kept for each; a damaged one is refused', async (context) => {
  const bench = await PcBench.open(context);
  const emulator = await bench.start('one', 'ip 10.0.0.1/24\n');
  await hasAddress(emulator, '10.0.0.1');
  const folder = join((await bench.view('other')).directory, savedMemoryName);
  await mkdir(folder);
  await writeFile(join(folder, 'pc.json'), JSON.stringify(await emulator.saveState?.()));
  await bench.driver.memory?.check(folder, 'other');
  const other = await bench.start('other', 'ip 10.0.0.99/24\n');
  assert.equal(addressOf(other), '10.0.0.1');
  await other.runRestored?.();
  await other.stop();
  await hasAddress(await bench.start('other'), '10.0.0.99');
  const third = join((await bench.view('third')).directory, savedMemoryName);
  await mkdir(third);
  await writeFile(join(third, 'pc.json'), '{"pc":{"version":99}}');
  const refused = (error: Error) => isFault(error, 'memory_refused');
  await assert.rejects(bench.start('third'), refused);
  await assert.rejects(async () => bench.driver.memory?.check(third, 'third'), refused);
});

/** Ids like the driver's, once the number is noted. */
function macIds() {
  const ids = new MacIds();
  return {
    async of(directory: string, options?: NumberOptions): Promise<number> {
      const { id, noted } = await ids.of(directory, options);
      await noted;
      return id;
    },
  };
}

test('MAC ids: unique in a project, kept, free again when the folder has gone; a copied note is a wish', async () => {
  const ids = macIds();
  const place = (name: string) => newFolder('project', 'vpcs', name);
  const [one, two, three] = await Promise.all([place('one'), place('two'), place('three')]);
  const given = await Promise.all([one, two, three].map((directory) => ids.of(directory)));
  assert.deepEqual([...given].sort(), [0, 1, 2]);
  assert.deepEqual(await Promise.all([one, two, three].map((directory) => macIds().of(directory))), given);
  const copy = await place('copy');
  await writeFile(join(copy, 'mac-id.json'), await readFile(join(two, 'mac-id.json')));
  assert.equal(await ids.of(copy), 3);
  await rm(two, { recursive: true });
  assert.equal(await ids.of(await place('four')), given[1]);
  const alone = await newFolder('copied-project', 'vpcs', 'new');
  await writeFile(join(alone, 'mac-id.json'), await readFile(join(copy, 'mac-id.json')));
  assert.equal(await ids.of(alone), 3);
  // The note of a node whose folder was lost.
  const { name, from } = vpcsKind.carriedFile ?? assert.fail();
  const ofProgram = from('vpcs -p 2000 -m 7 -i 1 -F -s 10000 -c 10001 -t 127.0.0.1');
  await writeFile(join(alone, name), from('vpcs -m 300') ?? '');
  assert.equal(await ids.of(alone), 300);
  await writeFile(join(alone, name), ofProgram ?? '');
  assert.deepEqual([await ids.of(alone), from('')], [7, undefined]);
  await writeFile(join(alone, 'mac-id.json'), '{"mac_id":');
  assert.equal(await ids.of(alone), 0);
  await writeFile(join(alone, 'mac-id.json'), JSON.stringify({ node_id: 'new', mac_id: 9 }).padEnd(2000));
  assert.equal(await ids.of(alone), 0);
  // The number of its last run, where the note was lost, unless another node has it.
  await writeFile(join(alone, 'mac-id.json'), '');
  assert.equal(await ids.of(alone, { last: 'vpcs -m 12' }), 12);
  await writeFile(join(alone, 'mac-id.json'), '{');
  assert.equal(await ids.of(alone, { last: 'vpcs -m 99999999' }), 0);
  const far = (name: string, from: number) => newFolder('far', 'vpcs', name).then((directory) => ids.of(directory, { from }));
  assert.deepEqual([await far('one', 128), await far('two', 128)], [128, 129]);
});

test('MAC addresses: those of GNS3 up to 254, then the next bytes count up', async () => {
  const ids = macIds();
  for (let id = 0; id <= 253; id++) {
    const directory = await newFolder('full', 'vpcs', `n${id}`);
    await writeFile(join(directory, 'mac-id.json'), JSON.stringify({ node_id: `n${id}`, mac_id: id }));
  }
  const more = await Promise.all(['a', 'b', 'c'].map(async (name) => ids.of(await newFolder('full', 'vpcs', name))));
  assert.deepEqual(more.map(macOf).sort(), ['00:50:79:66:68:fe', '00:50:79:66:69:00', '00:50:79:66:69:01']);
  assert.deepEqual([macOf(0), macOf(0x1_00_00)], ['00:50:79:66:68:00', '00:50:79:67:68:00']);
});

test('startup script: filled in once, kept, and only its prompt lines follow a rename', async () => {
  const directory = join(folder, 'script', 'node');
  const read = () => readFile(join(directory, scriptName), 'utf8');
  await writeScript(directory, 'set pcname %h\nip 10.0.0.1 # %h is a $& test\n', 'a');
  assert.equal(await read(), 'set pcname a\nip 10.0.0.1 # a is a $& test\n');
  await writeScript(directory, 'another', 'b');
  assert.match(await read(), /^set pcname a\n/);
  await renameScript(directory, 'b\\\nquit');
  assert.equal(await read(), 'set pcname b quit\nip 10.0.0.1 # a is a $& test\n');
  await renameScript(join(folder, 'nowhere'), 'c');
});
