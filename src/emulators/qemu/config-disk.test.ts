import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { ConfinedTools } from '../host/confined-tools.ts';
import { Binaries } from './binaries.ts';
import { ConfigDisk } from './config-disk.ts';

const run = promisify(execFile);
/** Offset of the partition of the disks made here. */
const partition = 2 ** 20;

let directory: string;
/** The server's. */
let data: string;
let disk: ConfigDisk;
const warnings: string[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pb-config-'));
  warnings.length = 0;
  data = await mkdtemp(join(tmpdir(), 'pb-config-data-'));
  const { settings } = contractHost(data, 31_945);
  const tools = new ConfinedTools(() => settings);
  disk = new ConfigDisk({ directory, name: 'R1', warn: (message) => void warnings.push(message) }, new Binaries(), tools);
});
afterEach(() => Promise.all([directory, data].map((folder) => rm(folder, { recursive: true }))));

async function zip(path: string, files: Record<string, string>): Promise<void> {
  const writer = new ZipFile();
  for (const [name, content] of Object.entries(files)) writer.addBuffer(Buffer.from(content), name);
  writer.end();
  await pipeline(writer.outputStream, createWriteStream(path));
}

async function unzip(path: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const archive = await openPromise(path, { lazyEntries: true });
  for await (const entry of archive.eachEntry()) {
    files[entry.fileName] = (await buffer(await archive.openReadStreamPromise(entry))).toString();
  }
  return files;
}

const mtype = async (name: string, place = partition) => (await run('mtype', ['-i', `${disk.file}@@${place}`, `::${name}`])).stdout;
const configZip = () => join(directory, 'config.zip');

test('what is in the zip is on the disk, and what a machine wrote is in the zip afterwards', async () => {
  await zip(configZip(), { 'ios_config.txt': 'hostname R1\n', 'keys/a.pub': 'key' });
  assert.equal(await disk.prepare(undefined), true);
  assert.equal(await mtype('/ios_config.txt'), 'hostname R1\n');
  assert.equal(await mtype('/keys/a.pub'), 'key');
  const saved = join(directory, 'saved.txt');
  await writeFile(saved, 'hostname R2\n');
  await run('mcopy', ['-o', '-i', `${disk.file}@@${partition}`, saved, '::ios_config.txt']);
  await disk.export();
  assert.deepEqual(await unzip(configZip()), { 'ios_config.txt': 'hostname R2\n', 'keys/a.pub': 'key' });
  assert.deepEqual(warnings, []);
  assert.deepEqual((await readdir(directory)).sort(), ['config.img', 'config.zip', 'saved.txt']);
});

test('a disk that is newer than the zip stays: its machine ended without anybody noticing', async () => {
  await zip(configZip(), { 'a.txt': 'old' });
  await disk.prepare(undefined);
  const saved = join(directory, 'a.txt');
  await writeFile(saved, 'new');
  await run('mcopy', ['-o', '-i', `${disk.file}@@${partition}`, saved, '::a.txt']);
  const later = new Date(Date.now() + 60_000);
  await utimes(disk.file, later, later);
  assert.equal(await disk.prepare(undefined), true);
  assert.equal(await mtype('/a.txt'), 'new');
});

test('a new node takes a zip that was given, and a template without partitions', async () => {
  const [given, template] = [join(directory, 'given.zip'), join(directory, 'template.img')];
  await zip(given, { 'boot.cfg': 'x' });
  await run('mformat', ['-C', '-f', '1440', '-i', template, '::']);
  assert.equal(await disk.prepare(template, given), true);
  assert.equal(await mtype('/boot.cfg', 0), 'x');
  assert.equal((await stat(disk.file)).size, (await stat(template)).size);
});

test('a link to a file elsewhere in the place of the disk is neither attached nor read', async () => {
  const elsewhere = join(directory, '..', `${basename(directory)}.img`);
  await run('mformat', ['-C', '-f', '1440', '-i', elsewhere, '::']);
  const secret = join(directory, 'secret');
  await writeFile(secret, 'of the host');
  await run('mcopy', ['-i', elsewhere, secret, '::secret']);
  await rm(secret);
  await symlink(elsewhere, disk.file);
  assert.equal(await disk.prepare(undefined), false);
  await disk.export();
  assert.deepEqual(await readdir(directory), ['config.img']);
  assert.match(warnings.join(), /symbolic link to a file outside of its folder/);
  await rm(elsewhere);
});

test('a zip that points outside the disk, or is not a zip, is reported, and the machine starts without it', async () => {
  for (const content of ['no zip at all', await evilZip()]) {
    await writeFile(configZip(), content);
    assert.equal(await disk.prepare(undefined), false);
  }
  assert.equal(warnings.length, 2);
  assert.deepEqual(await readdir(directory), ['config.zip']);
});

test('files of the folder `config` are on the disk, for cloud-init under its label; the newer of two counts', async () => {
  await mkdir(join(directory, 'config'));
  const give = (name: string, content: string) => writeFile(join(directory, 'config', name), content);
  await give('user-data', '#cloud-config\nhostname: vm1\n');
  await give('meta-data', 'instance-id: vm1\n');
  await symlink('/etc/hostname', join(directory, 'config', 'link'));
  assert.equal(await disk.prepare(undefined), true);
  assert.equal(await mtype('/user-data'), '#cloud-config\nhostname: vm1\n');
  assert.match((await run('mlabel', ['-s', '-i', `${disk.file}@@${partition}`, '::'])).stdout, /CIDATA/);
  await assert.rejects(mtype('/link'));
  // A file that a machine wrote stays, until a newer file is given.
  await disk.export();
  const [saved, later, latest] = [join(directory, 'saved'), new Date(Date.now() + 60_000), new Date(Date.now() + 120_000)];
  await writeFile(saved, 'by the machine');
  await run('mcopy', ['-o', '-i', `${disk.file}@@${partition}`, saved, '::user-data']);
  await disk.export();
  await utimes(disk.file, later, later);
  await utimes(configZip(), later, later);
  await disk.prepare(undefined);
  assert.equal(await mtype('/user-data'), 'by the machine');
  await give('meta-data', 'instance-id: vm2\n');
  await utimes(join(directory, 'config', 'meta-data'), latest, latest);
  await disk.prepare(undefined);
  assert.deepEqual([await mtype('/user-data'), await mtype('/meta-data')], ['by the machine', 'instance-id: vm2\n']);
  assert.deepEqual(warnings, []);
});

test('a file that is deleted from the folder `config` goes from the disk and the zip, and nothing else does', async () => {
  await mkdir(join(directory, 'config'));
  for (const name of ['user-data', 'meta-data']) await writeFile(join(directory, 'config', name), `first ${name}`);
  assert.equal(await disk.prepare(undefined), true);
  const saved = join(directory, 'saved');
  await writeFile(saved, 'by the machine');
  await run('mcopy', ['-i', `${disk.file}@@${partition}`, saved, '::saved.cfg']);
  const later = new Date(Date.now() + 60_000);
  await utimes(disk.file, later, later);
  await rm(join(directory, 'config', 'user-data'));
  assert.equal(await disk.prepare(undefined), true);
  await assert.rejects(mtype('/user-data'));
  assert.deepEqual([await mtype('/meta-data'), await mtype('/saved.cfg')], ['first meta-data', 'by the machine']);
  assert.deepEqual(Object.keys(await unzip(configZip())).sort(), ['meta-data', 'saved.cfg']);
  // A list that someone else wrote removes nothing outside, and holds nothing up.
  const victim = join(data, 'victim');
  await writeFile(victim, 'x');
  for (const list of [JSON.stringify([victim, `../../${victim}`, '..', 5]), '['.repeat(2 ** 23)]) {
    await writeFile(join(directory, 'config.names'), list);
    assert.equal(await disk.prepare(undefined), true);
  }
  assert.equal(await readFile(victim, 'utf8'), 'x');
  await writeFile(join(directory, 'config.names'), '["meta-data"]');
  // A machine may make one of that name: it stays.
  await run('mcopy', ['-i', `${disk.file}@@${partition}`, saved, '::user-data']);
  await disk.export();
  await rm(join(directory, 'config', 'meta-data'));
  // The disk stays as it is without mtools: no template takes its place.
  const warn = (message: string) => void warnings.push(message);
  const bare = new ConfigDisk({ directory, name: 'R1', warn }, { inPath: async () => undefined }, {} as ConfinedTools);
  assert.equal(await bare.prepare(victim), true);
  assert.equal(await mtype('/user-data'), 'by the machine');
  assert.match(warnings.splice(0).join(), /^R1: its configuration is not on its config disk: install mtools$/);
  await disk.prepare(undefined);
  await assert.rejects(mtype('/meta-data'));
  assert.equal(await mtype('/user-data'), 'by the machine');
  assert.deepEqual(warnings, []);
});

test('the disk of a machine that continues from memory stays as its guest knows it', async () => {
  await zip(configZip(), { 'ios_config.txt': 'old' });
  await disk.prepare(undefined);
  const before = await readFile(disk.file);
  // A freeze ends the machine, whose disk is read into the zip.
  await disk.export();
  await mkdir(join(directory, 'config'));
  await writeFile(join(directory, 'config', 'user-data'), 'new');
  for (const [path, seconds] of [
    [configZip(), 60],
    [join(directory, 'config', 'user-data'), 120],
  ] as const)
    await utimes(path, Date.now() / 1000 + seconds, Date.now() / 1000 + seconds);
  const memory = join(directory, 'saved-memory');
  await mkdir(memory);
  await writeFile(join(memory, 'manifest.json'), '');
  assert.equal(await disk.prepare(undefined), true);
  assert.ok(before.equals(await readFile(disk.file)));
  await rm(memory, { recursive: true });
  assert.equal(await disk.prepare(undefined), true);
  assert.deepEqual([await mtype('/ios_config.txt'), await mtype('/user-data')], ['old', 'new']);
});

test('without the tools the disk stays as it is, whatever was deleted', async () => {
  const config = join(directory, 'config');
  await mkdir(config);
  await writeFile(join(config, 'user-data'), '#cloud-config\n');
  await disk.prepare(undefined);
  const before = await readFile(disk.file);
  await rm(join(config, 'user-data'));
  const template = join(data, 'template.img');
  await writeFile(template, 'empty');
  const bare = new ConfigDisk(
    { directory, name: 'R1', warn: (message) => void warnings.push(message) },
    { inPath: async () => undefined },
    new ConfinedTools(() => contractHost(data, 31_945).settings),
  );
  assert.equal(await bare.prepare(template), true);
  // A difference would be shown as megabytes of text.
  assert.ok(before.equals(await readFile(disk.file)));
});

test('a folder `config` that is a link is not read', async () => {
  await symlink('/etc', join(directory, 'config'));
  assert.equal(await disk.prepare(undefined), true);
  await assert.rejects(mtype('/hostname'));
});

test('an empty disk leaves no zip', async () => {
  assert.equal(await disk.prepare(undefined), true);
  await disk.export();
  assert.deepEqual(await readdir(directory), ['config.img']);
});

async function evilZip(): Promise<Buffer> {
  await zip(configZip(), { 'aa/bb/evil': 'x' });
  const bytes = await readFile(configZip());
  for (let at = bytes.indexOf('aa/bb/evil'); at >= 0; at = bytes.indexOf('aa/bb/evil', at + 1)) bytes.write('../../evil', at);
  return bytes;
}
