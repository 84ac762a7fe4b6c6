import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import { isFault } from '../../api/faults.ts';
import { PortPool } from '../../lib/port-pool.ts';
import { knowsRelayOption, parseVersion, VpcsBinaries } from './binary.ts';
import { vpcsArguments } from './command.ts';
import { launchScript, timerSlackNs } from './confined.ts';
import { vpcsDriver } from './driver.ts';
import { vpcsKind } from './kind.ts';
import { MacIds } from './mac-id.ts';
import { takePorts } from './ports.ts';
import { renameScript, scriptName, writeScript } from './script.ts';

emulatorContract({
  kind: vpcsKind,
  makeDriver: vpcsDriver,
  properties: { startup_script: 'set pcname %h\n' },
  firstPort: 31_700,
  console: { type: '\r', shows: /bench> / },
  broken: { settings: (settings) => ({ ...settings, VPCS: { ...settings.VPCS, vpcs_path: '/bin/false' } }) },
});

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

test('command line', () => {
  const ports = { console: 5001, local: 20000, fabric: 20001 };
  const old = vpcsArguments({ version: '0.5b2', ports, macId: 3, script: undefined });
  assert.equal(old.join(' '), '-p 5001 -m 3 -i 1 -F -s 20000 -c 20001 -t 127.0.0.1');
  const now = vpcsArguments({ version: '0.8.2', ports, macId: 0, script: 'startup.vpc' });
  assert.equal(now.join(' '), '-p 5001 -m 0 -i 1 -F -R -s 20000 -c 20001 -t 127.0.0.1 startup.vpc');
});

test('PCs wake up less often the more of them run on a processor', () => {
  const slack = (running: number, processors: number) => timerSlackNs(running, processors) / 1e6;
  assert.deepEqual([slack(0, 2), slack(16, 2), slack(32, 2), slack(32, 8), slack(100_000, 2)], [1, 1, 2, 1, 20]);
  const names = { binary: { version: '0.8', path: '/usr/bin/vpcs', libraries: [] }, args: [], runAs: undefined };
  const script = (running: number) => launchScript({ ...names, running }, { socat: '/usr/bin/socat', ip: '/sbin/ip' });
  assert.match(script(0), /echo 1000000 > \/proc\/self\/timerslack_ns/);
  assert.match(script(1e9), /echo 20000000 > /);
});

test('versions', () => {
  assert.equal(parseVersion('\r\nWelcome to Virtual PC Simulator, version 0.5b2\r\nDedicated'), '0.5b2');
  assert.equal(parseVersion('something else'), undefined);
  for (const version of ['0.5b2', '0.6.1', '0.8', '0.8a']) assert.equal(knowsRelayOption(version), false, version);
  for (const version of ['0.8b', '0.8.1', '0.8.3', '0.9', '1.0']) assert.equal(knowsRelayOption(version), true, version);
});

test('the version is asked once for each state of the file', async () => {
  const directory = await newFolder('binary');
  const path = join(directory, 'vpcs');
  const write = async (version: string) => {
    await writeFile(
      path,
      `#!/bin/sh\necho asked >> ${directory}/asked\necho "Welcome to Virtual PC Simulator, version ${version}"\n`,
    );
    await chmod(path, 0o755);
  };
  await write('0.8.2');
  const binaries = new VpcsBinaries();
  for (let time = 0; time < 2; time++) assert.equal((await binaries.find(path)).version, '0.8.2');
  await write('0.8.10');
  assert.equal((await binaries.find(path)).version, '0.8.10');
  assert.equal((await readFile(join(directory, 'asked'), 'utf8')).length, 'asked\n'.length * 2);
  await chmod(path, 0o644);
  await assert.rejects(binaries.find(path), (error) => isFault(error, 'vpcs_failed') && /install it/.test(error.message));
  await assert.rejects(binaries.find('no-such-vpcs'), /no-such-vpcs/);
  await assert.rejects(binaries.find('true'), /does not say that it is vpcs/);
});

test('MAC ids: unique in a project, kept, free again when the folder has gone; a copied note is a wish', async () => {
  const ids = new MacIds();
  const place = (name: string) => newFolder('project', 'vpcs', name);
  const [one, two, three] = await Promise.all([place('one'), place('two'), place('three')]);
  const given = await Promise.all([one, two, three].map((directory) => ids.of(directory)));
  assert.deepEqual([...given].sort(), [0, 1, 2]);
  assert.deepEqual(await Promise.all([one, two, three].map((directory) => new MacIds().of(directory))), given);
  const copy = await place('copy');
  await writeFile(join(copy, 'mac-id.json'), await readFile(join(two, 'mac-id.json')));
  assert.equal(await ids.of(copy), 3);
  await rm(two, { recursive: true });
  assert.equal(await ids.of(await place('four')), given[1]);
  const alone = await newFolder('copied-project', 'vpcs', 'new');
  await writeFile(join(alone, 'mac-id.json'), await readFile(join(copy, 'mac-id.json')));
  assert.equal(await ids.of(alone), 3);
  // Of a node whose folder was lost.
  const { name, from } = vpcsKind.carriedFile ?? assert.fail();
  const ports = { console: 5001, local: 20000, fabric: 20001 };
  const line = ['vpcs', ...vpcsArguments({ version: '0.8.2', ports, macId: 7, script: undefined })].join(' ');
  await writeFile(join(alone, name), from(line) ?? '');
  assert.deepEqual([await ids.of(alone), from('vpcs -m 300'), from('')], [7, undefined, undefined]);
  await writeFile(join(alone, 'mac-id.json'), '{"mac_id":');
  assert.equal(await ids.of(alone), 0);
  await writeFile(join(alone, 'mac-id.json'), JSON.stringify({ node_id: 'new', mac_id: 9 }).padEnd(2000));
  assert.equal(await ids.of(alone), 0);
  const far = (name: string, from: number) => newFolder('far', 'vpcs', name).then((directory) => ids.of(directory, from));
  assert.deepEqual(
    [await far('one', 128), await far('two', 128), await far('three', 254), await far('four', 254)],
    [128, 129, 254, 0],
  );
});

test('MAC ids end at 254', async () => {
  const ids = new MacIds();
  for (let id = 0; id <= 254; id++) {
    const directory = await newFolder('full', 'vpcs', `n${id}`);
    await writeFile(join(directory, 'mac-id.json'), JSON.stringify({ node_id: `n${id}`, mac_id: id }));
  }
  await assert.rejects(ids.of(await newFolder('full', 'vpcs', 'one-more')), /at most 255/);
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

test('ports: the relay of old versions is taken into account, and exhaustion leaves nothing taken', async () => {
  const host = contractHost(folder, 31_750);
  host.udpPorts.reserve(31_759);
  const { local, relay } = await takePorts(host, true);
  assert.deepEqual([local, relay], [31_751, 31_760]);
  const small = { ...host, udpPorts: new PortPool({ first: 31_750, last: 31_750, protocol: 'udp', host: '127.0.0.1' }) };
  const before = host.tcpPorts.taken();
  await assert.rejects(takePorts(small, true), (error) => isFault(error, 'ports_exhausted'));
  assert.deepEqual([small.udpPorts.taken(), host.tcpPorts.taken()], [[], before]);
  await host.images.close();
});

test('a PC that does not send is started once more, and at last as it is', async () => {
  const host = contractHost(folder, 31_750, (settings) => ({
    ...settings,
    VPCS: { ...settings.VPCS, vpcs_path: join(folder, 'mute/vpcs'), confine: false },
  }));
  const bench = { starts: join(folder, 'mute/starts'), warnings: [] as string[] };
  const startMute = async (times: number) => {
    await newFolder('mute');
    // It runs as another user.
    await chmod(folder, 0o755);
    await writeFile(bench.starts, '');
    await chmod(bench.starts, 0o666);
    // Nothing listens where it sends.
    const script = `#!/bin/sh
[ "$1" = -v ] || echo start >> ${bench.starts}
[ $(wc -l < ${bench.starts}) -gt ${times} ] || set -- "$@" -c 9
exec vpcs "$@"
`;
    await writeFile(join(folder, 'mute/vpcs'), script, { mode: 0o755 });
    const directory = await newFolder('mute/project/vpcs/node');
    const runtimeDirectory = await newFolder('mute/run');
    const emulator = await vpcsDriver(host).start({
      projectId: randomUUID(),
      projectDirectory: join(folder, 'mute/project'),
      nodeId: 'node',
      name: 'PC1',
      directory,
      runtimeDirectory,
      properties: {},
      console: { type: 'telnet', port: null, host: '127.0.0.1' },
      carrier: () => true,
      warn: (message) => void bench.warnings.push(message),
    });
    await emulator.stop({ now: true });
    return (await readFile(bench.starts, 'utf8')).split('\n').length - 1;
  };
  assert.deepEqual([await startMute(0), bench.warnings], [1, []]);
  assert.deepEqual([await startMute(1), bench.warnings], [2, []]);
  assert.equal(await startMute(9), 3);
  assert.match(bench.warnings.join(), /PC1 runs and has sent no frame/);
  assert.deepEqual([host.udpPorts.taken(), host.tcpPorts.taken()], [[], []]);
  await host.images.close();
});
