/** Tables as programs print them: FRRouting 8.4, iproute2 6.1, IOS 15. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Platforms } from '../console/platforms.ts';
import { judgeNeighbour, judgeRoute } from '../definition/tables.ts';
import { commandOf } from './node-probe.ts';
import { readTable, type TableForm } from './read-table.ts';

const platforms = await Platforms.load();
const platform = (name: string) => platforms.get(name, '.');
const [linux, frr, ios] = await Promise.all([platform('linux'), platform('frr'), platform('ios-like')]);
const form = (given: TableForm | undefined) => given as TableForm;
const to = '10.3.0.0/24';
const right = { via: ['10.0.13.3'], interface: 'eth1', protocol: 'ospf', metric: 20 };

const ofFrr = `{"10.3.0.0/24":[
 {"prefix":"10.3.0.0/24","protocol":"static","metric":0,"nexthops":[{"ip":"10.9.9.9","interfaceName":"eth7"}]},
 {"prefix":"10.3.0.0/24","protocol":"ospf","selected":true,"metric":20,
  "nexthops":[{"ip":"10.0.13.3","interfaceName":"eth1","active":true},{"ip":"10.0.12.2","interfaceName":"eth0"}]}]}`;
const ofLinux = '[{"dst":"10.3.0.0/24","gateway":"10.0.13.3","dev":"eth1","protocol":"ospf","metric":20,"flags":[]}]';
const ofIos = `Routing entry for 10.3.0.0/24
  Known via "ospf 1", distance 110, metric 20, type intra area
  Last update from 10.0.13.3 on eth1, 00:00:10 ago
  Routing Descriptor Blocks:
  * 10.0.13.3, from 3.3.3.3, 00:00:10 ago, via eth1
      Route metric is 20, traffic share count is 1`;

it('routes of each platform, and what is wrong with them', () => {
  for (const [table, output] of [
    [frr.route, ofFrr],
    [linux.route, ofLinux],
    [ios.route, ofIos],
  ] as const) {
    const result = readTable(form(table), output);
    assert.deepEqual(judgeRoute(right, to, [])(result), []);
    assert.deepEqual(judgeRoute({ ...right, via: ['10.0.12.2'] }, to, [])(result), [
      'the next hops are 10.0.13.3, expected 10.0.12.2',
    ]);
    assert.deepEqual(judgeRoute({ metric: '> 20' }, to, [])(result), ['the metric is 20, expected > 20']);
    assert.match(judgeRoute({ present: false }, to, [])(result).join(), /^there is a route to 10\.3\.0\.0\/24: .*via 10\.0\.13\.3/);
    assert.deepEqual(judgeRoute({}, '10.4.0.0/16', [])(result), ['there is no route to 10.4.0.0/16']);
  }
});

it('tables without rows, and default routes', () => {
  for (const [table, output] of [
    [frr.route, '{}'],
    [linux.route, '[ ]'],
    [linux.route, ''],
    [ios.route, '% Network not in table'],
  ] as const) {
    assert.deepEqual(judgeRoute({ present: false }, to, [])(readTable(form(table), output)), []);
  }
  const byDefault = readTable(form(linux.route), '[{"dst":"default","gateway":"10.0.0.1","dev":"eth0"}]');
  assert.deepEqual(judgeRoute({ via: ['10.0.0.1'] }, '0.0.0.0/0', [])(byDefault), []);
  const host = readTable(form(linux.route), '[{"dst":"10.0.0.9","dev":"eth0"}]');
  assert.deepEqual(judgeRoute({ via: [] }, '10.0.0.9/32', [])(host), []);
});

it('neighbours of OSPF, BGP and ARP', () => {
  const rows = [
    [frr, 'ospf', '{"neighbors":{"3.3.3.3":[{"nbrState":"Full/DR","ifaceAddress":"10.0.0.2"}]}}', 'full'],
    [frr, 'bgp', '{"ipv4Unicast":{"peers":{"10.0.0.2":{"state":"Established","pfxRcd":1}}}}', 'established'],
    [linux, 'arp', '[{"dst":"10.0.0.2","dev":"eth0","lladdr":"02:00:00:00:00:01","state":["REACHABLE"]}]', 'reachable'],
    [ios, 'ospf', '3.3.3.3           1   FULL/DR         00:00:35    10.0.0.2      GigabitEthernet0/1', 'full'],
    [ios, 'bgp', 'BGP neighbor is 10.0.0.2,  remote AS 65002\n  BGP state = Established, up for 1d', 'established'],
  ] as const;
  for (const [of, protocol, output, state] of rows) {
    const result = readTable(form(of.neighbour?.[protocol]), output);
    assert.deepEqual(judgeNeighbour({ state }, '10.0.0.2')(result), [], `${of.name} ${protocol}`);
    assert.match(judgeNeighbour({ state: 'init' }, '10.0.0.2')(result).join(), /^the state of 10\.0\.0\.2 is \S+, expected init$/);
    assert.deepEqual(judgeNeighbour({}, '10.0.0.3')(result), ['10.0.0.3 is not a neighbour']);
  }
});

it('commands for a route', () => {
  const probe = { verb: 'route', to, judge: () => [] } as const;
  assert.equal(commandOf(probe, ios), 'show ip route 10.3.0.0 255.255.255.0');
  assert.equal(commandOf({ ...probe, to: 'default' }, ios), 'show ip route 0.0.0.0 0.0.0.0');
  assert.match(commandOf(probe, linux), /; then env ip -j route show 10\.3\.0\.0\/24;/);
});
