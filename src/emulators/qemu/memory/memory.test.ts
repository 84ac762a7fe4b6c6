/** The memory of a real QEMU, saved and restored: as another user and in its sandbox, as everywhere. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Bench } from '../../../../test/support/contract-bench.ts';
import { type Changes, ipxe, qemuBench, refused, startNode, Terminal } from '../../../../test/support/ipxe-guest.ts';
import { endMarked, listMarked } from '../../../process/orphans.ts';
import { processFacts } from '../../../process/proc.ts';
import { runTool } from '../../../process/tool.ts';
import { savedMemoryName } from '../../../schema/folders.ts';
import type { Emulator, MemorySaver, NodeView, Properties } from '../../driver.ts';
import { memoryFiles, readManifest } from './manifest.ts';

const firstPort = 31_800;
let folder: string;
let bench: Bench;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
});
beforeEach(() => use({}));
afterEach(async () => {
  const left = await listMarked(bench.host.settings.runtimeDirectory);
  await endMarked(left, 0);
  await bench.host.images.close();
  await rm(bench.directory, { recursive: true, force: true });
  assert.deepEqual(left, [], 'the test left processes');
});
after(() => rm(folder, { recursive: true }));

function use(settings: Changes): void {
  bench = qemuBench(folder, firstPort, {}, settings);
}

const start = (properties: Properties = {}, view: Partial<NodeView> = {}) => startNode(bench, properties, view);

async function withDisk(): Promise<Properties> {
  const base = join(folder, 'base.qcow2');
  await runTool('qemu-img', ['create', '-q', '-f', 'qcow2', base, '16M'], { timeoutMs: 10_000 });
  return { hda_disk_image: base, hda_disk_interface: 'virtio' };
}

/** A guest that remembers a word. */
async function remembering(emulator: Emulator): Promise<Terminal> {
  const terminal = new Terminal(emulator);
  await terminal.ask('\x02', /iPXE>/);
  await terminal.command('set word kept', /iPXE>.*iPXE>/s);
  await terminal.command('show word', /= kept/);
  return terminal;
}

const recalls = (emulator: Emulator) => new Terminal(emulator).command('show word', /= kept/);

async function saverOf(emulator: Emulator, target: string): Promise<MemorySaver> {
  const saver = await emulator.saveMemory?.(target);
  assert.ok(typeof saver === 'object', String(saver));
  return saver;
}

async function save(emulator: Emulator, target: string): Promise<void> {
  const saver = await saverOf(emulator, target);
  await emulator.suspend();
  await saver.transfer();
  await emulator.resume();
  await saver.finish();
}

test('a machine runs on after its memory was saved, and another one continues from it, once', async () => {
  const properties = await withDisk();
  const { emulator, view } = await start(properties);
  const terminal = await remembering(emulator);
  const saved = join(folder, 'saved');
  await save(emulator, saved);
  // The original is none the worse for it, and forgets what came later only in the copy.
  await terminal.command('show word', /= kept/);
  await terminal.command('set word later', /iPXE>/);
  const modes = await Promise.all(Object.values(memoryFiles(saved)).map(async (path) => (await stat(path)).mode & 0o777));
  assert.deepEqual(modes, [0o600, 0o600, 0o600]);
  terminal.socket.destroy();
  await emulator.stop();
  const checked = (target: string) => bench.driver.memory?.check(target, 'one');
  await checked(saved);

  const place = join(view.directory, savedMemoryName);
  await cp(saved, place, { recursive: true });
  const again = await start(properties);
  // A server that dies before it has noted the machine continues from the memory.
  await stat(memoryFiles(place).manifest);
  await again.emulator.runRestored?.();
  await recalls(again.emulator);
  assert.equal(again.emulator.state, 'started');
  await assert.rejects(stat(place), { code: 'ENOENT' });
  // A copy of the copy, too.
  const second = join(folder, 'second');
  await save(again.emulator, second);
  await again.emulator.stop();
  await cp(second, place, { recursive: true });
  const third = await start(properties);
  await third.emulator.runRestored?.();
  await recalls(third.emulator);
  await third.emulator.stop();
  const cold = await start(properties);
  assert.doesNotMatch(cold.emulator.commandLine, /-incoming/);
  await cold.emulator.stop();
  assert.deepEqual(bench.warnings, []);

  // A flipped bit, of the state and of the RAM; another key; a file that is missing.
  const files = memoryFiles(saved);
  for (const [path, offset] of [
    [files.state, 100],
    [files.ram, 1 << 20],
  ] as const) {
    await flip(path, offset);
    await assert.rejects(checked(saved) ?? Promise.resolve(), refused('memory_refused', /is damaged/));
    await flip(path, offset);
  }
  await checked(saved);
  const manifest = await readFile(files.manifest, 'utf8');
  await writeFile(files.manifest, manifest.replace('i440fx', 'i441fx'));
  await assert.rejects(checked(saved) ?? Promise.resolve(), refused('memory_refused', /another server/));
  await writeFile(files.manifest, manifest);
  await cp(saved, place, { recursive: true });
  await assert.rejects(start({ ...properties, ram: 48 }), refused('memory_refused', /"32M" is "48M" now/));
  await assert.rejects(start({ ...properties, adapters: 2 }), refused('memory_refused', /the machine has changed/));
  // A start trusts neither a state that was changed since it was copied nor a link.
  const copied = memoryFiles(place);
  await flip(copied.state, 100);
  await assert.rejects(start(properties), refused('memory_refused', /state is damaged/));
  await flip(copied.state, 100);
  await rm(copied.ram);
  await symlink(files.ram, copied.ram);
  await assert.rejects(start(properties), refused('memory_refused', /ram is damaged/));
  await rm(place, { recursive: true });
  await Promise.all([saved, second].map((path) => rm(path, { recursive: true })));
});

async function flip(path: string, offset: number): Promise<void> {
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, offset);
  await file.write(
    Buffer.from([byte[0] ?? 0 ^ 1]).map((value) => value ^ 1),
    0,
    1,
    offset,
  );
  await file.close();
}

test('a manifest that this server has not signed is refused, whatever it holds', async () => {
  const place = await mkdtemp(join(folder, 'foreign-'));
  const signed = (signature: unknown) => JSON.stringify({ signature, content: '{}' });
  for (const text of ['', 'null', '[]', '{}', signed('0'.repeat(64)), signed('é'.repeat(64)), signed({})]) {
    await writeFile(memoryFiles(place).manifest, text);
    await assert.rejects(readManifest(place, Buffer.alloc(32), 'one'), refused('memory_refused', /another server/), text);
  }
});

test('a paused machine is restored as a paused one', async () => {
  const { emulator, view } = await start();
  await emulator.suspend();
  // QEMU reports another state when it is saved a second time.
  for (const target of [join(folder, 'earlier'), join(view.directory, savedMemoryName)]) {
    const saver = await saverOf(emulator, target);
    await saver.transfer();
    await saver.finish();
  }
  await emulator.stop();
  const { emulator: again } = await start();
  assert.equal(again.state, 'suspended');
  await again.resume();
  await new Terminal(again).ask('\x02', /iPXE>/);
  await again.stop();
});

test('a machine whose memory would be of no use says why', async () => {
  const reason = async (options: string) => {
    const { emulator } = await start({ options: `${ipxe.options} ${options}` });
    const answer = await emulator.saveMemory?.(join(folder, 'none'));
    await emulator.stop();
    await assert.rejects(stat(join(folder, 'none')), { code: 'ENOENT' });
    return answer;
  };
  assert.match(String(await reason('-snapshot')), /-snapshot discards/);
  assert.match(String(await reason('-object rng-random,id=r0,filename=/dev/urandom')), /option -object/);
});

test('the machine runs on when what receives its memory is killed, and so does one whose server was killed', async () => {
  const { emulator, view } = await start();
  const terminal = await remembering(emulator);
  const saved = join(folder, 'lost');
  const kill = async (work: () => Promise<unknown>) => {
    const own = processFacts(Number(emulator.record.pid))?.session;
    const shadows = (await listMarked(bench.host.settings.runtimeDirectory)).filter(({ sid }) => sid !== own);
    assert.equal(new Set(shadows.map(({ sid }) => sid)).size, 1);
    for (const { pid } of shadows) process.kill(pid, 'SIGKILL');
    await assert.rejects(work());
  };
  const first = await saverOf(emulator, saved);
  await emulator.suspend();
  await kill(() => first.transfer());
  await emulator.resume();
  await first.dispose();
  await rm(saved, { recursive: true });
  const second = await saverOf(emulator, saved);
  await emulator.suspend();
  await second.transfer();
  await emulator.resume();
  await kill(() => second.finish());
  await second.dispose();
  await terminal.command('show word', /= kept/);
  terminal.socket.destroy();
  // Another server finds the machine so: its memory was taken, and it was not resumed.
  await rm(saved, { recursive: true });
  const third = await saverOf(emulator, saved);
  await emulator.suspend();
  await third.transfer();
  emulator.release();
  const adopted = await bench.driver.adopt(view, emulator.record);
  assert.equal(adopted?.state, 'suspended');
  await adopted?.resume();
  await recalls(adopted as Emulator);
  await third.dispose();
  await adopted?.stop();
  await rm(saved, { recursive: true });
});
