import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsOf as atmSettings } from '../atm-switch/driver.ts';
import { settingsOf as ethernetSettings } from '../ethernet-switch/driver.ts';
import { settingsOf as frameRelaySettings } from '../frame-relay-switch/driver.ts';
import { checkMappings, circuitPorts } from './circuits.ts';

test('a mapping is a circuit in both directions', () => {
  const properties = { mappings: { '1:101': '10:202', '10:5': '1:102' } };
  const circuits = [
    { dlci: 101, toPort: 10, toDlci: 202 },
    { dlci: 102, toPort: 10, toDlci: 5 },
  ];
  assert.deepEqual(frameRelaySettings(properties, 1), { medium: 'frame_relay', circuits });
  assert.equal(frameRelaySettings(properties, 2), undefined);
  const paths = { mappings: { '1:10': '2:20', '1:0:100': '2:1:200' } };
  assert.deepEqual(atmSettings(paths, 2), {
    medium: 'atm',
    circuits: [
      { vpi: 20, toPort: 1, toVpi: 10 },
      { vpi: 1, vci: 200, toPort: 1, toVpi: 0, toVci: 100 },
    ],
  });
});

test('ports are listed although mappings cannot be used: what is wrong is said when the node is made', () => {
  const properties = { mappings: { '2:x': 'nothing', '-1:5': '99999:1', '10:1': '2:2' } };
  assert.deepEqual(
    circuitPorts(properties, {}).map(({ port_number }) => port_number),
    [2, 10],
  );
  assert.throws(() => checkMappings(properties.mappings, { form: 'port:dlci', accepts: () => true }), /"2:x" is not port:dlci/);
});

test('an entry of the ports mapping is what its port does', () => {
  const entry = { name: 'x', port_number: 0 };
  const ports_mapping = [
    { ...entry, type: 'access' },
    { ...entry, type: 'dot1q', vlan: 5, ethertype: '' },
    { ...entry, type: 'qinq', vlan: 7, ethertype: '0x88A8' },
  ];
  const seen = [0, 1, 2, 3].map((port) => ethernetSettings({ ports_mapping }, port));
  assert.deepEqual(seen, [
    { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0x8100 },
    { medium: 'ethernet', mode: 'dot1q', vlan: 5, tagType: 0x8100 },
    { medium: 'ethernet', mode: 'qinq', vlan: 7, tagType: 0x88a8 },
    undefined,
  ]);
});
