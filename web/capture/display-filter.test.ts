/** The display filter takes Wireshark's common terms and says what is wrong with others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Decoding } from './decode/decoding.ts';
import { displayFilter, FilterError } from './display-filter.ts';

const layer = (name: string, fields: Record<string, string>) => ({ name, at: 0, length: 0, fields: Object.entries(fields) });
/** An HTTP request in VLAN 20. */
const frame = {
  protocol: 'TCP',
  source: '10.0.0.1',
  destination: '10.0.1.2',
  info: '40000 → 80 [SYN]',
  hosts: ['00:50:79:66:68:00', '00:50:79:66:68:01', '10.0.0.1', '10.0.1.2'],
  ports: [40000, 80],
  layers: [
    layer('Ethernet', { Destination: '00:50:79:66:68:01', Source: '00:50:79:66:68:00' }),
    layer('VLAN', { VLAN: '20' }),
    layer('IPv4', { Source: '10.0.0.1', Destination: '10.0.1.2' }),
    layer('TCP', { 'Source port': '40000', 'Destination port': '80' }),
  ],
  isCut: false,
} as unknown as Decoding;

const isShown = (text: string) => displayFilter(text).matches?.(frame) ?? true;

describe('the display filter', () => {
  for (const text of [
    '',
    'tcp',
    'ip',
    'IP.addr==10.0.0.1',
    'ip.addr == 10.0.1.0/24',
    'ip.src eq 10.0.0.1 and ip.dst eq 10.0.1.2',
    'ip.dst != 10.0.0.1',
    'tcp.port==80',
    'tcp.dstport == 80 && !(udp or arp)',
    'not arp',
    'arp or tcp',
    'arp and udp or tcp',
    'eth.addr == 00-50-79-66-68-01',
    'vlan.id == 20',
    'tcp.port',
    'host 10.0.0.1 port 80',
    'syn',
    '"80 [syn]"',
  ])
    it(`shows the frame with: ${text || 'nothing'}`, () => assert.equal(isShown(text), true));

  for (const text of [
    'arp',
    'ip.addr != 10.0.0.1',
    'tcp.srcport == 80',
    'udp.port == 80',
    'udp.port',
    'ip.src == 10.0.1.2',
    'ip.addr == 10.1.0.0/16',
    'tcp and (arp or udp)',
    'not tcp',
    '!tcp',
    'nothing',
  ])
    it(`hides the frame with: ${text}`, () => assert.equal(isShown(text), false));

  for (const [text, message] of [
    ['ip.adr == 10.0.0.1', /Unknown field “ip\.adr”.* ip\.addr/],
    ['ip.addr == 10.0.0', /“10\.0\.0” is not an IPv4 address/],
    ['ip.addr == 10.0.0.256', /is not an IPv4 address/],
    ['tcp.port == 70000', /“70000” is not a port number/],
    ['tcp.port = 80', /tcp\.port ==/],
    ['tcp.port ==', /not complete/],
    ['tcp and', /not complete/],
    ['(tcp', /closing parenthesis/],
    ['tcp)', /“\)” is not expected/],
    ['or tcp', /“or” is not expected/],
    ['== 1', /“==” is not expected/],
  ] as const)
    it(`says what is wrong with: ${text}`, () =>
      assert.throws(
        () => displayFilter(text),
        (error) => error instanceof FilterError && message.test(error.message),
      ));

  it('names words that are searched for as text', () => assert.deepEqual(displayFilter('tcp syn "ack"').words, ['syn']));
});
