/** Machines with a filter of system calls, and as another user, with the real QEMU: everything that is done with them still works. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { type Bench, contractHost } from '../../../test/support/contract-bench.ts';
import { type Changes, ipxe, qemuBench, refused, startNode, Terminal } from '../../../test/support/ipxe-guest.ts';
import { emulatorUser } from '../../../test/support/other-user.ts';
import { bubblewrapObstacle } from '../../process/bubblewrap/usable.ts';
import { endMarked, listMarked } from '../../process/orphans.ts';
import { runTool } from '../../process/tool.ts';
import type { Properties } from '../driver.ts';
import { qemuDriver } from './driver.ts';
import { Sandboxes } from './sandbox.ts';

const firstPort = 31_950;
const needsRoot = process.getuid?.() !== 0 && 'only root can choose the user of a process';
const other = 'nobody';

let folder: string;
let bench: Bench;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
});
afterEach(async () => {
  const left = await listMarked(bench.host.settings.runtimeDirectory);
  await endMarked(left, 0);
  await bench.host.images.close();
  assert.deepEqual(left, [], 'the test left processes');
});
after(() => rm(folder, { recursive: true }));

function confined(changes: Changes, options = {}): void {
  bench = qemuBench(folder, firstPort, options, changes);
}
const start = (more: Properties = {}) => startNode(bench, more);

/** A field of /proc/PID/status. */
async function processField(pid: unknown, name: string): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return (new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(text)?.[1] ?? '').split(/\s+/);
}
const filters = async (pid: unknown) => (await processField(pid, 'Seccomp'))[0];

async function disk(): Promise<Properties> {
  const base = join(folder, 'base.qcow2');
  assert.equal((await runTool('qemu-img', ['create', '-q', '-f', 'qcow2', base, '16M'], { timeoutMs: 10_000 })).code, 0);
  return { hda_disk_image: base, hda_disk_interface: 'virtio', on_close: 'save_vm_state' };
}

/** Prompt, suspend, resume, CD-ROM, adoption, saved state and its return. */
async function useAll(): Promise<void> {
  await mkdir(bench.host.settings.Server.images_path, { recursive: true });
  const properties = await disk();
  const { emulator, view } = await start(properties);
  const terminal = new Terminal(emulator);
  await terminal.ask('\x02', /iPXE>/);
  await emulator.suspend();
  await emulator.resume();
  await emulator.setCarrier(0, false);
  const iso = join(bench.host.settings.Server.images_path, 'cd.iso');
  await writeFile(iso, Buffer.alloc(65_536));
  await emulator.changed({ ...view.properties, cdrom_image: iso });
  await emulator.changed(view.properties);
  terminal.socket.destroy();
  emulator.release();
  const host = { ...contractHost(bench.folder, firstPort), settings: bench.host.settings };
  const adopted = await qemuDriver(host).adopt(view, emulator.record);
  await adopted?.stop();
  await host.images.close();
  const again = await start(properties);
  assert.match(again.emulator.commandLine, /-loadvm GNS3_SAVED_STATE/);
  await again.emulator.stop({ now: true });
  assert.deepEqual(bench.warnings, []);
}

test('with its sandbox QEMU filters its system calls, and everything works', async () => {
  confined({});
  const { emulator } = await start();
  assert.match(emulator.commandLine, /-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny/);
  assert.equal(await filters(emulator.record.pid), '2');
  await emulator.stop();
  await useAll();
});

test('datagrams for adapters, screens and the guest agent work in it, too', async () => {
  confined({}, { datagrams: true });
  const agent = '-chardev socket,id=qga0,path=/dev/null/none,server=on,wait=off'.replace(
    '/dev/null/none',
    join(bench.runtimeDirectory, 'qga'),
  );
  const serial = '-device virtio-serial -device virtserialport,chardev=qga0,name=org.qemu.guest_agent.0';
  const options = `${ipxe.options} ${agent} ${serial}`;
  const view = { console: { type: 'vnc', port: 5999, host: '127.0.0.1' } } as const;
  const { emulator } = await startNode(bench, { options, console_type: 'vnc' }, view);
  assert.equal(await filters(emulator.record.pid), '2');
  assert.ok((await stat(join(bench.runtimeDirectory, 'qga'))).isSocket());
  await emulator.stop();
});

test('no option lifts the sandbox or lets programs of the host run, whatever else is allowed; the configuration switches it off', async () => {
  confined({ Qemu: { allow_unsafe_options: true } });
  const canary = join(folder, 'canary');
  await writeFile(join(folder, 'up'), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  const words = ['-netdev user,id=u0', '-audiodev none,id=a0', '-display none', '-nographic'].join(' ');
  const open = await start({ options: `${ipxe.options} ${words}` });
  assert.match(open.emulator.commandLine, /spawn=deny/);
  await open.emulator.stop();
  const tap = `-netdev tap,id=t0,script=${join(folder, 'up')},downscript=no`;
  await assert.rejects(
    start({ options: `${ipxe.options} -display none -audiodev none,id=a0 ${tap}` }),
    refused('qemu_failed', /./),
  );
  assert.equal(await stat(canary).catch(() => undefined), undefined, 'a script ran');
  await assert.rejects(start({ options: `${ipxe.options} -sandbox off` }), refused('qemu_failed', /-sandbox.*sandbox = False/));
  confined({ Qemu: { sandbox: false } });
  const { emulator } = await start();
  assert.doesNotMatch(emulator.commandLine, /-sandbox/);
  await emulator.stop();
});

test('an emulator that has no sandbox is started without', async () => {
  confined({});
  const program = join(folder, 'qemu-system-x86_64');
  await writeFile(
    program,
    '#!/bin/sh\ncase "$1" in -sandbox) echo "there is no option group sandbox" >&2; exit 1;; esac\nexit 0\n',
  );
  await chmod(program, 0o755);
  assert.equal(await new Sandboxes().isUsable(program), false);
  assert.equal(await new Sandboxes().isUsable('/usr/bin/qemu-system-x86_64'), true);
});

test('as another user', { skip: needsRoot }, async () => {
  await chmod(folder, 0o711);
  confined({ Server: { run_as: other } });
  const { emulator, view } = await start();
  const uid = (await runTool('id', ['-u', other], { timeoutMs: 5000 })).stdout.trim();
  assert.deepEqual(await processField(emulator.record.pid, 'Uid'), [uid, uid, uid, uid]);
  assert.deepEqual(await processField(emulator.record.pid, 'CapEff'), ['0000000000000000']);
  assert.equal(String((await stat(view.directory)).uid), uid);
  assert.equal(await filters(emulator.record.pid), '2');
  await emulator.stop();
  await useAll();
});

test('by default as a user of its own, also below a folder that is closed to it; root when asked', {
  skip: needsRoot,
}, async () => {
  confined({});
  await chmod(folder, 0o700);
  const { emulator, view } = await start(await disk());
  const user = await emulatorUser(view.nodeId);
  assert.notEqual(user, await emulatorUser('another'));
  for (const id of ['Uid', 'Gid']) assert.deepEqual(await processField(emulator.record.pid, id), Array(4).fill(String(user)), id);
  for (const field of ['CapEff', 'CapPrm']) assert.deepEqual(await processField(emulator.record.pid, field), ['0000000000000000']);
  assert.deepEqual(await processField(emulator.record.pid, 'NoNewPrivs'), ['1']);
  assert.equal((await stat(folder)).mode & 0o777, 0o700, 'the folder stays closed');
  await emulator.stop();
  confined({ Server: { run_as: 'root' } });
  const asRoot = await start();
  assert.equal((await processField(asRoot.emulator.record.pid, 'Uid'))[0], '0');
  await asRoot.emulator.stop();
});

test('a disk that is no linked clone is written to, where it lies in the folder of images', { skip: needsRoot }, async () => {
  confined({});
  const { images_path } = bench.host.settings.Server;
  await mkdir(images_path, { recursive: true });
  const { hda_disk_image: base } = await disk();
  await rename(String(base), join(images_path, 'own.qcow2'));
  const { emulator, view } = await start({ hda_disk_image: join(images_path, 'own.qcow2'), linked_clone: false });
  assert.equal((await stat(join(images_path, 'own.qcow2'))).uid, await emulatorUser(view.nodeId));
  await emulator.stop();
});

const obstacle = await bubblewrapObstacle();
const needsBubblewrap = obstacle === undefined ? false : `bubblewrap cannot be used: ${obstacle}`;

/** Filters of system calls; QEMU's own sandbox is one. */
const filterCount = async (pid: unknown) => Number((await processField(pid, 'Seccomp_filters'))[0]);

test('a machine has its own processes and files, and no other node, project or file of the host', {
  skip: needsBubblewrap,
}, async () => {
  confined({});
  await chmod(folder, 0o711);
  await writeFile(join(folder, 'secret'), 'of another node', { mode: 0o644 });
  const { emulator, view } = await start(await disk());
  const { pid } = emulator.record;
  for (const name of ['pid', 'mnt', 'ipc'])
    assert.notEqual(await readlink(`/proc/${pid}/ns/${name}`), await readlink(`/proc/self/ns/${name}`), name);
  assert.match(await readlink(`/proc/${pid}/exe`), /qemu-system/);
  const inside = (path: string) => join(`/proc/${pid}/root`, path);
  const seen = await readdir(inside(folder));
  assert.ok(seen.includes('base.qcow2') && !seen.includes('secret'), seen.join(' '));
  assert.deepEqual(await readdir(inside(join(view.directory, '..'))), [basename(view.directory)]);
  for (const path of ['/etc/passwd', '/root', '/home', '/sys']) await assert.rejects(stat(inside(path)), { code: 'ENOENT' }, path);
  assert.equal(await filterCount(pid), 2);
  await emulator.stop();
});

test('a machine whose options an administrator lets users choose sees the host, and is filtered all the same', {
  skip: needsBubblewrap,
}, async () => {
  confined({ Qemu: { allow_unsafe_options: true } });
  await chmod(folder, 0o777);
  const { emulator } = await start({ options: `${ipxe.options} -chardev file,id=f0,path=${join(folder, 'out')}` });
  const { pid } = emulator.record;
  assert.ok((await stat(`/proc/${pid}/root/etc/passwd`)).isFile());
  assert.ok((await stat(join(folder, 'out'))).isFile());
  assert.equal((await processField(pid, 'NSpid')).at(-1), '1');
  assert.equal(await filterCount(pid), 2);
  await emulator.stop();
});

/** An emulator that does as a guest's code would that broke out of QEMU, when it is started as a machine. */
async function escaped(script: string): Promise<string> {
  const program = join(folder, 'qemu-system-x86_64');
  const asked = 'case "$*" in *-version*|*"-machine none"*) exec /usr/bin/qemu-system-x86_64 "$@";; esac';
  await writeFile(program, `#!/bin/sh\n${asked}\n${script}\n`, { mode: 0o755 });
  return program;
}

test('what broke out of one machine signals no other and opens neither its disk nor a file of the host', {
  skip: needsBubblewrap,
}, async () => {
  confined({});
  await chmod(folder, 0o711);
  const victim = await start(await disk());
  const taken = join(victim.view.directory, 'hda_disk.qcow2');
  assert.ok((await stat(taken)).isFile());
  const secret = join(folder, 'secret');
  await writeFile(secret, 'of the host', { mode: 0o644 });
  const attack = [
    `kill -TERM ${victim.emulator.record.pid} && echo signalled`,
    `head -c 4 ${taken} && echo opened`,
    `cat ${secret}`,
    `cat /proc/${victim.emulator.record.pid}/cmdline && echo seen`,
    'echo own $(ls -d /proc/[0-9]* | wc -l); exit 1',
  ].join('\n');
  const directory = join(folder, 'attacker');
  const runtimeDirectory = join(bench.runtimeDirectory, 'attacker');
  for (const path of [directory, runtimeDirectory]) await mkdir(path);
  const view = { ...victim.view, directory, runtimeDirectory };
  const properties = { ...ipxe, ...(await bench.create({ qemu_path: await escaped(attack) })) };
  const words = await bench.driver.start({ ...view, properties }).then(
    () => assert.fail('it started'),
    (error: Error) => error.message,
  );
  assert.match(words, /own [1-4]\b/);
  assert.doesNotMatch(words, /signalled|opened|of the host|seen/);
  await victim.emulator.suspend();
  await victim.emulator.stop({ now: true });
});

test('an image that only its owner may read is made readable at the start', { skip: needsRoot }, async () => {
  confined({ Server: { run_as: other } });
  const images = bench.host.settings.Server.images_path;
  await mkdir(images, { recursive: true });
  for (const mode of [0o700, 0o600]) {
    const image = join(images, `closed-${mode.toString(8)}.qcow2`);
    await rename(String((await disk()).hda_disk_image), image);
    await chmod(image, mode);
    const { emulator } = await start({ hda_disk_image: image });
    await emulator.stop({ now: true });
    assert.equal((await stat(image)).mode & 0o777, mode | 0o444);
  }
});

test('what that user cannot reach is named, and so is one that does not exist', { skip: needsRoot }, async () => {
  confined({ Server: { run_as: other } });
  const properties = await disk();
  await chmod(String(properties.hda_disk_image), 0o600);
  const named = new RegExp(`the user ${other} cannot reach ${properties.hda_disk_image}`);
  await assert.rejects(start(properties), refused('run_as_failed', named));
  confined({ Server: { run_as: 'no-such-user' } });
  await assert.rejects(start(), refused('run_as_failed', /no user "no-such-user".*run_as/));
});
