import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PcLan } from '../../../test/support/pc-lan.ts';

async function twoPcs(): Promise<PcLan> {
  const lan = new PcLan();
  const [one, two] = [lan.add(), lan.add()];
  await lan.type(one, 'ip 10.0.0.1/24');
  await lan.type(two, 'ip 10.0.0.2/24');
  return lan;
}
const hex = (frame: Uint8Array | undefined) => Buffer.from(frame ?? []).toString('hex');
const shown = /icmp_seq=\d+ ttl=64 time=0\.\d{3} ms/g;

test('a PC answers ARP for its address', async () => {
  const lan = new PcLan();
  await lan.type(lan.add({ mac: '00:50:79:66:68:03' }), 'ip 10.0.0.1/24');
  lan.send(Buffer.from('ffffffffffff020000000001080600010800060400010200000000010a0000020000000000000a000001', 'hex'));
  await lan.pass(10);
  const reply = '020000000001005079666803080600010800060400020050796668030a0000010200000000010a000002';
  assert.equal(hex(lan.frames.at(-1)).slice(0, reply.length), reply);
  assert.deepEqual(lan.pcs[0]?.pc.settings().ip4, { address: '10.0.0.1', prefix: 24 });
});

test('pings have sub-millisecond times, and nothing runs in a PC that is idle', async () => {
  const lan = await twoPcs();
  const [one] = lan.pcs as [(typeof lan.pcs)[0]];
  assert.equal((await lan.type(one, 'ping 10.0.0.2')).match(shown)?.length, 5);
  assert.equal((await lan.type(one, 'ping 10.0.0.2 -c 1 -l 65507')).match(shown)?.length, 1);
  await lan.pass(60_000);
  assert.equal(lan.clock.pending, 0);
});

test('a ping finds its neighbour although most frames are lost', async () => {
  const lan = await twoPcs();
  let count = 0;
  lan.loses = (frame) => frame.readUInt16BE(12) === 0x0806 && ++count <= 4;
  const text = await lan.type(lan.pcs[0] as (typeof lan.pcs)[0], 'ping 10.0.0.2 -c 2');
  assert.equal(text.match(shown)?.length, 2, text);
});

test('what is typed during a command is run after it; Ctrl-C ends the command and forgets it', async () => {
  const lan = await twoPcs();
  const [one] = lan.pcs as [(typeof lan.pcs)[0]];
  one.pc.input(Buffer.from('ping 10.0.0.9\recho first\r'));
  await lan.pass(10_000);
  assert.match(one.output.replaceAll('\r', ''), /not reachable\n\nPC1> echo first\nfirst\n/);
  one.pc.input(Buffer.from('ping 10.0.0.2 -t\recho second\r'));
  await lan.pass(3500);
  one.pc.input(Buffer.from('\x03'));
  await lan.pass(1000);
  assert.match(one.output, /seq=3[\s\S]*\^C\r\n\rPC1> $/);
});

for (const [what, line] of [
  ['ping', 'ping 10.0.0.2 -c 8'],
  ['ping over UDP', 'ping 10.0.0.2 -c 8 -2'],
  ['connections', 'ping 10.0.0.2 -c 8 -3'],
] as const)
  test(`a frozen PC continues: ${what}, addresses, tables, history, half a line`, async () => {
    const lan = await twoPcs();
    const [one] = lan.pcs as [(typeof lan.pcs)[0]];
    one.pc.input(Buffer.from(`${line}\r`));
    await lan.pass(3000.15);
    const state = JSON.parse(JSON.stringify(one.pc.state()));
    one.pc.close();
    const again = lan.add({}, state);
    assert.deepEqual(JSON.parse(JSON.stringify(again.pc.state())), state);
    await lan.untilPrompt(again);
    const sequences = [...`${one.output}${again.output}`.matchAll(/seq=(\d+) ttl/g)].map(([, sequence]) => Number(sequence));
    assert.deepEqual([...new Set(sequences)], [1, 2, 3, 4, 5, 6, 7, 8], `${one.output}|${again.output}`);
    again.pc.input(Buffer.from('ec'));
    const half = lan.add({}, JSON.parse(JSON.stringify(again.pc.state())));
    again.pc.close();
    half.pc.input(Buffer.from('ho x\r'));
    await lan.untilPrompt(half, 1000, 5);
    assert.match(half.output, /^ho x\r\nx\r\n/);
    assert.match(await lan.type(half, 'history'), new RegExp(`ip 10.0.0.1/24\n${line}\necho x\nhistory`));
    assert.match(await lan.type(half, 'arp'), /00:50:79:66:68:01 {2}10\.0\.0\.2 expires/);
  });

const pingOnce = { type: 'ping', to: '10.0.0.1', count: 1, intervalMs: 1000 } as const;

test('a ping of a program waits for the start-up script, which gives the PC its address', async () => {
  const lan = await twoPcs();
  const three = lan.add();
  three.pc.runScript('ip 10.0.0.3/24\n');
  const [answer, ended] = [three.pc.probe(pingOnce), three.pc.probe(pingOnce, 'key')];
  three.pc.endProbe('key');
  await lan.pass(5_000);
  assert.partialDeepStrictEqual(await ended, { type: 'ping', failure: 'ended' });
  const found = await answer;
  assert.ok(found.type === 'ping' && found.replies.length === 1 && found.failure === undefined, JSON.stringify(found));
});

test('a ping of a program does not wait for ever for a start-up script', async () => {
  const lan = await twoPcs();
  const three = lan.add();
  three.pc.runScript('sleep 3600\nip 10.0.0.3/24\n');
  const answer = three.pc.probe(pingOnce);
  await lan.pass(6_000);
  assert.partialDeepStrictEqual(await answer, { type: 'ping', failure: 'no_address' });
});
