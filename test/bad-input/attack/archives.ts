/** Hostile project archives from a seed: paths outside the folder, links, devices, bombs, false sizes, files that execute commands. */
import type { Chance } from '../../durability/random.ts';
import { type HandEntry, zipByHand } from '../../support/zip-by-hand.ts';
import type { Bait } from './bait.ts';
import { attackImage } from './images.ts';
import { attackProjectFile, hostileText, machineId, pcId } from './project-files.ts';

/** An archive of up to a few MiB; unpacked it is larger. */
export function attackArchive(chance: Chance, bait: Bait): Buffer {
  const project: HandEntry = { name: 'project.gns3', content: attackProjectFile(chance, bait), method: 8 };
  const entries: HandEntry[] = chance.next() < 0.95 ? [project] : [];
  for (let count = chance.between(1, 3); count > 0; count--) entries.push(...(chance.pick(makers) ?? outside)(chance, bait));
  if (chance.next() < 0.3) entries.reverse();
  const archive = zipByHand(entries);
  return chance.next() < 0.2 ? damaged(archive, chance) : archive;
}

type Maker = (chance: Chance, bait: Bait) => HandEntry[];

const outside: Maker = (chance, { written }) => {
  const names = [
    written,
    `../../../../../../../../..${written}`,
    `x/../../../../../../../../../..${written}`,
    `..\\..\\..${written.replaceAll('/', '\\')}`,
    `C:${written}`,
    `./${written}`,
    `a/./b`,
    `a//b`,
    'a\0b',
    '..',
    '.',
    '',
    '/',
    `${'d/'.repeat(1_000)}f`,
    'x'.repeat(3_000),
    'line\nbreak',
    '\u202egpj.exe',
  ];
  return [{ name: chance.pick(names) ?? written, content: 'x' }];
};

/** Names that are the server's own, as files and as folders. */
const ownNames: Maker = (chance) => {
  const own = [
    'snapshots',
    '.deleted-nodes',
    '.memory',
    '.kept-presents',
    'project-files',
    'project-files/captures',
    'project-files/qemu',
    'tmp',
    'images',
  ];
  const more = ['project.gns3/x', 'attack.gns3', 'attack.log', '.lock', 'project.gns3.log', `project-files/qemu/${machineId}`];
  const name = chance.pick([...own, ...more]) ?? 'snapshots';
  return [{ name: chance.next() < 0.5 ? name : `${name}/deep/x`, content: 'x', mode: chance.pick([0o100644, 0o040755]) ?? 0 }];
};

const links: Maker = (chance, { secret, written }) => {
  const folder = secret.slice(0, secret.lastIndexOf('/'));
  const targets = [secret, folder, '/', '..', `../../../../../../..${secret}`, '.', 'self', '\0', '', `/proc/self/root${secret}`];
  const names = ['self', 'project-files/images/x.svg', `project-files/vpcs/${pcId}/startup.vpc`, 'snapshots', 'images/QEMU/x.img'];
  const name = chance.pick([...names, `project-files/qemu/${machineId}/hda_disk.qcow2`]) ?? 'self';
  const link = { name, content: chance.pick(targets) ?? secret, mode: 0o120777 };
  // A file written through a link lands where the link points.
  const behind = [`${name}/x`, name, `${name}/${written.split('/').at(-1)}`].map((path) => ({ name: path, content: 'behind' }));
  return chance.next() < 0.5 ? [link] : [link, ...behind.slice(0, chance.between(1, 3))];
};

const strangeKinds: Maker = (chance) => [
  { name: 'device', content: 'x', mode: chance.pick([0o020666, 0o060666, 0o010666, 0o140777, 0o104755, 0o102755, 0o100000]) ?? 0 },
];

const falseFigures: Maker = (chance) => {
  const sizeBytes = chance.pick([0, 1, 5, 2 ** 31, 2 ** 32 - 1]) ?? 0;
  return [
    { name: 'size', content: 'four', method: chance.pick([0, 8]) ?? 0, claims: { sizeBytes } },
    ...(chance.next() < 0.5 ? [{ name: 'sum', content: 'four', claims: { crc: 1 } }] : []),
  ];
};

const strangeMethods: Maker = (chance) => [
  {
    name: 'packed',
    content: 'x',
    packed: Buffer.from('garbage that is no stream'),
    method: chance.pick([1, 6, 8, 9, 12, 14, 93, 99]) ?? 9,
    flags: chance.pick([0, 1, 8, 0x41]) ?? 0,
  },
];

const bombs: Maker = (chance) => {
  const content = Buffer.alloc(chance.pick([1, 8, 30]) === 30 ? 30 * 1024 ** 2 : 2 ** 20);
  if (chance.next() < 0.3) return [{ name: 'bomb', content, method: 8, claims: { sizeBytes: 10 } }];
  return Array.from({ length: chance.between(1, 5) }, (_, index) => ({ name: `zeros-${index}`, content, method: 8 }));
};

const many: Maker = (chance) => {
  const count = chance.pick([2, 300, 3_000]) ?? 2;
  const isSame = chance.next() < 0.3;
  return Array.from({ length: count }, (_, index) => ({ name: isSame ? 'same' : `many/${index % 7}/${index}`, content: 'x' }));
};

/** Files that emulators of the project read or run. */
const startupFiles: Maker = (chance, bait) => [
  {
    name: `project-files/vpcs/${pcId}/startup.vpc`,
    content: `set pcname x\n! ${bait.program}\n!${bait.program}\n${hostileText(chance, bait)}\n`,
  },
  { name: `project-files/vpcs/${pcId}/vpcs.hist`, content: `! ${bait.program}\n` },
];

const images: Maker = (chance, bait) => {
  const disk = `project-files/qemu/${machineId}/${chance.pick(['hda_disk.qcow2', 'hdb_disk.qcow2', 'hda_disk.img', 'config.img'])}`;
  const names = [disk, 'images/QEMU/attack.img', 'images/QEMU/-attack', `images/${bait.written}`, 'images/x/../y'];
  return [{ name: chance.pick(names) ?? disk, content: attackImage(chance, bait) }];
};

const snapshots: Maker = (chance, bait) => {
  const inner = zipByHand([
    { name: 'project.gns3', content: attackProjectFile(chance, bait) },
    ...(chance.pick([outside, links, images]) ?? outside)(chance, bait),
  ]);
  const names = ['snapshots/first_010170_000000.gns3project', 'snapshots/x.gns3project', 'snapshots/../x.gns3project'];
  return [{ name: chance.pick(names) ?? '', content: chance.next() < 0.2 ? damaged(inner, chance) : inner }];
};

const projectFiles: Maker = (chance, bait) => [
  {
    name: chance.pick(['project.gns3', 'other.gns3', 'attack.gns3', 'a/project.gns3']) ?? '',
    content: attackProjectFile(chance, bait),
  },
];

const makers: readonly Maker[] = [
  outside,
  ownNames,
  links,
  links,
  strangeKinds,
  falseFigures,
  strangeMethods,
  bombs,
  many,
  startupFiles,
  startupFiles,
  images,
  images,
  snapshots,
  projectFiles,
];

function damaged(archive: Buffer, chance: Chance): Buffer {
  const ways = [
    () => archive.subarray(0, chance.between(0, archive.length)),
    () => Buffer.concat([Buffer.alloc(chance.between(1, 2_000)), archive]),
    () => Buffer.concat([archive, Buffer.alloc(chance.between(1, 70_000), 'PK')]),
    () => flipped(archive, chance, 0),
    // The central directory is at the end.
    () => flipped(archive, chance, Math.max(0, archive.length - 300)),
  ];
  return (chance.pick(ways) ?? (() => archive))();
}

function flipped(archive: Buffer, chance: Chance, from: number): Buffer {
  const copy = Buffer.from(archive);
  for (let count = chance.between(1, 8); count > 0; count--)
    copy[chance.between(from, copy.length - 1)] = chance.pick([0, 0xff, 0x7f, chance.between(0, 255)]) ?? 0;
  return copy;
}
