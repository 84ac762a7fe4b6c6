import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { findProgram } from '../host/find-program.ts';
import { type ContainerPlace, containerBody, foldersOf, makeFolders } from './container.ts';
import { missingIn } from './driver.ts';
import { Demultiplexer } from './exec.ts';
import { PullProgress } from './images.ts';
import { iolWord } from './iol-environment.ts';
import { changedDocker, environmentLines, hostLines, macOf, newDocker, splitCommand, withTag } from './properties.ts';
import { isStatic } from './resources.ts';
import { screenArguments } from './screen.ts';

const nodeId = '01a2b3c4-0000-4000-8000-000000000000';
const names = { name: 'R 1', nodeId, projectId: 'p', projectDirectory: '/projects/p', variables: [] };
const refused = (words: RegExp) => (error: unknown) => isFault(error, 'docker_failed') && words.test(error.message);

test('properties: defaults, addresses from the id, blanks as none; the image stays', () => {
  const made = newDocker({ image: 'frr', start_command: ' ', mac_address: null, adapters: null, container_id: 'x' }, nodeId);
  assert.deepEqual([made.image, made.start_command, made.adapters, made.console_resolution], ['frr:latest', null, 1, '1024x768']);
  assert.deepEqual([macOf(made, 0), macOf(made, 3)], ['02:42:a2:b3:c4:00', '02:42:a2:b3:c4:03']);
  const changed = changedDocker(
    made,
    { image: 'other', adapters: 3, custom_adapters: [{ adapter_number: 1, mac_address: '02:00:00:00:00:09' }] },
    nodeId,
  );
  assert.deepEqual([changed.image, changed.adapters, macOf(changed, 1)], ['frr:latest', 3, '02:00:00:00:00:09']);
  for (const [given, tagged] of [
    ['a:1', 'a:1'],
    ['host:5000/a', 'host:5000/a:latest'],
    ['a@sha256:00', 'a@sha256:00'],
  ]) {
    assert.equal(withTag(given ?? ''), tagged);
  }
  for (const path of ['relative', '/a/../b', '/a:b']) {
    assert.throws(() => newDocker({ image: 'a', extra_volumes: [path] }, nodeId), refused(/absolute path/));
  }
});

test('commands are words as a shell makes them', () => {
  assert.deepEqual(splitCommand(`sh -c "a 'b' \\"c\\"" 'd e'f \\ g ""`), ['sh', '-c', `a 'b' "c"`, 'd ef', ' g', '']);
  assert.deepEqual(splitCommand(''), []);
  for (const open of ['a "b', `a 'b`, 'a\\']) assert.throws(() => splitCommand(open), refused(/not closed/));
});

test('hosts and environment: one a line, names filled in, our own variables left out', () => {
  assert.deepEqual(hostLines('a:10.0.0.1\n\n b:fd00::1 '), ['10.0.0.1\ta', 'fd00::1\tb']);
  assert.throws(() => hostLines('a 10.0.0.1'), refused(/host:address/));
  const text = 'A=1\nW=%vm-name% %project-path%\n=x\nnonsense\nPATCHBAY_USER=me\nGNS3_USER=me\nB=a=b';
  assert.deepEqual(environmentLines(text, names), ['A=1', 'W=R 1 /projects/p', 'B=a=b']);
  const variables = [{ name: 'SITE', value: 'north' }, { name: 'EMPTY' }, { name: 'not a name', value: 'x' }];
  const lines = environmentLines(`AT=\${SITE}-\${EMPTY}-\${OTHER}\${\${SITE}`, { ...names, variables });
  assert.deepEqual(lines, ['SITE=north', 'EMPTY=', `AT=north--\${OTHER}\${north`]);
});

test('what the engine receives: entry before command, volumes once, no lacking capability, another label for another thing', () => {
  const image = { Config: { Entrypoint: ['/entry'], Cmd: ['one'], User: 'guest', Volumes: { '/data/': {} } } };
  const host = { resources: '/res', missing: ['SYS_RESOURCE'], screen: undefined, runDirectory: '/run/a' };
  const place: ContainerPlace = { ...names, ...host, directory: '/node' };
  const properties = newDocker({ image: 'a', extra_volumes: ['/data/inner', '/etc'] }, nodeId);
  const body = containerBody(properties, image, place);
  assert.deepEqual(body.Entrypoint, ['/patchbay/busybox', 'sh', '/patchbay/init', '/entry']);
  assert.deepEqual([body.Cmd, body.Hostname, body.HostConfig.CapDrop], [['one'], 'R-1', ['SYS_RESOURCE']]);
  assert.deepEqual(foldersOf(body), ['/node/data', '/node/etc']);
  assert.ok(body.Env.includes('PATCHBAY_VOLUMES=/data:/etc') && body.Env.includes('PATCHBAY_USER=guest'));
  const bare = { Config: { Entrypoint: null, Cmd: null, User: '', Volumes: null } };
  assert.deepEqual(containerBody(properties, bare, place).Cmd, ['/bin/sh']);
  const own = containerBody({ ...properties, start_command: 'two three' }, image, place);
  assert.deepEqual(own.Cmd, ['two', 'three']);
  assert.notEqual(own.Labels['patchbay.config'], body.Labels['patchbay.config']);
  assert.deepEqual(containerBody(properties, image, place), body);
  const shown = containerBody(properties, image, { ...place, screen: '/run/screen' });
  assert.ok(
    shown.Env.includes('DISPLAY=:0') && foldersOf(shown).includes('/run/screen') && !foldersOf(body).includes('/run/screen'),
  );
});

test('the line of an IOL image is found in an environment of nothing but blanks, too', () => {
  assert.equal(iolWord('A=1\n \tIOL_PID=auto \r\nIOL_PID=2'), 'auto');
  assert.equal(iolWord('MY_IOL_PID=1\nA=IOL_PID=1'), undefined);
  // Patterns would try each place anew.
  for (const blanks of [' ', '\n', '\r\n'].map((one) => one.repeat(500_000))) {
    assert.equal(iolWord(`${blanks}x`), undefined);
    assert.equal(iolWord(`IOL_PID=1${blanks}x`)?.[0], '1');
  }
});

test('an X server listens on Unix sockets only', () => {
  const line = screenArguments({ name: 'R 1', resolution: '800x600' });
  assert.equal(line[0], ':0');
  const [said, name] = [line.join(' '), line[line.indexOf('-desktop') + 1]];
  assert.equal(name, 'R 1');
  for (const part of ['-geometry 800x600', '-rfbport -1 -rfbunixpath /tmp/rfb -rfbunixmode 0600', '-nolisten tcp -nolisten local'])
    assert.ok(said.includes(part));
});

test('capabilities that this host lacks', () => {
  assert.deepEqual(missingIn('CapBnd:\t000001fffeffffff\n'), ['SYS_RESOURCE']);
  assert.deepEqual(missingIn('CapBnd:\t000001ffffffffff\n'), []);
  assert.deepEqual(missingIn(''), []);
});

test('the progress of a pull: all layers together, once a second', () => {
  const messages: string[] = [];
  const progress = new PullProgress('a:1', (message) => messages.push(message));
  const layer = (id: string, current: number) => ({ id, status: 'Downloading', progressDetail: { current, total: 4 * 2 ** 20 } });
  progress.add(layer('one', 2 ** 20), 5000);
  progress.add(layer('two', 2 ** 20), 5500);
  progress.add({ status: 'Pulling', id: 'three' }, 7000);
  progress.add(layer('two', 2 ** 21), 7000);
  assert.deepEqual(messages, ['Pulling image a:1: 1.0 of 4.0 MiB', 'Pulling image a:1: 3.0 of 8.0 MiB']);
});

test('standard output out of a stream without terminal, however it is cut', () => {
  const part = (type: number, text: string) =>
    Buffer.concat([Buffer.from([type, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)]);
  const bytes = Buffer.concat([part(1, 'hello '), part(2, 'trouble'), part(1, 'there')]);
  const stream = new Demultiplexer();
  for (let at = 0; at < bytes.length; at += 5) stream.write(bytes.subarray(at, at + 5));
  assert.equal(String(stream.read()), 'hello there');
});

test('programs that need nothing beside themselves', async () => {
  assert.equal(await isStatic(process.execPath), false);
  assert.equal(await isStatic(import.meta.filename), false);
  const busybox = await findProgram('busybox');
  assert.ok(busybox === undefined || typeof (await isStatic(busybox)) === 'boolean');
});

test('a volume stays in the folder of its node, wherever links that a container made lead', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pb-volumes-'));
  const host = { resources: '/res', missing: [], screen: undefined, runDirectory: '/run/a' };
  try {
    const bodyOf = (...extra_volumes: string[]) =>
      containerBody(newDocker({ image: 'a', extra_volumes }, nodeId), { Config: null }, { ...names, ...host, directory });
    await makeFolders(bodyOf('/data'), directory);
    await symlink('/', join(directory, 'data', 'host'));
    for (const volume of ['/data/host', '/data/host/tmp', '/data/host/etc/new']) {
      await assert.rejects(makeFolders(bodyOf(volume), directory), refused(/points outside the folder of the node/), volume);
    }
    await makeFolders(bodyOf('/data/inner'), directory);
    assert.ok((await stat(join(directory, 'data/inner'))).isDirectory());
  } finally {
    await rm(directory, { recursive: true });
  }
});
