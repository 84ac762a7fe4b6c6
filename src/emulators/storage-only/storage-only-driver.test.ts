/** Storage-only kinds: the contract as far as it goes, then what each keeps of a node. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import { isFault } from '../../api/faults.ts';
import type { Driver, Properties } from '../driver.ts';
import { dynamipsStorage } from '../dynamips/storage.ts';
import type { Host } from '../host/host.ts';
import { iouStorage } from '../iou/storage.ts';
import { tracengStorage } from '../traceng/storage.ts';
import { virtualboxStorage } from '../virtualbox/storage.ts';
import { vmwareStorage } from '../vmware/storage.ts';
import { type StorageOnlyFacts, storageOnlyDriver, storedNodes } from './storage-only-driver.ts';

const kinds: readonly [facts: StorageOnlyFacts, properties: Properties][] = [
  [dynamipsStorage, { platform: 'c7200', image: 'nowhere.bin', ram: 512 }],
  [tracengStorage, {}],
  [virtualboxStorage, { vmname: 'one' }],
  [vmwareStorage, { vmx_path: '/nowhere/one.vmx', linked_clone: true }],
];

let folder: string;
let host: Host;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-storage-'));
  host = contractHost(folder, 31_600);
});
after(async () => {
  await host.images.close();
  await rm(folder, { recursive: true });
});

const runs = ['start', 'ports', 'console', 'stop', 'stop now', 'adopt', 'adopt dead', 'killed', 'release'] as const;
const skip = Object.fromEntries(runs.map((name) => [name, 'nodes of this kind are kept, not run']));
for (const [facts, properties] of kinds) {
  const makeDriver = (bench: Host) => storageOnlyDriver(facts, bench);
  const { kind } = facts;
  emulatorContract({ kind, makeDriver, properties, firstPort: 31_600, broken: {}, skip });
}

const place = (taken: Readonly<Record<string, readonly number[]>> = {}) => ({
  nodeId: crypto.randomUUID(),
  projectDirectory: join(folder, 'project'),
  taken: (property: string, where: string) => new Set(taken[`${where} ${property}`]),
});
const naming = { port_name_format: 'Ethernet{0}', port_segment_size: 0, first_port_name: null, custom_adapters: [] };
const portNames = (driver: Pick<Driver, 'kind'>, properties: Properties) =>
  driver.kind.ports(properties, { ...naming, ...driver.kind.defaults }).map(({ name, adapter_number, port_number }) => {
    return `${name} ${adapter_number}/${port_number}`;
  });

test('a router has what its platform gives it, and the ports of its modules', async () => {
  const driver = storageOnlyDriver(dynamipsStorage, host);
  const given = { platform: 'c3745', image: 'x.bin', ram: 256, slot1: 'NM-4T', wic0: 'WIC-2T', wic2: 'WIC-1ENET' };
  const router = await driver.create(given, place());
  assert.deepEqual(
    [router.nvram, router.disk0, router.iomem, router.clock_divisor, router.slot0, router.slot4, router.dynamips_id, router.npe],
    [304, 16, 5, 8, 'GT96100-FE', null, 1, undefined],
  );
  assert.deepEqual(portNames(driver, router), [
    'FastEthernet0/0 0/0',
    'FastEthernet0/1 0/1',
    'Serial1/0 1/0',
    'Serial1/1 1/1',
    'Serial1/2 1/2',
    'Serial1/3 1/3',
    'Serial0/0 0/16',
    'Serial0/1 0/17',
    'Ethernet0/2 0/48',
  ]);
  const engine = await driver.create({ platform: 'c7200', image: 'x.bin', ram: 512, npe: 'npe-g2' }, place());
  assert.deepEqual(portNames(driver, engine), ['GigabitEthernet0/0 0/0']);
  assert.deepEqual([engine.sensors, engine.midplane, 'iomem' in engine], [[22, 22, 22, 22], 'vxr', false]);
});

test("a chassis brings its boards; another platform's, and modules where it has no slot, are refused", async () => {
  const driver = storageOnlyDriver(dynamipsStorage, host);
  const small = await driver.create({ platform: 'c2600', image: 'x.bin', ram: 64 }, place());
  assert.deepEqual([small.chassis, small.slot0], ['2610', 'C2600-MB-1E']);
  const other = await driver.update(small, { chassis: '2651XM', slot0: '', platform: 'c7200', dynamips_id: 9 }, place());
  assert.deepEqual([other.chassis, other.slot0, other.platform, other.dynamips_id], ['2651XM', 'C2600-MB-2FE', 'c2600', 1]);
  for (const wrong of [
    { platform: 'c7200', chassis: '2610' },
    { platform: 'c1234' },
    { platform: 'c1700', chassis: '9999' },
    { platform: 'c3725', slot5: 'NM-1FE-TX' },
    { platform: 'c3600', wic0: 'WIC-1T' },
  ]) {
    const asked = driver.create({ image: 'x.bin', ram: 64, ...wrong }, place());
    await assert.rejects(asked, (error) => isFault(error, 'router_platform'));
  }
  const added = driver.update(small, { slot6: 'NM-4T' }, place());
  await assert.rejects(added, /there is no slot6 for NM-4T; known are slot0, slot1/);
  const empty = await driver.create({ platform: 'c3725', image: 'x.bin', ram: 64, slot6: '', wic2: null }, place());
  assert.deepEqual([empty.slot2, 'slot6' in empty], [null, false]);
});

test('ports of a router have the numbers of their slots, also where a project names some slots only', () => {
  assert.deepEqual(portNames(storageOnlyDriver(dynamipsStorage, host), { platform: 'c7200', slot2: 'PA-FE-TX', slot5: 'PA-GE' }), [
    'FastEthernet2/0 2/0',
    'GigabitEthernet5/0 5/0',
  ]);
});

test('numbers: a free one, or the one that was asked for', async () => {
  const driver = storageOnlyDriver(dynamipsStorage, host);
  const given = { platform: 'c7200', image: 'x.bin', ram: 512 };
  const others = place({ 'project dynamips_id': [1, 2, 4] });
  assert.equal((await driver.create(given, others)).dynamips_id, 3);
  await assert.rejects(driver.create({ ...given, dynamips_id: 4 }, others), (error) => isFault(error, 'node_number_taken'));
  const iou = storedNodes(iouStorage, host);
  assert.equal((await iou.create({ path: 'x' }, place({ 'compute application_id': [1] }))).application_id, 2);
  const all = Array.from({ length: 511 }, (_, index) => index + 1);
  const none = iou.create({ path: 'x' }, place({ 'compute application_id': all }));
  await assert.rejects(none, (error) => isFault(error, 'node_numbers_exhausted'));
});

test('IOU: four ports on each adapter, serial ones behind', async () => {
  const driver = storedNodes(iouStorage, host);
  const iou = await driver.create({ path: 'x', ethernet_adapters: 1, serial_adapters: 2 }, place());
  const names = portNames(driver, iou);
  assert.deepEqual([names.length, names[3], names[4], names[11]], [12, 'Ethernet0/3 0/3', 'Serial1/0 1/0', 'Serial2/3 2/3']);
});

test('configurations are written once and follow the name', async () => {
  const driver = storageOnlyDriver(dynamipsStorage, host);
  const directory = join(folder, 'router');
  const content = { startup_config_content: '!\r\nhostname %h\r\nend\r\n', private_config_content: '' };
  await driver.populate?.(directory, content, 'R1');
  await driver.populate?.(directory, { startup_config_content: 'other' }, 'R1');
  const read = () => readFile(join(directory, 'configs/startup-config.cfg'), 'utf8');
  assert.equal(await read(), '!\nhostname R1\nend\n');
  await driver.renamed?.(directory, 'R1', 'Edge $&');
  assert.equal(await read(), '!\nhostname Edge $&\nend\n');
});

test('TraceNG takes an IPv4 address or none', async () => {
  const driver = storageOnlyDriver(tracengStorage, host);
  assert.deepEqual(driver.present(await driver.create({ ip_address: '10.0.0.1' }, place())), {
    default_destination: '',
    ip_address: '10.0.0.1',
  });
  await assert.rejects(driver.create({ ip_address: 'here' }, place()), (error) => isFault(error, 'address_invalid'));
});
