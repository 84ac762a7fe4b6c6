import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileBpf } from '../../fabric/bpf-compile.ts';
import { translateBpf } from '../../fabric/filters/bpf.ts';
import { admitted, admittedExpression } from './admitted.ts';
import { network } from './network.ts';
import { firstResolver, passtArguments } from './passt-command.ts';
import { listsUserNetwork, userNetworkArguments } from './user-network-command.ts';

test('command line of passt', () => {
  const line = (more: object) =>
    passtArguments({ socket: '/s', resolver: undefined, hostAccess: false, isRoot: false, ...more }).join(' ');
  const common =
    '--foreground --socket /s --ipv4-only --address 192.168.122.100 --netmask 24 --gateway 192.168.122.1 --mac-addr 52:55:c0:a8:7a:01 --mtu 1500';
  assert.equal(line({}), `${common} --no-map-gw`);
  assert.equal(line({ hostAccess: true, isRoot: true, resolver: '9.9.9.9' }), `${common} --dns 9.9.9.9 --runas 0:0`);
  const forwarded = '--dns 127.0.0.53 --dns 192.168.122.1 --dns-forward 192.168.122.1';
  assert.equal(line({ resolver: '127.0.0.53' }), `${common} ${forwarded} --no-map-gw`);
});

test('the first resolver of this host', () => {
  assert.equal(
    firstResolver('# nameserver 1.1.1.1\nsearch lab\nnameserver fd00::1\nnameserver 10.0.0.53\nnameserver 10.0.0.54\n'),
    '10.0.0.53',
  );
  assert.equal(firstResolver('search lab\n'), undefined);
});

test('command line of a user network, and whether an emulator has one', () => {
  const line = userNetworkArguments('/a,b').join(' ');
  const user = 'user,id=user,ipv6=off,net=192.168.122.0/24,host=192.168.122.1,dns=192.168.122.2,dhcpstart=192.168.122.100';
  assert.ok(line.includes(`-netdev ${user} -netdev stream,id=fabric,server=on,addr.type=unix,addr.path=/a,,b -netdev hubport`));
  assert.ok(listsUserNetwork('Available netdev backend types:\nsocket\nstream\nuser\n'));
  assert.ok(!listsUserNetwork('Available netdev backend types:\nsocket\nuser\n'));
  assert.ok(!listsUserNetwork('stream\nvhost-user\n'));
});

test('what the user network is given without host access: everything for outside, and of its own network only what it answers itself', async () => {
  // Another libpcap may arrange the same program otherwise.
  const programs = [admitted, await compileBpf(admittedExpression)].map(translateBpf);
  const passes = (hex: string) => {
    const frame = Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');
    const [verdict, compiled] = programs.map((program) => program(frame, 0, frame.length) !== 0);
    assert.equal(verdict, compiled, hex);
    return verdict;
  };
  const { gateway, nameServer } = network;
  for (const [protocol, to, port] of [
    ['tcp', '9.9.9.9', 80],
    ['udp', '192.168.121.1', 53],
    ['tcp', nameServer, 53],
    ['udp', nameServer, 53],
    ['udp', '255.255.255.255', 67],
    ['udp', gateway, 67],
    ['icmp', gateway, 0],
  ] as const) {
    assert.ok(passes(packet({ protocol, to, port })), `${protocol} ${to} ${port}`);
  }
  for (const to of [
    gateway,
    nameServer,
    '192.168.122.77',
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '0.1.2.3',
    '255.255.255.255',
    '224.0.0.1',
  ]) {
    for (const protocol of ['tcp', 'udp'] as const) {
      assert.ok(!passes(packet({ protocol, to, port: 3080 })), `${protocol} ${to}`);
    }
  }
  const dns = { protocol: 'tcp', to: nameServer, port: 53 } as const;
  assert.ok(!passes(packet({ ...dns, fragment: '0001' })), 'a later fragment, whose first bytes are no ports');
  assert.ok(!passes(packet({ ...dns, mac: '525400000002' })), 'for another guest');
  assert.ok(!passes(packet({ ...dns, type: '8100' })), 'with a tag');
  assert.ok(!passes(packet(dns).slice(0, 70)), 'cut off before the port');
  assert.ok(passes('ffffffffffff 525400000001 0806 0001'), 'ARP');
});

interface Packet {
  protocol: 'tcp' | 'udp' | 'icmp';
  to: string;
  port: number;
  mac?: string;
  type?: string;
  fragment?: string;
}

function packet({ protocol, to, port, mac = '5255c0a87a01', type = '0800', fragment = '0000' }: Packet): string {
  const bytes = (number: number, count: number) => number.toString(16).padStart(2 * count, '0');
  const number = { tcp: 6, udp: 17, icmp: 1 }[protocol];
  const address = to.split('.').map((part) => bytes(Number(part), 1));
  const header = `4500003c0000${fragment}40${bytes(number, 1)}0000c0a87a64${address.join('')}`;
  return `${mac}525400000001${type}${header}1388${bytes(port, 2)}0000000000000000`;
}
