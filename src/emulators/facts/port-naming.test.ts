import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import type { PortNaming } from '../kind.ts';
import { macOfNode, macPlus } from './mac-address.ts';
import { formatName, mostAdapters, namePorts } from './port-naming.ts';

const standard: PortNaming = { port_name_format: 'Ethernet{0}', port_segment_size: 0, first_port_name: null, custom_adapters: [] };
const names = (count: number, naming: Partial<PortNaming>) =>
  namePorts({ count }, { ...standard, ...naming }).map(({ name }) => name);

test('the standard format gives Ethernet0, Ethernet1… with short names', () => {
  const ports = namePorts({ count: 12, adapter_type: 'e1000', mac_address: '0c:bb:cc:dd:00:00' }, standard);
  assert.deepEqual(ports[11], {
    adapter_number: 11,
    port_number: 0,
    name: 'Ethernet11',
    short_name: 'e11',
    link_type: 'ethernet',
    data_link_types: { Ethernet: 'DLT_EN10MB' },
    adapter_type: 'e1000',
    mac_address: '0c:bb:cc:dd:00:0b',
  });
});

test('a first port with a name of its own counts in neither counter', () => {
  assert.deepEqual(names(3, { port_name_format: 'Gi0/{0}', first_port_name: 'Mgmt' }), ['Mgmt', 'Gi0/0', 'Gi0/1']);
  assert.deepEqual(names(5, { port_name_format: 'Gi{segment0}/{port0}', port_segment_size: 2, first_port_name: 'fxp0' }), [
    'fxp0',
    'Gi0/0',
    'Gi0/1',
    'Gi1/0',
    'Gi1/1',
  ]);
});

test('segments', () => {
  assert.deepEqual(names(8, { port_name_format: 'eth{segment0}/{port0}', port_segment_size: 2 }).at(-1), 'eth3/1');
  assert.deepEqual(names(3, { port_name_format: 'p{1}.{port1}.{adapter}' }), ['p0.1.0', 'p1.2.1', 'p2.3.2']);
});

test('a custom adapter has its own name, type and address', () => {
  const custom_adapters = [{ adapter_number: 1, port_name: 'wan', adapter_type: 'rtl8139', mac_address: '00:11:22:33:44:55' }];
  const [, wan] = namePorts(
    { count: 2, adapter_type: 'e1000', mac_address: '0c:00:00:00:00:00' },
    { ...standard, custom_adapters },
  );
  assert.deepEqual([wan?.name, wan?.adapter_type, wan?.mac_address], ['wan', 'rtl8139', '00:11:22:33:44:55']);
});

test('short names follow the slash', () => {
  const [port] = namePorts({ count: 1 }, { ...standard, port_name_format: 'GigabitEthernet0/{0}' });
  assert.equal(port?.short_name, 'Gigabite0/0');
});

test('formats of numbers', () => {
  const at = { interfaceNumber: 5, segment: 1, adapter: 10 };
  const cases = [
    ['{0:02d}', '05'],
    ['{}/{}', '5/1'],
    ['{{{0}}}', '{5}'],
    ['{adapter:x}', 'a'],
    ['{0!s:>3}', '  5'],
    ['{0:*^3}', '*5*'],
    ['plain', 'plain'],
  ] as const;
  for (const [format, expected] of cases) assert.equal(formatName(format, at), expected, format);
});

test('what is no format is refused with the reason', () => {
  for (const format of ['{', '}', '{bad}', '{2}', '{port9}', '{0:s}', '{0.real}', '{0:999999999d}', '{}{0}', '{0']) {
    const call = () => formatName(format, { interfaceNumber: 0, segment: 0, adapter: 0 });
    assert.throws(call, (error) => isFault(error, 'node_name_format'), format);
  }
});

test('addresses count upwards as 48-bit numbers', () => {
  assert.equal(macOfNode('AABBCCDD-0000-4000-8000-000000000000'), '0c:bb:cc:dd:00:00');
  assert.equal(macPlus('0c:bb:cc:dd:00:00', 275), '0c:bb:cc:dd:01:13');
  assert.equal(macPlus('ff:ff:ff:ff:ff:ff', 1), '00:00:00:00:00:00');
});

test('a number of adapters that a file says, however large, gives a bounded list', () => {
  for (const count of [1e300, 2 ** 32, Number.POSITIVE_INFINITY]) assert.equal(namePorts({ count }, standard).length, mostAdapters);
  for (const count of [-1, Number.NaN]) assert.deepEqual(namePorts({ count }, standard), []);
});
