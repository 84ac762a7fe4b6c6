/** Hostile project files from a seed: wrong types, deep nesting, huge numbers, paths in properties, keys of prototypes, halves of characters. */
import { randomUUID } from 'node:crypto';
import type { Chance } from '../../durability/random.ts';

/** Text for any place; `canary` is the path of a file that must never be read. */
function hostileText(chance: Chance, canary: string): string {
  const texts = [
    canary,
    `../../../../../..${canary}`,
    `project-files/../../../..${canary}`,
    `file://${canary}`,
    `json:{"driver":"raw","file":{"filename":"${canary}"}}`,
    '/etc/passwd',
    '../snapshots',
    '..',
    '.',
    '',
    'a\u0000b',
    '\ud800',
    'a\nb',
    '-rf',
    '$(id)',
    `\`touch ${canary}.touched\``,
    '%s%n',
    'x'.repeat(5_000),
    '<svg onload="alert(1)"><image href="file:///etc/passwd"/></svg>',
    '__proto__',
  ];
  return chance.pick(texts) ?? '';
}

function hostileValue(chance: Chance, canary: string): unknown {
  const makers: readonly (() => unknown)[] = [
    () => hostileText(chance, canary),
    () => chance.pick([-1, 0, 1e308, 2 ** 53, -(2 ** 63), 0.1, 65_536]),
    () => chance.pick([null, true, false, [], {}]),
    () => Array.from({ length: chance.between(1, 3_000) }, () => ({})),
    () => nested(chance.between(2, 400)),
    () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'),
    () => ({ [hostileText(chance, canary)]: hostileText(chance, canary) }),
  ];
  return chance.pick(makers)?.();
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

type Json = Record<string, unknown>;

function sound(chance: Chance, canary: string): Json {
  const ids = [randomUUID(), randomUUID()];
  const types = ['vpcs', 'qemu', 'docker', 'cloud', 'ethernet_switch', 'dynamips', 'iou', 'virtualbox'];
  const nodes = ids.map((node_id, index) => ({
    compute_id: 'local',
    name: `N${index}`,
    node_id,
    node_type: chance.pick(types),
    properties: { hda_disk_image: hostileText(chance, canary), startup_script: 'echo', image: hostileText(chance, canary) },
    symbol: hostileText(chance, canary) || 'x.svg',
    x: 0,
    y: 0,
  }));
  const ends = ids.map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const revision = chance.pick([9, 9, 9, 9, 8, 5, 4, undefined]);
  const images = revision === 4 || revision === undefined ? { images: [{ path: canary, x: 1, y: 1 }] } : {};
  return {
    name: 'hostile',
    project_id: randomUUID(),
    revision,
    type: 'topology',
    version: '2.2.44',
    topology: {
      nodes,
      links: [{ link_id: randomUUID(), nodes: ends, filters: {} }],
      drawings: [{ drawing_id: randomUUID(), svg: hostileText(chance, canary), x: 0, y: 0, z: 1, rotation: 0 }],
      computes: [],
      ...images,
    },
  };
}

/** Every place of a value: the object or list, and the key in it. */
function placesOf(value: unknown): { holder: Json; key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Json;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesOf(holder[key])]);
}

/** The text of a project file with up to three things wrong; sometimes it is no JSON. */
export function hostileProjectFile(chance: Chance, canary: string): string {
  const file = sound(chance, canary);
  for (let left = chance.between(0, 3); left > 0; left--) {
    const place = chance.pick(placesOf(file));
    if (!place) break;
    if (chance.next() < 0.2) delete place.holder[place.key];
    else place.holder[place.key] = hostileValue(chance, canary);
  }
  const text = JSON.stringify(file);
  if (chance.next() < 0.1) return text.slice(0, chance.between(0, text.length));
  return chance.next() < 0.1 ? text.replace('{', '{"__proto__":{"polluted":1},') : text;
}
