/**
 * Pictures for names of symbols: the files of `symbols/`, simple drawings in a square of 100 units, whose group sets line and fill colours.
 * A name's words (`phone_wireless`, `inspect3`) choose the picture. The artwork is our own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../symbols');
/** Elements of the pictures that were read, by name. */
const pictures = new Map<string, string>();

/** The first word of a name that stands here chooses. */
const words: Readonly<Record<string, string>> = {
  ap: 'antenna',
  bug: 'insect',
  bulb: 'bulb',
  camera: 'camera',
  coffee: 'cup',
  cog: 'cog',
  communications: 'antenna',
  conversation: 'bubbles',
  database: 'cylinder',
  dish: 'dish',
  dna: 'helix',
  factory: 'factory',
  fingerprint: 'fingerprint',
  globe: 'globe',
  grid: 'grid',
  health: 'health',
  house: 'house',
  inspect: 'lens',
  interconnect: 'mesh',
  ip: 'phone',
  laptop: 'laptop',
  ldap: 'network',
  light: 'bulb',
  link: 'links',
  loadbalancer: 'balance',
  nas: 'cylinder',
  office: 'building',
  optical: 'optical',
  phone: 'handset',
  pinpoint: 'pin',
  printer: 'printer',
  rj: 'socket',
  satellite: 'satellite',
  scull: 'skull',
  cluster: 'servers',
  shield: 'shield',
  statistics: 'chart',
  storage: 'cylinder',
  tablet: 'tablet',
  tree: 'tree',
  user: 'person',
  vrf: 'tables',
  wifi: 'antenna',
  wireless: 'antenna',
  wlan: 'antenna',
  wlc: 'antenna',
  xml: 'code',
};
/** Whole names that their words would mislead. */
const names: Readonly<Record<string, string>> = {
  nat2: 'translation',
  phone_wireless: 'phone',
  satellite_dish: 'dish',
  server_cluster: 'servers',
  'server-cluster': 'servers',
};

/** Returns the elements of the picture for a name of a symbol; undefined when no word of the name has one. */
export function pictureOf(name: string): string | undefined {
  const whole = Object.hasOwn(names, name) ? names[name] : undefined;
  const word = name.split(/[^a-z]+/i).find((part) => Object.hasOwn(words, part));
  const picture = whole ?? (word === undefined ? undefined : words[word]);
  return picture === undefined ? undefined : readPicture(picture);
}

function readPicture(picture: string): string {
  const known = pictures.get(picture);
  if (known !== undefined) return known;
  const text = readFileSync(join(folder, `${picture}.svg`), 'utf8');
  const [, elements = ''] = /<g [^>]*>(.*)<\/g>/s.exec(text) ?? [];
  const read = elements.replaceAll(/\s*\n\s*/g, '');
  pictures.set(picture, read);
  return read;
}
