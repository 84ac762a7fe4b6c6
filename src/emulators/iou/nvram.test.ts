/** The NVRAM of IOU: files by the documented layout, written out by hand here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpackLzw } from '../ios-nvram/lzw.ts';
import { NvramError, nvramChecksum, readNvram, writeNvram } from '../ios-nvram/nvram.ts';
import { frameHeader, iouArguments, netmap, peerOf } from './command.ts';
import { licenseProblem } from './license.ts';
import type { IouProperties } from './properties.ts';

/** Output of `compress` (ncompress 5.0) for the squares of 0 to 239, one a line: the width of its codes grows. */
const packed =
  'H52QMBTEUEBDQQ6BNhTIqKFgRkIaB20UxDEwBoyAMWRUpFEwho2DMXIklLFQYY2ROA7OkFHQ4UAaFwnSeImjYA0ZB2vcSGijpI2dCm7gDFpTQc' +
  '2BOWKKrAiDpUAYKQXGOCmQJMOMIgU6BMmx482KNmJ6pChwZ8eaIHM4VNiUoUaPCmXAOChjBoyCLGEMXBhTRti9N+4qxDFXYQ64dkvOiLF2JcSG' +
  'DlvSIOsw5gyhA2fUbCnyIMysNKwSnEGVY1QaPQvS2PkyacAadwfWiFG0xsqcqxOeLKkTaI0cQ8MWTT1QYkwbJ4sLLWgDR9TAVIWWvDEj642TB2' +
  '/c4BgU+ECKMXHIIFtTolGJB52vTVrSe8Icnw2GLZiDMNOLGJvqfQqzI4ywIEEFVwwWlURgXQkRyBFIHplHoHMVaSRWXRpVVQN3Ge0EEk5ZMSYa' +
  'YzRQxVhzIFXnVAwz2bARTBihNpNAkxU1FVYC2QbUVD1dVQMON6o4lEeadWSDRGC5VpZHFW134k5RxXBDDiKKZyBaCfL4kUBJYahWhSGFhVF9ZM' +
  'nlEV53PSYXdSMV6BZjcGkEoEIhCUaSmHHBFhBJ9im0mJwzxFfXDW3CVBJLM6zFEnoKQWTeQuPtdVJfv1XoF0t4IXelXymNJJ1b11Elww3O0SUl' +
  'XjgkN5iROLG0F5RFcThUYkDZlWNDc8XqoUpjtSTXi45Z9qmKkGXUUp9RFVpqQn2K1udvyCqqkm3ckYZZQypaJhFlzZl3GUsq7dQYYYodhaxzhZ' +
  'koWHV/EYRfQP3tBxNhqmVUWIpwhdYWQYQ+NN5jNKxkXr/NvTRTTBx9JRN8qtl2ZYhPPtRTSahZSlBgp13n1GpLEVQTwc69CNG+BOUgVE56+fYf' +
  'bxb5NtVQs9VnE6Wy4RSTbS4pYJt4NoUW1YXX6XYTb9jppuKVJ0lkE6AVAg==';
const packedWords = Buffer.from(packed, 'base64');
const words = Array.from({ length: 240 }, (_, number) => `${number ** 2}\n`).join('');

function nvramOf(startup: string, secret: string, { format = 1, gap = 0, size = 65_536 } = {}): Buffer {
  const bytes = Buffer.alloc(size);
  const content = format === 1 ? Buffer.from(startup) : packedWords;
  bytes.writeUInt16BE(0xabcd, 0);
  bytes.writeUInt16BE(format, 2);
  bytes.writeUInt32BE(content.length, 16);
  content.copy(bytes, 36);
  const at = ((36 + content.length + 3) & ~3) + gap;
  bytes.writeUInt16BE(0xfedc, at);
  bytes.writeUInt16BE(1, at + 2);
  bytes.writeUInt32BE(secret.length, at + 12);
  bytes.write(secret, at + 16);
  return bytes;
}
const textOf = ({ startup, private: secret }: ReturnType<typeof readNvram>) => [startup?.toString(), secret?.toString()];

test('configurations are read, with and without the padding of large NVRAMs', () => {
  for (const gap of [0, 4]) assert.deepEqual(textOf(readNvram(nvramOf('hostname R1\n', 'key', { gap }))), ['hostname R1\n', 'key']);
  assert.deepEqual(textOf(readNvram(Buffer.alloc(65_536))), [undefined, undefined]);
  assert.deepEqual(textOf(readNvram(Buffer.alloc(0))), [undefined, undefined]);
});

test('what is written is read again, and the checksum of the first half is right', () => {
  for (const size of [65_536, 262_144])
    for (const startup of ['a', 'ab', 'abc', 'abcd', 'hostname R1\n'.repeat(1000)]) {
      const configs = { startup: Buffer.from(startup), private: Buffer.from('key') };
      const bytes = writeNvram(configs, { size });
      assert.equal(bytes.length, size);
      assert.deepEqual(textOf(readNvram(bytes)), [startup, 'key']);
      let sum = 0;
      for (let at = 0; at < size / 2; at += 2) sum += bytes.readUInt16BE(at);
      while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
      assert.equal(sum, 0xffff, 'the sum with its checksum');
      assert.equal(bytes.readUInt16BE(4), nvramChecksum(bytes));
      assert.ok(bytes.subarray(size / 2).every((byte) => byte === 0));
    }
});

test('files of the old NVRAM and its IOS version stay; configurations that do not fit are refused', () => {
  const old = nvramOf('old', 'old');
  old.writeUInt16BE(0x0c04, 6);
  const block = 32_768 - 3 * 1024;
  old.writeUInt16BE(0xdcba, block);
  old.write('a file', block + 32);
  const configs = { startup: Buffer.from('new\n'), private: undefined };
  const bytes = writeNvram(configs, { size: 1, old });
  assert.equal(bytes.length, old.length);
  assert.deepEqual(bytes.subarray(block, 32_768), old.subarray(block, 32_768));
  assert.equal(bytes.readUInt16BE(6), 0x0c04);
  assert.deepEqual(textOf(readNvram(bytes)), ['new\n', '']);
  assert.throws(() => writeNvram({ startup: Buffer.alloc(block), private: undefined }, { size: 1, old }), NvramError);
  assert.throws(() => writeNvram({ startup: Buffer.alloc(40_000), private: undefined }, { size: 65_536 }), NvramError);
});

test('a damaged NVRAM is refused, whatever byte is wrong', () => {
  const bytes = nvramOf('hostname R1\n', 'key');
  bytes.writeUInt32BE(0xffffffff, 16);
  assert.throws(() => readNvram(bytes), NvramError);
  const secret = nvramOf('hostname R1\n', 'key');
  secret.writeUInt32BE(0xfffffff0, 48 + 12);
  assert.throws(() => readNvram(secret), NvramError);
  assert.throws(() => readNvram(nvramOf('x', 'y', { format: 1 }).fill(7, 2, 4)), NvramError);
});

test('a packed configuration is unpacked', () => {
  assert.equal(readNvram(nvramOf('', 'key', { format: 2 })).startup?.toString(), words);
  assert.throws(() => unpackLzw(Buffer.from('1f9d90', 'hex').subarray(0, 2), 10), /begin/);
  assert.throws(() => unpackLzw(Buffer.from('1f9d91ffff', 'hex'), 10), /17 bits/);
  assert.throws(() => unpackLzw(Buffer.from('1f9d902c01', 'hex'), 10), /not defined/);
  assert.throws(() => unpackLzw(packedWords, 3), /more than 3/);
  const long = nvramOf('', '', { format: 2, size: 4 * 2 ** 20 });
  long.writeUInt32BE(2 * 2 ** 20, 16);
  assert.throws(() => readNvram(long), /more than 1048576 bytes/);
});

const properties: IouProperties = {
  ...{ application_id: 7, ethernet_adapters: 2, serial_adapters: 2, l1_keepalives: false, nvram: 256, path: 'x', ram: 1024 },
  use_default_iou_values: false,
};

test('the command line, the NETMAP and the header of frames', () => {
  assert.deepEqual(iouArguments(properties), ['-n', '256', '-m', '1024', '7']);
  const other = { ...properties, ethernet_adapters: 3, serial_adapters: 0, l1_keepalives: true, use_default_iou_values: true };
  assert.deepEqual(iouArguments(other), ['-e', '3', '-s', '0', '-l', '7']);
  const lines = netmap(properties).split('\n');
  assert.deepEqual([lines.length, lines[0], lines[5]], [65, '513:0/0 7:0/0', '518:0/0 7:1/1']);
  assert.equal(new Set(lines.map((line) => line.split(' ')[0])).size, 65);
  assert.equal(peerOf(15, 3), 576);
  // Header of a frame to 7 from 518, port 1/1 (bay 1, unit 1: 17) from 0/0.
  assert.equal(frameHeader(7, 1, 1), '0007020611000100');
});

test('a licence is for this host, or the reason is said', () => {
  const line = (value: string) => `# mine\n[License]\r\nHost-A = ${value}\r\n`;
  assert.equal(licenseProblem(line('0123456789abcdef;'), 'host-a'), undefined);
  assert.match(String(licenseProblem(line('0123456789abcde;'), 'host-a')), /16 hexadecimal digits/);
  assert.match(String(licenseProblem(line('0123456789abcdef;'), 'other')), /no line for this host, other \(only for host-a\)/);
  assert.match(String(licenseProblem('host-a = 0123456789abcdef;', 'host-a')), /no section/);
  assert.match(String(licenseProblem(`[license]\n; host-a = 1\n = 2\nhost-a`, 'host-a')), /no line for this host, host-a$/);
});
