import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { Bench, contractHost } from '../../../test/support/contract-bench.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import { isFault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Emulator, Properties } from '../driver.ts';
import { findProgram } from '../host/find-program.ts';
import { findDevice } from '../port-processes/interfaces.ts';
import { packetDevice } from '../port-processes/socat.ts';
import { removeInterfaces } from '../port-processes/veth.ts';
import { cloudDriver } from './driver.ts';
import { cloudKind } from './kind.ts';

const isRoot = process.geteuid?.() === 0;
const tap = { name: 'out', port_number: 7, type: 'tap', interface: `pbtest${process.pid}` };
const options = { kind: cloudKind, makeDriver: cloudDriver, properties: { ports_mapping: [tap] }, firstPort: 31_900 };

if (isRoot) {
  emulatorContract({
    ...options,
    broken: { properties: { ports_mapping: [{ ...tap, type: 'ethernet', interface: 'pbnone0' }] } },
    skip: {
      console: 'it has none',
      killed: 'its process is started again',
      'adopt dead': 'the node is there without a process',
    },
  });
} else {
  test('cloud: the contract', { skip: 'TAP interfaces need root' }, () => {});
}

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
});
after(() => rm(folder, { recursive: true }));

/** A started cloud with these ports, none of them open. */
async function started(ports: readonly object[], change?: (settings: Settings) => Settings): Promise<Emulator> {
  const host = contractHost(folder, 31_940, change);
  const bench = new Bench({ ...options, makeDriver: () => cloudDriver(host), properties: { ports_mapping: ports } }, folder);
  return bench.driver.start(await bench.view(await bench.create()));
}
const opening = (emulator: Emulator) => async () => emulator.openPort?.(0, 0);
const refused = (code: Parameters<typeof isFault>[1], words: RegExp) => (error: unknown) =>
  isFault(error, code) && words.test(error.message);

test('ports: those of ordinary interfaces unless the request names others, numbered in order, not changed while connected', async () => {
  const driver = cloudDriver(contractHost(folder, 31_940));
  const place = { nodeId: 'n', projectDirectory: folder };
  const made = await driver.create({ ports_mapping: [], interfaces: [] }, place);
  const ports = made.ports_mapping as { name: string; port_number: number }[];
  assert.ok(!ports.some(({ name }) => name === 'lo'));
  assert.deepEqual(
    ports.map(({ port_number }) => port_number),
    [...ports.keys()],
  );
  const shown = driver.present(made).interfaces as { name: string; special: boolean }[];
  assert.ok(shown.some(({ name, special }) => name === 'lo' && special));
  const changes = { ports_mapping: [tap], remote_console_port: null, status: 'started' };
  const changed = await driver.update(made, changes, place);
  assert.deepEqual(changed.ports_mapping, [{ ...tap, port_number: 0 }]);
  assert.deepEqual([changed.remote_console_port, changed.status], [null, undefined]);
  const connected = { ...place, connected: true };
  assert.deepEqual(await driver.update(changed, { ports_mapping: [tap], remote_console_host: 'h' }, connected), {
    ...changed,
    remote_console_host: 'h',
  });
  await assert.rejects(driver.update(changed, { ports_mapping: [] }, connected), refused('ports_connected', /delete its links/));
});

test('an interface that is not there, not allowed, or no interface is refused when it is opened', async () => {
  const on = (name: string): object => ({ name: 'x', port_number: 0, type: 'ethernet', interface: name });
  await assert.rejects(opening(await started([on('pbnone0')])), refused('interface_unavailable', /no such interface/));
  await assert.rejects(opening(await started([on('../x')])), refused('interface_unavailable', /no name/));
  for (const own of ['pbv0123456789ab', 'pbtzyxwvutsrqpo']) {
    await assert.rejects(opening(await started([on(own)])), refused('interface_unavailable', /another node/));
    await assert.rejects(opening(await started([{ ...tap, interface: own }])), refused('interface_unavailable', /another node/));
  }
  const only = (settings: Settings) => ({ ...settings, Server: { ...settings.Server, allowed_interfaces: 'eth7, eth8' } });
  await assert.rejects(opening(await started([on('lo')], only)), refused('interface_unavailable', /allowed_interfaces/));
  await assert.rejects(opening(await started([{ ...tap }], only)), refused('interface_unavailable', /allowed_interfaces/));
});

test('TAP interfaces that the fabric holds: made, made again after a boot, brought up', { skip: !isRoot }, async (context) => {
  const capabilities = async () => ({ taps: true, kernelObstacle: null, linkObstacle: null });
  const host = { ...contractHost(folder, 31_940), fabric: { capabilities, useNamespace: async () => {} } };
  const bench = new Bench({ ...options, makeDriver: () => cloudDriver(host) }, folder);
  const view = await bench.view(await bench.create());
  const emulator = await bench.driver.start(view);
  context.after(() => removeInterfaces([tap.interface]));
  const look = async () => {
    const device = await findDevice(tap.interface);
    return device && [device.isTap, device.isUp];
  };
  await opening(emulator)();
  assert.deepEqual(await look(), [true, true]);
  await removeInterfaces([tap.interface]);
  const nextServer = cloudDriver(host);
  const adopted = await nextServer.adopt(view, emulator.record);
  assert.ok(adopted);
  await opening(adopted)();
  assert.deepEqual(await look(), [true, true]);
  await adopted.stop();
  assert.equal(await look(), undefined);
  assert.equal((await runTool('ip', ['tuntap', 'add', 'dev', tap.interface, 'mode', 'tap'], { timeoutMs: 5000 })).reason, '');
  assert.deepEqual(await look(), [true, false]);
  const another = await nextServer.start(view);
  await opening(another)();
  assert.deepEqual(await look(), [true, true]);
  await another.stop();
  assert.deepEqual(await look(), [true, true], 'another program made it');
  const wrong = await nextServer.start({ ...view, properties: { ports_mapping: [{ ...tap, port_number: 0, interface: 'lo' }] } });
  await assert.rejects(opening(wrong), refused('interface_unavailable', /no TAP interface/));
});

test('without the privilege the capability is named, and what to do; a tunnel needs none', async () => {
  const path = process.env.PATH;
  const real = await findProgram('socat');
  if (isRoot) {
    // A server without privileges meets the same program without these capabilities.
    const less = `--bounding-set=-net_raw,-net_admin --inh-caps=-net_raw,-net_admin`;
    await writeFile(join(folder, 'socat'), `#!/bin/sh\nexec setpriv ${less} -- ${real} "$@"\n`);
    await chmod(join(folder, 'socat'), 0o755);
    process.env.PATH = `${folder}${delimiter}${path}`;
  }
  try {
    const tapped = await started([tap]);
    await assert.rejects(opening(tapped), refused('capability_missing', /CAP_NET_ADMIN.*setcap/));
    const raw = await started([{ name: 'x', port_number: 0, type: 'ethernet', interface: 'lo' }]);
    await assert.rejects(opening(raw), refused('capability_missing', /CAP_NET_RAW.*root/));
    assert.equal(raw.port(0, 0), undefined);
  } finally {
    process.env.PATH = path;
  }
  const tunnel = { name: 'u', port_number: 0, type: 'udp', lport: 31_975, rhost: '127.0.0.1', rport: 31_976 };
  const emulator = await started([tunnel]);
  await emulator.openPort?.(0, 0);
  assert.deepEqual(emulator.port(0, 0), { type: 'udp', lport: 31_975, rhost: '127.0.0.1', rport: 31_976, strict: true });
  await emulator.stop();
  assert.equal(emulator.port(0, 0), undefined);
});

test('the request for all frames of an interface', () => {
  const little = 'INTERFACE:eth0,setsockopt-bin=263:1:x05010000010000000000000000000000';
  assert.equal(packetDevice('eth0', 261), little);
});

test('properties are the driver’s own after a change', async () => {
  const emulator = await started([tap]);
  const tunnel = { name: 'u', port_number: 0, type: 'udp', lport: 31_977, rhost: '127.0.0.1', rport: 31_978 };
  await emulator.changed({ ports_mapping: [tunnel] } as Properties);
  await emulator.openPort?.(0, 0);
  assert.equal(emulator.port(0, 0)?.type, 'udp');
  await emulator.stop();
});
