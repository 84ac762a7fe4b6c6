/**
 * Pictures for names of symbols: simple drawings in a square of 100 units, whose group sets line and fill colours. A name's words
 * (`phone_wireless`, `inspect3`) choose the picture. The artwork is our own.
 */

type Coordinates = readonly [number, number];

const ring = (x: number, y: number, radius: number) => `<circle cx="${x}" cy="${y}" r="${radius}"/>`;
const open = (path: string) => `<path d="${path}" fill="none"/>`;
const dots = (...places: readonly Coordinates[]) => places.map(([x, y]) => ring(x, y, 3)).join('');
const box = ([x, y]: Coordinates, [width, height]: Coordinates, round = 4) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"/>`;
const rack = (x: number, y: number) => box([x, y], [40, 24]) + dots([x + 9, y + 12]) + open(`M${x + 18} ${y + 12} h14`);

const pictures = {
  antenna:
    ring(50, 34, 6) +
    open(
      'M50 40 L50 94 M34 94 L66 94 M34 18 A23 23 0 0 0 34 50 M66 18 A23 23 0 0 1 66 50 M22 8 A38 38 0 0 0 22 60 M78 8 A38 38 0 0 1 78 60',
    ),
  balance:
    ring(20, 50, 12) + ring(80, 18, 12) + ring(80, 50, 12) + ring(80, 82, 12) + open('M32 50 L68 50 M31 45 L69 22 M31 55 L69 78'),
  bubbles: '<path d="M8 10 H68 V50 H34 L20 64 V50 H8 Z"/><path d="M40 58 H92 V86 H84 V96 L72 86 H40 Z"/>',
  building:
    box([20, 6], [60, 90], 2) + open('M34 22 h10 M56 22 h10 M34 40 h10 M56 40 h10 M34 58 h10 M56 58 h10 M44 96 V76 h12 V96'),
  bulb: `<path d="M50 6 A30 30 0 0 0 34 62 V74 H66 V62 A30 30 0 0 0 50 6 Z"/>${open('M38 84 H62 M42 94 H58 M40 46 L50 56 L60 46')}`,
  camera: `${box([6, 30], [60, 44])}<path d="M66 46 L94 32 V72 L66 58 Z"/>${ring(36, 52, 12)}`,
  chart: open('M10 6 V94 H96') + box([22, 58], [14, 28], 1) + box([46, 36], [14, 50], 1) + box([70, 16], [14, 70], 1),
  code: open('M30 26 L8 50 L30 74 M70 26 L92 50 L70 74 M58 14 L42 86'),
  cog:
    '<path d="M50 6 V20 M50 80 V94 M6 50 H20 M80 50 H94 M19 19 L29 29 M71 71 L81 81 M81 19 L71 29 M29 71 L19 81" stroke-width="11"/>' +
    ring(50, 50, 30) +
    ring(50, 50, 12),
  cup:
    '<path d="M14 36 H70 V70 A18 18 0 0 1 52 88 H32 A18 18 0 0 1 14 70 Z"/>' +
    open('M70 44 H80 A12 12 0 0 1 80 68 H70 M30 26 C24 18 36 14 30 4 M50 26 C44 18 56 14 50 4'),
  cylinder:
    '<path d="M14 20 V80 C14 98 86 98 86 80 V20 C86 38 14 38 14 20 Z"/><ellipse cx="50" cy="20" rx="36" ry="13"/>' +
    open('M14 40 C14 58 86 58 86 40 M14 60 C14 78 86 78 86 60'),
  dish: `<path d="M14 16 A46 46 0 0 0 76 78 Z"/>${open('M45 47 L72 20 M40 74 L32 94 M20 94 H60')}${ring(75, 17, 5)}`,
  factory: `<path d="M6 94 V52 L32 36 V52 L58 36 V52 L66 52 L70 8 H84 L90 94 Z"/>${open('M20 72 h10 M42 72 h10 M64 72 h10')}`,
  fingerprint: open(
    'M18 70 C12 26 36 10 52 10 C78 10 88 34 84 66 M30 82 C20 40 38 26 52 26 C72 26 74 56 70 84 M44 92 C34 60 42 42 52 42 C62 42 58 70 56 92',
  ),
  globe: `${ring(50, 50, 44)}<ellipse cx="50" cy="50" rx="19" ry="44" fill="none"/>${open('M6 50 H94 M13 28 H87 M13 72 H87')}`,
  grid: [8, 40, 72].flatMap((x) => [8, 40, 72].map((y) => box([x, y], [20, 20], 2))).join(''),
  handset:
    '<path d="M12 34 C24 12 76 12 88 34 L84 48 L66 44 V32 C58 28 42 28 34 32 V44 L16 48 Z"/><path d="M30 52 H70 L82 90 H18 Z"/>' +
    ring(50, 70, 10),
  health: '<path d="M36 8 H64 V36 H92 V64 H64 V92 H36 V64 H8 V36 H36 Z"/>',
  helix: open(
    'M28 6 C28 40 72 40 72 64 C72 80 50 84 50 94 M72 6 C72 40 28 40 28 64 C28 80 50 84 50 94 M34 18 H66 M42 32 H58 M36 54 H64 M32 68 H68',
  ),
  house: `<path d="M6 50 L50 10 L94 50 H82 V92 H18 V50 Z"/>${open('M42 92 V66 H58 V92')}`,
  insect:
    '<ellipse cx="50" cy="60" rx="22" ry="32"/>' +
    ring(50, 24, 12) +
    open('M50 36 V92 M28 50 L10 40 M28 64 H8 M30 80 L14 92 M72 50 L90 40 M72 64 H92 M70 80 L86 92 M42 14 L34 4 M58 14 L66 4'),
  laptop: `${box([18, 16], [64, 46])}<path d="M4 84 L18 64 H82 L96 84 Z"/>${open('M42 76 H58')}`,
  lens: ring(42, 42, 30) + open('M64 64 L92 92 M28 42 A14 14 0 0 1 42 28'),
  links: `${box([6, 36], [52, 28], 14)}<g fill="none">${box([42, 36], [52, 28], 14)}</g>`,
  mesh:
    open('M20 20 L80 20 L80 80 L20 80 Z M20 20 L80 80 M80 20 L20 80') +
    ring(20, 20, 11) +
    ring(80, 20, 11) +
    ring(20, 80, 11) +
    ring(80, 80, 11),
  network:
    box([38, 6], [24, 20]) +
    box([6, 72], [24, 20]) +
    box([38, 72], [24, 20]) +
    box([70, 72], [24, 20]) +
    open('M50 26 V72 M18 72 V50 H82 V72'),
  optical: open('M8 70 C26 20 36 20 50 50 C64 80 74 80 92 30') + dots([8, 70], [92, 30], [50, 50]),
  person: `${ring(50, 28, 20)}<path d="M12 94 C12 50 88 50 88 94 Z"/>`,
  phone:
    box([28, 6], [44, 88], 8) +
    box([36, 16], [28, 26], 2) +
    dots([40, 54], [50, 54], [60, 54], [40, 66], [50, 66], [60, 66], [40, 78], [50, 78], [60, 78]),
  pin: `<path d="M50 94 C34 66 20 54 20 36 A30 30 0 0 1 80 36 C80 54 66 66 50 94 Z"/>${ring(50, 36, 11)}`,
  printer:
    box([24, 6], [52, 30], 2) +
    box([6, 34], [88, 38]) +
    box([24, 58], [52, 36], 2) +
    open('M34 70 H66 M34 82 H58') +
    dots([82, 46]),
  satellite:
    '<g transform="rotate(-40 50 50)">' +
    box([38, 38], [24, 24]) +
    box([2, 40], [28, 20], 1) +
    box([70, 40], [28, 20], 1) +
    open('M30 50 H38 M62 50 H70 M16 40 V60 M84 40 V60 M50 62 V72') +
    ring(50, 76, 5) +
    '</g>',
  servers: rack(6, 8) + rack(54, 8) + rack(6, 40) + rack(54, 40) + rack(30, 72),
  shield: `<path d="M50 4 L88 18 V48 C88 72 70 88 50 96 C30 88 12 72 12 48 V18 Z"/>${open('M32 50 L46 64 L70 34')}`,
  skull:
    '<path d="M50 6 C18 6 8 36 18 60 L30 68 V86 H70 V68 L82 60 C92 36 82 6 50 6 Z"/>' +
    ring(36, 44, 9) +
    ring(64, 44, 9) +
    open('M42 86 V74 M50 86 V74 M58 86 V74'),
  socket: box([10, 10], [80, 80]) + open('M24 28 V70 H38 V80 H62 V70 H76 V28 Z M36 28 V42 M46 28 V42 M56 28 V42 M66 28 V42'),
  tables: `${ring(34, 50, 28)}<g fill="none">${ring(66, 50, 28)}</g>${open('M42 50 H58')}`,
  tablet: box([18, 4], [64, 92], 8) + box([26, 14], [48, 66], 2) + dots([50, 88]),
  translation:
    box([36, 6], [28, 88]) +
    open(
      'M4 34 H32 M24 26 L32 34 L24 42 M68 34 H96 M88 26 L96 34 L88 42 M96 68 H68 M76 60 L68 68 L76 76 M32 68 H4 M12 60 L4 68 L12 76',
    ),
  tree:
    ring(50, 16, 12) +
    ring(24, 52, 10) +
    ring(76, 52, 10) +
    ring(10, 86, 8) +
    ring(38, 86, 8) +
    ring(62, 86, 8) +
    ring(90, 86, 8) +
    open('M43 26 L30 43 M57 26 L70 43 M20 61 L13 79 M28 61 L35 79 M72 61 L65 79 M80 61 L87 79'),
} as const;
export type PictureName = keyof typeof pictures;

/** The first word of a name that stands here chooses. */
const words: Readonly<Record<string, PictureName>> = {
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
const names: Readonly<Record<string, PictureName>> = {
  nat2: 'translation',
  phone_wireless: 'phone',
  satellite_dish: 'dish',
  server_cluster: 'servers',
  'server-cluster': 'servers',
};

/** The elements of a picture; undefined when no word of the name has one. */
export function pictureOf(name: string): string | undefined {
  const whole = Object.hasOwn(names, name) ? names[name] : undefined;
  const word = name.split(/[^a-z]+/i).find((part) => Object.hasOwn(words, part));
  const picture = whole ?? (word === undefined ? undefined : words[word]);
  return picture && pictures[picture];
}
