/** Hostile frames, input, scripts and states. `PATCHBAY_TEST_SEED` sets another seed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChance } from '../../../test/durability/random.ts';
import { type LanPc, PcLan } from '../../../test/support/pc-lan.ts';
import { addServer } from '../../../test/support/pc-lan-server.ts';

const seed = Number(process.env.PATCHBAY_TEST_SEED) || 37;
console.log(`seed ${seed}`);

/** Gives whole numbers from 0 to below `below`. */
function generator(from: number): (below: number) => number {
  const { between } = makeChance(from);
  return (below) => between(0, below - 1);
}

/** Two PCs and a server that have exchanged every kind of frame. */
async function busyLan(): Promise<{ lan: PcLan; one: LanPc }> {
  const lan = new PcLan();
  addServer(lan);
  const [one, two] = [lan.add(), lan.add()];
  await lan.type(two, 'ip 10.0.0.2/24');
  await lan.type(one, 'ip dhcp');
  await lan.type(one, 'ip auto');
  const lines = [
    'ping 10.0.0.2 -c 1 -l 3000',
    'ping 10.0.0.2 -c 1 -2',
    'ping 10.0.0.2 -3 -c 1',
    'ping web -c 1',
    'trace 10.9.0.1',
    'ping fe80::fe -c 1 -l 3000',
  ];
  for (const line of lines) await lan.type(one, line);
  return { lan, one };
}

test('frames with wrong fields and lengths do not end a PC, and it answers afterwards', async () => {
  const { lan, one } = await busyLan();
  const random = generator(seed);
  const recorded = [...lan.frames];
  const to = Buffer.from('005079666800', 'hex');
  for (const running of [
    '',
    'ping 10.0.0.2 -t -i 5',
    'ping 10.0.0.2 -3 -t -i 5',
    'ip dhcp',
    'ip auto',
    'rlogin 10.0.0.2 7',
    'set dump all detail raw mac',
  ]) {
    one.pc.input(Buffer.from(`\x03${running}\r`));
    for (let count = 0; count < 1500; count++) {
      const frame = Buffer.from(recorded[random(recorded.length)] ?? []);
      to.copy(frame);
      for (let change = random(6); change > 0 && frame.length > 14; change--)
        frame[random(8) ? 12 + random(Math.min(frame.length - 12, 70)) : random(frame.length)] = random(256);
      const cut = random(4) === 0 ? frame.subarray(0, random(frame.length + 1)) : frame;
      if (random(2)) fixChecksums(cut);
      one.pc.receive(cut);
      if (count % 100 === 0) await lan.pass(20);
    }
    assert.equal(one.ended, undefined, JSON.stringify(one.ended));
    one.pc.input(Buffer.from([24, 3]));
  }
  await lan.type(one, 'set dump off');
  await lan.type(one, 'clear arp');
  await lan.type(one, 'ip 10.0.0.1/24');
  await lan.pass(60_000);
  assert.match(await lan.type(one, 'ping 10.0.0.2 -c 1'), /icmp_seq=1 ttl=64/);
  assert.ok(JSON.stringify(one.pc.state()).length < 1_000_000);
});

/** Sets the checksums so that the frame gets past the first check. */
function fixChecksums(frame: Buffer): void {
  if (frame.length < 34 || frame.readUInt16BE(12) !== 0x0800) return;
  frame.writeUInt16BE(0, 24);
  let sum = 0;
  for (let at = 14; at < 34; at += 2) sum += frame.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  frame.writeUInt16BE(~sum & 0xffff, 24);
}

test('any bytes at any rate at the console do not end a PC', async () => {
  const { lan, one } = await busyLan();
  const random = generator(seed + 1);
  const words = [
    'ip',
    'ping',
    'set',
    'show',
    'trace',
    'clear',
    'echo',
    'dhcp',
    'load',
    'save',
    'rlogin',
    'sleep',
    '10.0.0.2',
    '-c',
    '-l',
    '99999999999',
    '::',
    '?',
    '-f',
    '%h',
    '\x1b[A',
    '\x1b[',
    '\x03',
    '-3',
    'dump',
    'all',
    '/24',
    '1',
    'fe80::1',
    '-t',
    'arp',
  ];
  for (let count = 0; count < 3000; count++) {
    const length = 1 + random(6);
    const line = Array.from({ length }, () => words[random(words.length)]).join(' ');
    const noise = Buffer.from(Array.from({ length: random(30) }, () => random(256)));
    one.pc.input(random(3) ? Buffer.from(`${line}\r`) : noise);
    if (count % 50 === 0) await lan.pass(random(5000));
    if (one.ended?.kind === 'quit') break;
  }
  assert.notEqual(one.ended?.kind, 'failed', JSON.stringify(one.ended));
  const [, two] = lan.pcs as [LanPc, LanPc];
  two.pc.input(Buffer.alloc(2_000_000, 'echo x\r'));
  assert.ok(two.pc.state().shell.typed.length <= 65_536);
});

test('a script of 10 MB neither blocks nor fills memory', async () => {
  const lan = new PcLan();
  const pc = lan.add();
  pc.pc.runScript('set pcname long\n'.repeat(650_000));
  assert.ok(pc.pc.state().shell.scripts.join('').length <= 1024 * 1024);
  assert.match(pc.output, /Executing the startup file/);
  pc.pc.input(Buffer.from('\x03'));
  assert.match(await lan.type(pc, 'echo fine'), /fine/);
});

test('connections, fragments and neighbours of one PC are bounded', async () => {
  const { lan, one } = await busyLan();
  await lan.type(one, 'ip 10.0.0.1/8');
  const source = lan.frames.findLast((frame) => frame.readUInt16BE(12) === 0x0800 && frame[23] === 6 && frame[47] === 2) as Buffer;
  for (let count = 0; count < 5000; count++) {
    const frame = Buffer.from(source);
    frame.set([0, 0x50, 0x79, 0x66, 0x68, 0]);
    frame.set([10, 1, count >> 8, count & 255, 10, 0, 0, 1], 26);
    fixChecksums(frame);
    one.pc.receive(frame);
    const fragment = Buffer.from(frame);
    fragment.writeUInt16BE(0x2000, 20);
    fixChecksums(fragment);
    one.pc.receive(fragment);
    const arp = Buffer.from('005079666800020000000001080600010800060400010200000000010a0000020000000000000a000001', 'hex');
    arp.writeUInt16BE(count, 30);
    one.pc.receive(arp);
  }
  assert.ok(JSON.stringify(one.pc.state()).length < 1_000_000);
  assert.equal(one.ended, undefined);
});

test('a state with wrong values is refused, or ends its PC only', async () => {
  const { lan, one } = await busyLan();
  one.pc.input(Buffer.from('ping 10.0.0.2 -t\r'));
  await lan.pass(2500);
  const state = JSON.stringify(one.pc.state());
  const random = generator(seed + 2);
  const values = ['-1', '"x"', 'null', '1e99', '[]', '{}', '""', '0'];
  for (let count = 0; count < 300; count++) {
    const places = [...state.matchAll(/:("[^"]*"|[\d.]+|true|false)/g)];
    const place = places[random(places.length)] as RegExpExecArray;
    const damaged = `${state.slice(0, place.index)}:${values[random(values.length)]}${state.slice(place.index + place[0].length)}`;
    try {
      lan.add({}, JSON.parse(damaged)).pc.close();
    } catch (error) {
      assert.match(String(error), /state/);
    }
  }
  lan.pcs.splice(2);
});
