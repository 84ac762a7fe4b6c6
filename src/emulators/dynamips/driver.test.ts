import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { Bench } from '../../../test/support/contract-bench.ts';
import { buildStandIn, compilerObstacle, iosHead } from '../../../test/support/dynamips/programs.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { endMarked, listMarked } from '../../process/orphans.ts';
import type { Properties } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { extractConfigs } from './configs.ts';
import { dynamipsDriver } from './driver.ts';
import type { RouterEmulator } from './emulator.ts';
import { commandLine } from './hypervisor.ts';
import { dynamipsKind } from './kind.ts';
import { routerDefaults, withBoards } from './properties.ts';
import { routerCommands } from './router-commands.ts';

const obstacle = await compilerObstacle();
const program = obstacle === undefined ? await buildStandIn() : '';
const folder = await mkdtemp(join(tmpdir(), 'pb-ios-'));
after(() => rm(folder, { recursive: true, force: true }));
const image = join(folder, 'c7200.bin');
await writeFile(image, iosHead, { mode: 0o644 });
const notIos = join(folder, 'readme.txt');
await writeFile(notIos, 'not an image\n', { mode: 0o644 });

/** A driver that starts the stand-in; nothing is waited for when idle-PC values are looked for. */
function makeDriver(host: Host, ghost_ios_support = true) {
  const { settings } = host;
  const Dynamips = { ...settings.Dynamips, dynamips_path: program, ghost_ios_support };
  return dynamipsDriver({ ...host, settings: { ...settings, Dynamips } }, { bootMs: 0, trialMs: 0 });
}

const properties = { platform: 'c3725', image, ram: 128 };

describe('with the stand-in', { skip: obstacle }, () => {
  emulatorContract({
    kind: dynamipsKind,
    makeDriver: (host) => makeDriver(host, false),
    properties: { ...properties, startup_config_content: 'hostname %h\n' },
    firstPort: 32_200,
    console: { type: '\r', shows: /bench#/ },
    broken: { properties: { image: notIos } },
  });

  let place: string;
  let bench: Bench;
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'pb-'));
    bench = new Bench({ kind: dynamipsKind, makeDriver, properties, firstPort: 32_240 }, place);
  });
  afterEach(async () => {
    await endMarked(await listMarked(bench.host.settings.runtimeDirectory), 0);
    await bench.host.images.close();
    await rm(place, { recursive: true, force: true });
  });

  async function start(more: Properties = {}): Promise<RouterEmulator> {
    // The compute removes the folder, too, before each start.
    await rm(bench.runtimeDirectory, { recursive: true, force: true });
    const view = await bench.view(await bench.create(more));
    return (await bench.driver.start(view)) as RouterEmulator;
  }

  test('configurations are read into the NVRAM at the start, and saved from it while the router runs; an empty one replaces none, and an edited one stays', async () => {
    const configs = join(bench.directory, 'configs');
    await mkdir(configs, { recursive: true });
    await writeFile(join(configs, 'startup-config.cfg'), 'hostname first\n');
    await writeFile(join(configs, 'private-config.cfg'), 'crypto key\n');
    const router = await start();
    assert.deepEqual(await extractConfigs(router.hypervisor, router.router), {
      startup: 'hostname first\n',
      private: 'crypto key\n',
    });
    // A guest saves in this way: the stand-in answers what its NVRAM holds.
    const nvram = join(bench.directory, 'c3725_i1_nvram');
    await writeFile(nvram, 'hostname second\r\n\0');
    await router.look();
    assert.equal(await readFile(join(configs, 'startup-config.cfg'), 'utf8'), 'hostname second\n');
    assert.equal(await readFile(join(configs, 'private-config.cfg'), 'utf8'), 'crypto key\n');
    assert.equal(await readFile(join(configs, 'i1_startup-config.cfg'), 'utf8'), 'hostname second\n', 'as GNS3 names it');
    // A client edits the file, and the guest has saved nothing since.
    await writeFile(join(configs, 'startup-config.cfg'), 'hostname edited\n');
    await router.look();
    assert.equal(await readFile(join(configs, 'startup-config.cfg'), 'utf8'), 'hostname edited\n');
    await writeFile(nvram, 'hostname saved\n\0');
    await router.look();
    assert.equal(await readFile(join(configs, 'startup-config.cfg'), 'utf8'), 'hostname saved\n');
    await writeFile(nvram, '\0');
    await router.stop();
    assert.equal(await readFile(join(configs, 'startup-config.cfg'), 'utf8'), 'hostname saved\n');
    // A client of GNS3 writes the file so.
    await writeFile(join(configs, 'i1_startup-config.cfg'), 'hostname third\n');
    const later = new Date(Date.now() + 60_000);
    await utimes(join(configs, 'i1_startup-config.cfg'), later, later);
    await bench.driver.renamed?.(bench.directory, 'bench', 'fourth');
    await utimes(join(configs, 'i1_startup-config.cfg'), later, later);
    const again = await start();
    assert.equal((await extractConfigs(again.hypervisor, again.router))?.startup, 'hostname fourth\n');
    await again.stop();
    // A copy of a node of GNS3's that had the number 7 has such files.
    for (const file of ['startup-config.cfg', 'i1_startup-config.cfg']) await rm(join(configs, file));
    await writeFile(join(configs, 'i7_startup-config.cfg'), 'hostname copied\n');
    const copy = await start();
    assert.equal((await extractConfigs(copy.hypervisor, copy.router))?.startup, 'hostname copied\n');
    await copy.stop();
  });

  test('a router that ends within its hypervisor is noticed', async () => {
    const router = await start();
    await router.hypervisor.ask('vm', 'stop', router.router);
    await router.look();
    assert.deepEqual(await router.ended, { how: 'failed', reason: 'the router has stopped by itself' });
    await bench.assertNothingRuns();
  });

  test('the last router with an image takes its ghost image along; disks stay unless the node says otherwise', async () => {
    const ghosts = join(place, 'ghosts');
    const router = await start();
    assert.equal((await readdir(ghosts)).length, 1);
    await router.stop();
    await waitFor(async () => (await readdir(ghosts)).length === 0, { what: 'the end of the ghost image' });
    const files = async () => (await readdir(bench.directory)).filter((name) => /_i1_/.test(name)).sort();
    assert.ok((await files()).includes('c3725_i1_disk0'));
    assert.ok(!(await files()).includes('c3725_i1_lock'));
    const cleaned = await start({ auto_delete_disks: true, mmap: false });
    assert.deepEqual(await readdir(ghosts), [], 'memory that is not mapped cannot be shared');
    await cleaned.stop();
    assert.deepEqual(
      (await files()).filter((name) => /disk|nvram/.test(name)),
      [],
    );
  });

  test('ghost images that a killed server left are removed, those of adopted routers stay', async () => {
    const ghosts = join(place, 'ghosts');
    const router = await start();
    const [kept = ''] = await readdir(ghosts);
    for (const name of ['.making-x', 'f'.repeat(24)]) {
      await mkdir(join(ghosts, name));
      await writeFile(join(ghosts, name, 'image.ghost'), 'ghost');
    }
    const view = await bench.view(await bench.create());
    const { record } = router;
    router.release();
    // The next server knows what it adopts.
    const next = makeDriver(bench.host);
    const adopted = await next.adopt(view, record);
    assert.ok(adopted);
    const other = await Bench.prototype.view.call(bench, await bench.create());
    await rm(join(place, 'run', 'other'), { recursive: true, force: true });
    await mkdir(join(place, 'run', 'other'));
    const second = await next.start({ ...other, nodeId: crypto.randomUUID(), runtimeDirectory: join(place, 'run', 'other') });
    assert.deepEqual(await readdir(ghosts), [kept]);
    await second.stop();
    await adopted.stop();
    await waitFor(async () => (await readdir(ghosts)).length === 0, { what: 'the end of the ghost image' });
    // A router that has ended while no server ran.
    await mkdir(join(ghosts, kept));
    assert.equal(await makeDriver(bench.host).adopt(view, record), undefined);
    await waitFor(async () => (await readdir(ghosts)).length === 0, { what: 'the end of the ghost image of an ended router' });
  });

  test('idle-PC values are proposed and tried: of a stopped router, which is stopped again, and of a running one', async () => {
    const view = await bench.view(await bench.create({ idlepc: '0x60001111' }));
    const routes = bench.driver.routes?.({
      get: () => view,
      suspend: async () => {},
      resume: async () => {},
      whileStopped: (_path, _what, work) => work(view),
    });
    const ask = (end: string) => {
      const found = routes?.find(({ key }) => key.endsWith(end));
      const call = { path: { project_id: view.projectId, node_id: view.nodeId } };
      return (found as unknown as { handle: (call: unknown) => Promise<unknown> }).handle(call);
    };
    assert.deepEqual(await ask('/idlepc_proposals'), ['0x60b5c9d4 [60]', '0x60200f3c [40]']);
    assert.deepEqual(await ask('/auto_idlepc'), { idlepc: '0x60200f3c' });
    await bench.assertNothingRuns();
    await mkdir(view.runtimeDirectory, { recursive: true });
    const router = (await bench.driver.start(view)) as RouterEmulator;
    assert.deepEqual(await ask('/auto_idlepc'), { idlepc: '0x60200f3c' });
    // Each search begins with the proposals, and ends with the router's own value: two at once would measure each other's values.
    const asked: string[] = [];
    const original = router.hypervisor.ask.bind(router.hypervisor);
    router.hypervisor.ask = (...words) => {
      if (words[1] === 'set_idle_pc_online') asked.push(String(words[4]));
      return original(...words);
    };
    await Promise.all([ask('/auto_idlepc'), ask('/auto_idlepc')]);
    const once = ['0x0', '0x60b5c9d4', '0x60200f3c', '0x60001111'];
    assert.deepEqual(asked, [...once, ...once]);
    // The router runs with its own value, with which the stand-in does not idle.
    assert.equal((await router.hypervisor.ask('vm', 'cpu_usage', router.router, 0)).text, '98');
    await router.stop();
  });
});

test('the commands of a router follow from its properties', () => {
  const c7200 = withBoards({
    ...routerDefaults({ platform: 'c7200', image: 'c7200.bin', ram: 512 }),
    ...{ dynamips_id: 3, idlepc: '0x6000', slot2: 'PA-4T+', sensors: [20, 21, 22, 23], power_supplies: [1, 0] },
  });
  const facts = { name: 'R3', properties: c7200, hasAux: true, ghost: '/ghosts/g', mmap: true, sparsemem: false };
  const lines = routerCommands({ ...facts, startupConfig: 'configs/s.cfg', privateConfig: 'configs/p.cfg' }, 'x-00000000beef').map(
    commandLine,
  );
  assert.equal(
    lines.join('\n'),
    `vm create R3 3 c7200
c7200 set_npe R3 npe-400
c7200 set_midplane R3 vxr
c7200 set_temp_sensor R3 0 20
c7200 set_temp_sensor R3 1 21
c7200 set_temp_sensor R3 2 22
c7200 set_temp_sensor R3 3 23
c7200 set_power_supply R3 0 1
c7200 set_power_supply R3 1 0
c7200 set_system_id R3 FTX0945W0MY
c7200 set_mac_addr R3 ca03.beef.0000
vm set_ios R3 "/ios.image"
vm set_ram R3 512
vm set_nvram R3 128
vm set_ram_mmap R3 1
vm set_sparse_mem R3 0
vm set_clock_divisor R3 4
vm set_exec_area R3 64
vm set_disk0 R3 64
vm set_disk1 R3 0
vm set_idle_pc R3 0x6000
vm set_idle_max R3 0 500
vm set_idle_sleep_time R3 0 30
vm set_ghost_status R3 2
vm set_ghost_file R3 "/ghosts/g"
vm set_con_tcp_port R3 2000
vm set_aux_tcp_port R3 2001
vm slot_add_binding R3 0 0 C7200-IO-FE
vm slot_add_binding R3 2 0 PA-4T+
vm set_config R3 "configs/s.cfg" "configs/p.cfg"`,
  );
  const c2600 = withBoards({
    ...routerDefaults({ platform: 'c2600', chassis: '2621XM', image: 'i', ram: 64 }),
    dynamips_id: 1,
    wic1: 'WIC-2T',
  });
  const others = routerCommands({ name: 'R', properties: c2600, hasAux: false, mmap: false, sparsemem: true }, 'x').map(
    commandLine,
  );
  for (const line of ['c2600 set_chassis R 2621XM', 'c2600 set_iomem R 15', 'vm set_idle_pc R 0x0', 'vm set_ram_mmap R 0'])
    assert.ok(others.includes(line), line);
  assert.deepEqual(
    others.filter((line) => line.includes('add_binding')),
    ['vm slot_add_binding R 0 32 WIC-2T'],
    'without the board',
  );
});
