import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decode } from './decode/decode.ts';
import { displayFilter } from './display-filter.ts';
import { PacketStore } from './packet-store.ts';
import { type Packet, PcapParser } from './pcap.ts';

const parser = new PcapParser();
parser.push(await readFile(join(import.meta.dirname, 'traffic.pcap')));
const packets: Packet[] = [];
for (let packet = parser.next(); packet; packet = parser.next()) packets.push(packet);
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, place) => ({ ...(packets[place % packets.length] as Packet), number: from + place }));

const isTcp = ({ bytes }: Packet) => decode(bytes).protocol === 'TCP';

async function shownBy(text: string): Promise<number> {
  const store = new PacketStore();
  store.add(packets);
  await store.filter(displayFilter(text).matches);
  return store.shown.length;
}

describe('the display filter', () => {
  it('matches protocols, hosts, ports, VLANs and text, alone and combined', async () => {
    for (const [text, count] of [
      ['', 45],
      ['arp', 13],
      ['tcp', 9],
      ['icmp', 14],
      ['icmp6', 9],
      ['vlan 20', 31],
      ['vlan 30', 0],
      ['dhcp offer', 1],
      ['dns', 3],
      ['udp and not port 53', 6],
      ['!ip !arp', 9],
      ['port 7 tcp syn', 2],
      ['host 10.0.0.2 arp', 5],
      ['2001:db8::2 icmp', 5],
      ['gateway.test', 2],
      ['00:50:79:66:68:02', 24],
    ] as const)
      assert.equal(await shownBy(text), count, text);
  });
});

describe('the packet store', () => {
  it('keeps the latest packets within its limit', () => {
    const store = new PacketStore({ packets: 1000, bytes: 1_000_000 });
    for (let from = 1; from < 5000; from += 100) store.add(numbered(from, 100));
    assert.ok(store.kept <= 1000 && store.kept >= 900, String(store.kept));
    assert.equal(store.kept + store.forgotten, 5000);
    assert.equal(store.shown.at(-1)?.number, 5000);
    assert.equal(store.find(5000)?.number, 5000);
    assert.equal(store.find(1), undefined);
  });

  it('keeps no more bytes than its limit', () => {
    const store = new PacketStore({ packets: 1_000_000, bytes: 20_000 });
    for (let from = 1; from < 5000; from += 100) store.add(numbered(from, 100));
    assert.ok(store.shown.reduce((sum, { bytes }) => sum + bytes.length, 0) <= 20_000);
  });

  it('filters while packets arrive, each once and in order', async () => {
    const store = new PacketStore();
    store.add(numbered(1, 20_000));
    const filtering = store.filter(displayFilter('tcp').matches);
    const laterOnes = numbered(20_001, 10_000);
    for (let at = 0; at < laterOnes.length; at += 1000) {
      store.add(laterOnes.slice(at, at + 1000));
      await new Promise((resolve) => setTimeout(resolve));
    }
    await filtering;
    const numbers = store.shown.map(({ number }) => number);
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(numbers).size, numbers.length);
    assert.equal(numbers.length, [...numbered(1, 20_000), ...laterOnes].filter(isTcp).length);
  });

  it('applies the last filter after several changes', async () => {
    const store = new PacketStore();
    store.add(numbered(1, 20_000));
    const first = store.filter(displayFilter('tcp').matches);
    await store.filter(displayFilter('arp').matches);
    await first;
    assert.ok(store.shown.length > 0);
    await store.filter(undefined);
    assert.equal(store.shown.length, 20_000);
  });
});
