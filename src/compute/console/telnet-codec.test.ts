import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChance } from '../../../test/durability/random.ts';
import {
  escapeTelnet,
  offers,
  offersWithSize,
  TelnetDecoder,
  type TelnetRole,
  towardsClient,
  towardsEmulator,
  towardsSizedClient,
} from './telnet-codec.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
function decode(input: Uint8Array, role: TelnetRole = towardsClient) {
  const { data, reply, areYouThere } = new TelnetDecoder(role).push(input);
  return { data: text(data), reply: Buffer.from(reply).toString('hex'), areYouThere };
}

test('the offers are those of the GNS3 console', () => {
  assert.equal(Buffer.from(offers).toString('hex'), 'fffb01fffb03fffb00fffd00');
});

test('plain data passes, without a copy', () => {
  const bytes = Buffer.from('show ip\r\n');
  assert.equal(new TelnetDecoder(towardsClient).push(bytes).data, bytes);
});

const cases: [name: string, input: string, data: string, reply: string][] = [
  ['answers to the offers are not answered', 'fffd01 fffd00 fffb00', '', ''],
  ['DO SGA is answered once', 'fffd03 fffd03', '', 'fffb03'],
  ['another DO is refused, once', 'fffd05 fffd05', '', 'fffc05'],
  ['another WILL is refused, once', 'fffb1f fffb1f fffb18', '', 'fffe1f' + 'fffe18'],
  ['DONT and WONT of what never was need no answer', 'fffe05 fffc05', '', ''],
  ['DONT of what is on is confirmed, and so is its return', 'fffe01 fffe01 fffd01', '', 'fffc01' + 'fffb01'],
  ['NOP and go-ahead vanish', '61 fff1 62 fff9 63', 'abc', ''],
  ['a doubled 0xff is one', '61 ffff 62', 'a\xffb', ''],
  ['window size is swallowed, with a doubled 0xff in it', '61 fffa1f00ffff0018fff0 62', 'ab', ''],
  ['CR NUL of a client without BINARY is CR', '610d00 62', 'a\rb', ''],
  ['CR NUL of a client with BINARY stays', 'fffb00 610d00 62', 'a\r\0b', ''],
  ['NUL elsewhere stays', '00 6100', '\0a\0', ''],
];
for (const [name, input, data, reply] of cases) {
  test(`client: ${name}`, () => {
    assert.deepEqual(decode(hex(input)), { data, reply, areYouThere: 0 });
  });
}

test('client: are you there is reported, each time', () => {
  assert.deepEqual(decode(hex('61 fff6 62 fff6')), { data: 'ab', reply: '', areYouThere: 2 });
});

test('a sized client is asked for its window, whose last size is decoded however it is split', () => {
  assert.equal(Buffer.from(offersWithSize).toString('hex'), 'fffb01fffb03fffb00fffd00fffd1f');
  const bytes = hex('fffb1f 61 fffa1f00500018fff0 62 fffa1f00ffff0020fff0');
  assert.deepEqual(decode(bytes, towardsSizedClient), { data: 'ab', reply: '', areYouThere: 0 });
  assert.deepEqual(new TelnetDecoder(towardsSizedClient).push(bytes).size, { columns: 255, rows: 32 });
  const decoder = new TelnetDecoder(towardsSizedClient);
  const sizes = [...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte)).size ?? []);
  assert.deepEqual(sizes, [
    { columns: 80, rows: 24 },
    { columns: 255, rows: 32 },
  ]);
});

test('a window size that was not agreed on, or is none, is ignored', () => {
  const sizeOf = (input: string, role = towardsSizedClient) => new TelnetDecoder(role).push(hex(input)).size;
  assert.equal(sizeOf('fffa1f00500018fff0'), undefined);
  assert.equal(sizeOf('fffb1f fffa1f005000fff0'), undefined);
  assert.equal(sizeOf('fffb1f fffa1f005000180000fff0'), undefined);
  assert.equal(sizeOf('fffb1f fffa1800500018fff0'), undefined);
  assert.equal(sizeOf('fffb1f fffa1f00500018fff0', towardsClient), undefined);
});

test('a subnegotiation without an end is left after a while', () => {
  const decoder = new TelnetDecoder(towardsClient);
  decoder.push(Uint8Array.of(255, 250, ...new Array(600).fill(65)));
  assert.equal(text(decoder.push(Buffer.from('still here')).data), 'still here');
});

test('emulator: its offers are accepted, its demands met or refused', () => {
  // Bytes that vpcs 0.5b2 sends on connecting: DO ECHO, WILL ECHO, DO SGA, WILL SGA.
  const answered = decode(hex('fffd01 fffb01 fffd03 fffb03 48 69'), towardsEmulator);
  assert.deepEqual(answered, { data: 'Hi', reply: 'fffc01' + 'fffd01' + 'fffb03' + 'fffd03', areYouThere: 0 });
});

test('two ends that answer everything fall silent', () => {
  const client = new TelnetDecoder(towardsEmulator);
  const server = new TelnetDecoder(towardsClient);
  let toClient: Uint8Array = Uint8Array.of(...offers, 255, 253, 31, 255, 251, 24);
  let rounds = 0;
  for (; toClient.length > 0 && rounds < 20; rounds++) toClient = server.push(client.push(toClient).reply).reply;
  assert.ok(rounds < 4, `${rounds} rounds`);
});

test('splits change nothing, and no input does harm', () => {
  const { next } = makeChance(4711);
  const alphabet = [0, 10, 13, 65, 240, 241, 246, 250, 251, 252, 253, 254, 255, 255, 255];
  for (let round = 0; round < 500; round++) {
    const input = Uint8Array.from(
      { length: 1 + Math.floor(next() * 200) },
      () => alphabet[Math.floor(next() * alphabet.length)] ?? 0,
    );
    const whole = decode(input);
    const decoder = new TelnetDecoder(towardsClient);
    const parts = { data: '', reply: '', areYouThere: 0 };
    for (let at = 0; at < input.length; ) {
      const size = 1 + Math.floor(next() * 5);
      const piece = decoder.push(input.subarray(at, at + size));
      parts.data += text(piece.data);
      parts.reply += Buffer.from(piece.reply).toString('hex');
      parts.areYouThere += piece.areYouThere;
      at += size;
    }
    assert.deepEqual(parts, whole);
  }
});

test('what is escaped decodes to itself', () => {
  const bytes = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
  const decoder = new TelnetDecoder(towardsClient);
  decoder.push(hex('fffb00'));
  assert.deepEqual(Buffer.from(decoder.push(escapeTelnet(bytes)).data), Buffer.from(bytes));
  const plain = Buffer.from('nothing to do');
  assert.equal(escapeTelnet(plain), plain);
});
