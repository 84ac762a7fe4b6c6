/** Output of programs as they print it: iputils 20240905, busybox 1.37, VPCS 0.8, bind9-dnsutils 9.20, traceroute 2.1, iperf 3.18, IOS 15. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ConsolePlatform, Platforms } from '../console/platforms.ts';
import { countRanges, judgePing } from '../definition/judges.ts';
import { commandOf } from './node-probe.ts';
import {
  readDnsOutput,
  readHttpOutput,
  readIperfOutput,
  readPingOutput,
  readTcpOutput,
  readTracerouteOutput,
} from './read-output.ts';

const platforms = await Platforms.load();
const platform = (name: string) => platforms.get(name, '.');
const [linux, vpcs, ios] = await Promise.all(['linux', 'vpcs', 'ios-like'].map(platform));
const part = <Key extends keyof ConsolePlatform>(of: ConsolePlatform | undefined, key: Key) =>
  of?.[key] as NonNullable<ConsolePlatform[Key]>;

it('ping', () => {
  const iputils = `PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.045 ms
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.090 ms (DUP!)
64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=12 ms
`;
  assert.deepEqual(readPingOutput(part(linux, 'ping'), iputils, 3), { sent: 3, received: 2, times: [0.045, 12] });
  const busybox = '64 bytes from 10.0.0.2: seq=0 ttl=64 time=1.203 ms\n';
  assert.deepEqual(readPingOutput(part(linux, 'ping'), busybox, 1).times, [1.203]);
  const ofVpcs = '84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.5 ms\n10.0.0.2 icmp_seq=2 timeout\n';
  assert.deepEqual(readPingOutput(part(vpcs, 'ping'), ofVpcs, 2), { sent: 2, received: 1, times: [0.5] });
  const ofIos = '!!.!!\nSuccess rate is 80 percent (4/5), round-trip min/avg/max = 1/2/4 ms\n';
  assert.deepEqual(readPingOutput(part(ios, 'ping'), ofIos, 5), { sent: 5, received: 4, times: [2] });
  assert.deepEqual(readPingOutput(part(ios, 'ping'), 'Success rate is 0 percent (0/5)', 5), { sent: 5, received: 0, times: [] });
});

it('tcp, http, dns, traceroute and iperf', () => {
  assert.ok(readTcpOutput(part(linux, 'tcp'), 'port-is-open').isOpen);
  assert.ok(!readTcpOutput(part(linux, 'tcp'), '').isOpen);
  assert.ok(readTcpOutput(part(vpcs, 'tcp'), 'Connect   80@10.0.0.2 seq=1 ttl=64 time=3.293 ms').isOpen);
  assert.equal(readHttpOutput(part(linux, 'http'), 'hello\nhttp-status 200\n').status, 200);
  assert.equal(readHttpOutput(part(linux, 'http'), 'curl: (7) refused\nhttp-status 000\n').status, undefined);
  assert.equal(readHttpOutput(part(linux, 'http'), '  HTTP/1.1 302 Found\n  HTTP/1.1 404 Not Found\n').status, 404);
  assert.deepEqual(readDnsOutput(part(linux, 'dns'), '192.0.2.7\n2001:db8::7\n').addresses, ['192.0.2.7', '2001:db8::7']);
  const nslookup = 'Server:\t\t10.0.0.53\nAddress:\t10.0.0.53:53\n\nName:\twww.example\nAddress: 192.0.2.7\n\n';
  assert.deepEqual(readDnsOutput(part(linux, 'dns'), nslookup).addresses, ['192.0.2.7']);
  assert.deepEqual(readDnsOutput(part(linux, 'dns'), ';; communications error to 10.0.0.53#53: timed out\n').addresses, []);
  const route = 'traceroute to 10.0.9.9 (10.0.9.9), 16 hops max\n 1  10.0.0.1  0.1 ms\n 2  *\n 3  10.0.9.9  0.5 ms\n';
  assert.deepEqual(readTracerouteOutput(part(linux, 'traceroute'), route).hops, ['10.0.0.1', '10.0.9.9']);
  const iperf =
    '[  5]   0.00-5.00   sec  6.0 MBytes  10066 Kbits/sec    0   sender\n[  5]   0.00-5.04   sec  5.9 MBytes  9820 Kbits/sec   receiver\n';
  assert.equal(readIperfOutput(part(linux, 'iperf'), iperf).rate, 9820);
});

it('commands have the values of the step, and URLs cannot leave their quotes', () => {
  assert.ok(linux && vpcs);
  const settings = { to: '10.0.0.2', count: 3, intervalMs: 200, timeoutMs: 500, size: 56, resolves: true };
  const ping = { verb: 'ping', settings, judge: judgePing({}, []), counts: countRanges({}, []) } as const;
  assert.equal(commandOf(ping, linux), 'ping -c 3 -i 0.2 -W 1 -s 56 10.0.0.2');
  assert.equal(commandOf(ping, vpcs), 'ping 10.0.0.2 -c 3 -i 200 -w 500 -l 56');
  const http = { verb: 'http', url: new URL("http://10.0.0.2/a'$(reboot)'b").href, judge: () => [] } as const;
  assert.match(commandOf(http, linux), /'http:\/\/10\.0\.0\.2\/a%27\$\(reboot\)%27b'/);
  assert.throws(() => commandOf(http, vpcs), /vpcs has no command for http/);
});
