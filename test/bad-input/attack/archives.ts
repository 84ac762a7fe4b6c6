/** Hostile archives from a seed: names that lead out, links, devices, duplicates, encrypted and nested entries, lying sizes, bombs. */
import { randomUUID } from 'node:crypto';
import type { Chance } from '../../durability/random.ts';
import { type HandEntry, zipByHand } from '../../support/zip-by-hand.ts';
import { hostileProjectFile } from './project-files.ts';

const modes = {
  file: 0o100644,
  link: 0o120777,
  folder: 0o040755,
  device: 0o020666,
  pipe: 0o010666,
  socket: 0o140755,
  setuid: 0o104755,
};

function hostileEntry(chance: Chance, canary: string): HandEntry {
  const node = `project-files/vpcs/${randomUUID()}`;
  const makers: readonly (() => HandEntry)[] = [
    () => ({ name: chance.pick(namesOut(canary)) ?? '../x', content: 'out' }),
    () => ({
      name: `${node}/link`,
      content: chance.pick([canary, '/etc', `../../../../..${canary}`, '.', 'loop']) ?? '',
      mode: modes.link,
    }),
    () => ({
      name: chance.pick(ownNames) ?? 'snapshots',
      content: 'mine',
      mode: chance.pick([modes.file, modes.link]) ?? modes.file,
    }),
    () => ({ name: `${node}/x`, mode: chance.pick(Object.values(modes)) ?? modes.file, content: canary }),
    () => ({ name: `${node}/bomb`, content: Buffer.alloc(chance.between(1, 8) * 1024 ** 2), method: 8 }),
    () => ({ name: `${node}/lies`, content: 'four', claims: { sizeBytes: chance.between(0, 2 ** 32 - 1) } }),
    () => ({ name: `${node}/sum`, content: 'four', claims: { crc: chance.between(0, 2 ** 31) } }),
    () => ({ name: `${node}/secret`, content: 'four', flags: 1 }),
    () => ({ name: `${node}/method`, content: 'four', method: chance.between(1, 99), packed: Buffer.from('four') }),
    () => ({
      name: 'snapshots/s.gns3snapshot',
      content: zipByHand([{ name: 'project.gns3', content: hostileProjectFile(chance, canary) }]),
    }),
    () => ({ name: 'snapshots/snapshots.conf', content: chance.pick(['[', '{}', '[{"filename": "../../x"}]', '[1]']) ?? '' }),
    () => ({ name: 'project.gns3', content: hostileProjectFile(chance, canary) }),
    () => ({ name: 'images/QEMU/../../../x', content: 'x' }),
    () => ({ name: `${'d/'.repeat(chance.between(1, 1_200))}x`, content: 'deep' }),
    () => ({ name: `${'n'.repeat(chance.between(200, 400))}`, content: 'long' }),
  ];
  return (chance.pick(makers) ?? (() => ({ name: 'x' })))();
}

const namesOut = (canary: string) => [
  '../x',
  '../../canary',
  canary,
  'a/../../x',
  '..\\x',
  'C:\\x',
  '/x',
  './x',
  'a//b',
  'a\u0000b',
  '..',
];
const ownNames = [
  'snapshots',
  'project-files',
  'project-files/vpcs',
  'tmp',
  '.deleted-nodes',
  '.patchbay-restore',
  'hostile.gns3.log',
];

/** An archive with a project file, hostile or sound, and up to six hostile entries; sometimes bytes of it are changed. */
export function hostileArchive(chance: Chance, canary: string): Buffer {
  const entries: HandEntry[] = [
    { name: 'project.gns3', content: hostileProjectFile(chance, canary), method: chance.pick([0, 8]) ?? 0 },
  ];
  for (let left = chance.between(-3, 5); left > 0; left--) entries.push(hostileEntry(chance, canary));
  if (chance.next() < 0.2) entries.push(...entries.slice(0, chance.between(1, entries.length)));
  const bytes = zipByHand(entries);
  if (chance.next() >= 0.3) return bytes;
  for (let left = chance.between(1, 8); left > 0; left--) bytes[chance.between(0, bytes.length - 1)] = chance.between(0, 255);
  return chance.next() < 0.3 ? bytes.subarray(0, chance.between(0, bytes.length)) : bytes;
}
