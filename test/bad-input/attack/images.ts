/** Hostile disk images from a seed: headers of qcow2, VMDK and other formats that name files of the host, whole and damaged. */
import type { Chance } from '../../durability/random.ts';
import type { Bait } from './bait.ts';

const clusterBytes = 65_536;
const imageBytes = 8 * clusterBytes;

/** An image file of 4 bytes to 512 KiB. */
export function attackImage(chance: Chance, bait: Bait): Buffer {
  const makers = [qcow2, qcow2, qcow2, qcow2, vmdk, vmdk, descriptor, qcow1, otherFormat];
  const image = (chance.pick(makers) ?? qcow2)(chance, bait);
  if (chance.next() < 0.3) damage(chance, image);
  return chance.next() < 0.1 ? image.subarray(0, chance.between(4, 2048)) : image;
}

/** Ways to say a file. */
function reference(chance: Chance, { secret }: Bait): string {
  const json = { driver: 'file', filename: secret };
  return (
    chance.pick([
      secret,
      `../../../../../../../../../../../../../..${secret}`,
      `./x/../../../../../../../../../../../../..${secret}`,
      `/${secret}`,
      `${secret}/../${secret.split('/').at(-1)}`,
      `/proc/self/root${secret}`,
      `file:${secret}`,
      `file://${secret}`,
      `raw:${secret}`,
      `json:${JSON.stringify(json)}`,
      `json:${JSON.stringify({ driver: 'raw', file: json })}`,
      `json:${JSON.stringify({ driver: 'raw', file: json, encrypt: { 'key-secret': 'x' } })}`,
      `json:${JSON.stringify({ driver: 'qcow2', file: { driver: 'host_device', filename: secret }, encrypt: { 'key-secret': 'x' } })}`,
      'nbd:127.0.0.1:1',
      `nbd+unix:///?socket=${secret}`,
      `fat:rw:${secret}`,
      `vvfat:${secret}`,
      'http://127.0.0.1:1/x',
      `ssh://127.0.0.1${secret}`,
      `blkdebug:${secret}:x`,
      `${secret}\0.qcow2`,
    ]) ?? secret
  );
}

function qcow2(chance: Chance, bait: Bait): Buffer {
  const image = validQcow2(chance.next() < 0.7 ? 3 : 2);
  const name = Buffer.from(reference(chance, bait));
  if (chance.next() < 0.85) {
    const at = chance.pick([1024, 4096, clusterBytes - name.length - 8, clusterBytes, 400]) ?? 1024;
    name.copy(image, at);
    image.writeBigUInt64BE(BigInt(at), 8);
    image.writeUInt32BE(chance.next() < 0.9 ? name.length : chance.between(0, 5000), 16);
  }
  const extensions: Buffer[] = [];
  if (chance.next() < 0.6)
    extensions.push(
      extension(0xe2792aca, Buffer.from(chance.pick(['raw', 'qcow2', 'vmdk', 'file', 'host_device', 'nbd', 'luks', '']) ?? '')),
    );
  if (chance.next() < 0.3) extensions.push(extension(0x44415441, name));
  if (chance.next() < 0.2) extensions.push(extension(chance.between(1, 2 ** 31), Buffer.alloc(chance.between(0, 40))));
  Buffer.concat(extensions).copy(image, image.readUInt32BE(4) === 3 ? 112 : 72);
  // External data, with the bit that has it read as it is.
  if (chance.next() < 0.3 && image.readUInt32BE(4) === 3) {
    image.writeBigUInt64BE(4n, 72);
    image.writeBigUInt64BE(2n, 88);
  }
  return image;
}

/** Empty, 1 MiB large, as qemu-img makes it: header, L1 table, reference counts. */
function validQcow2(version: 2 | 3): Buffer {
  const image = Buffer.alloc(imageBytes);
  image.write('QFI\xfb', 0, 'latin1');
  image.writeUInt32BE(version, 4);
  image.writeUInt32BE(16, 20);
  image.writeBigUInt64BE(2n ** 20n, 24);
  image.writeUInt32BE(1, 36);
  image.writeBigUInt64BE(BigInt(3 * clusterBytes), 40);
  image.writeBigUInt64BE(BigInt(clusterBytes), 48);
  image.writeUInt32BE(1, 56);
  if (version === 3) {
    image.writeUInt32BE(4, 96);
    image.writeUInt32BE(112, 100);
  }
  image.writeBigUInt64BE(BigInt(2 * clusterBytes), clusterBytes);
  for (let cluster = 0; cluster < 4; cluster++) image.writeUInt16BE(1, 2 * clusterBytes + 2 * cluster);
  return image;
}

function extension(type: number, data: Buffer): Buffer {
  const whole = Buffer.alloc(8 + Math.ceil(data.length / 8) * 8);
  whole.writeUInt32BE(type >>> 0, 0);
  whole.writeUInt32BE(data.length, 4);
  data.copy(whole, 8);
  return whole;
}

function qcow1(chance: Chance, bait: Bait): Buffer {
  const image = Buffer.alloc(clusterBytes);
  const name = Buffer.from(reference(chance, bait));
  image.write('QFI\xfb', 0, 'latin1');
  image.writeUInt32BE(1, 4);
  image.writeBigUInt64BE(1024n, 8);
  image.writeUInt32BE(name.length, 16);
  image.writeBigUInt64BE(2n ** 20n, 24);
  image.writeUInt8(12, 32);
  image.writeUInt8(9, 33);
  image.writeBigUInt64BE(4096n, 40);
  name.copy(image, 1024);
  return image;
}

const descriptorText = (chance: Chance, bait: Bait) =>
  [
    chance.pick(['# Disk DescriptorFile', '#disk descriptorfile', '# comment']),
    'version=1',
    'CID=12345678',
    `parentCID=${chance.pick(['ffffffff', '12345678'])}`,
    ...(chance.next() < 0.5 ? [`parentFileNameHint="${reference(chance, bait)}"`] : []),
    `createType="${chance.pick(['monolithicFlat', 'monolithicSparse', 'twoGbMaxExtentFlat', 'vmfs', 'fullDevice'])}"`,
    `RW 8 ${chance.pick(['FLAT', 'SPARSE', 'VMFS', 'ZERO'])} "${reference(chance, bait)}" 0`,
    '',
  ].join('\n');

function descriptor(chance: Chance, bait: Bait): Buffer {
  const text = Buffer.from(descriptorText(chance, bait));
  return Buffer.concat([text, Buffer.alloc(4096)]);
}

function vmdk(chance: Chance, bait: Bait): Buffer {
  const image = Buffer.alloc(imageBytes);
  image.write('KDMV', 0, 'latin1');
  image.writeUInt32LE(chance.pick([1, 2, 3]) ?? 1, 4);
  image.writeUInt32LE(3, 8);
  image.writeBigUInt64LE(chance.next() < 0.4 ? 0n : 128n, 12);
  image.writeBigUInt64LE(128n, 20);
  const sector = chance.pick([1, 1, 2, 64]) ?? 1;
  image.writeBigUInt64LE(BigInt(sector), 28);
  image.writeBigUInt64LE(20n, 36);
  image.writeUInt32LE(512, 44);
  image.writeBigUInt64LE(21n, 48);
  image.writeBigUInt64LE(chance.next() < 0.2 ? 2n ** 64n - 1n : 26n, 56);
  image.writeBigUInt64LE(128n, 64);
  Buffer.from('\n \r\n').copy(image, 73);
  Buffer.from(descriptorText(chance, bait)).copy(image, 512 * sector);
  return image;
}

function otherFormat(chance: Chance, bait: Bait): Buffer {
  const image = Buffer.alloc(clusterBytes);
  const magic =
    chance.pick([
      'QED\0',
      'COWD',
      'WithoutFreeSpace',
      'Bochs Virtual HD Image',
      'conectix',
      'vhdxfile',
      'LUKS\xba\xbe',
      'OFS',
      'raw',
    ]) ?? '';
  image.write(magic, 0, 'latin1');
  image.write(reference(chance, bait), 512, 'utf8');
  return image;
}

function damage(chance: Chance, image: Buffer): void {
  for (let count = chance.between(1, 6); count > 0; count--)
    image[chance.between(4, Math.min(image.length - 1, 200))] = chance.between(0, 255);
}
