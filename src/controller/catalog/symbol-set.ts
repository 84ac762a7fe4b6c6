/** The built-in symbols: ids, sizes and themes are those that clients know; the artwork is ours (`symbol-art.ts`). Source: GNS3's set. */
import { kindSymbols } from '../../emulators/kinds.ts';
import type { Size } from '../model/symbol.ts';
import { affinitySize, classicSizes } from '../model/symbol-sizes.ts';
import { type Colours, drawSymbol } from './symbol-art.ts';

export interface BuiltInSymbol {
  readonly size: Size;
  readonly theme: string;
  readonly filename: string;
  readonly draw: () => string;
}

const classicColours: Colours = { line: '#14445f', fill: '#4f9cc4', mark: '#ffffff' };

const shapes = ['square', 'circle'] as const;
const backgrounds: Readonly<Record<string, string>> = { blue: '#2f6fb2', red: '#b23a3a', gray: '#6b7075', green: '#3d8b4f' };
/** Colour of symbols that belong to no theme. */
const withoutTheme = 'green';

/** Files of the Affinity themes that no category has as its own. Their names choose the picture (`symbol-icons.ts`). */
const affinityNames = [
  'bug camera camera_dome coffee cog communications conversation dna dna2 dslam factory fingerprint firewall globe grid grid2 health house',
  'inspect inspect2 inspect3 interconnect ip_phone laptop ldap light_bulb link loadbalancer nas nat2 office optical phone_cloud phone_old',
  'phone_wireless pinpoint printer rj45 router2 router_cloud satellite satellite_dish scull server server_cluster shield statistics storage',
  'tablet template tree user vm vrf wifi wlc xml',
].flatMap((line) => line.split(' '));

/** Category to file: of the classic theme, and of the others. */
const categories: readonly (readonly [category: string, classic: string, affinity: string])[] = [
  ...kindSymbols.flatMap(({ name, theme }) => (theme ? [[theme.category, name, theme.affinity] as const] : [])),
  ['router', 'router', 'router'],
  ['multilayer_switch', 'multilayer_switch', 'switch_multilayer'],
  ['firewall', 'firewall', 'firewall3'],
  ['computer', 'computer', 'client'],
];

const classicFolder = ':/symbols/classic';

function* classicSymbols(): Generator<[string, BuiltInSymbol]> {
  for (const [width, height, names] of classicSizes) {
    const size = Object.freeze({ width, height });
    for (const name of names.split(' ')) {
      const draw = () => drawSymbol(name, size, { colours: classicColours });
      yield [`${classicFolder}/${name}.svg`, { size, theme: 'Classic', filename: `${name}.svg`, draw }];
    }
  }
}

function* affinitySymbols(): Generator<[string, BuiltInSymbol]> {
  const names = new Set([...categories.map(([, , name]) => name), ...affinityNames]);
  for (const shape of shapes) {
    for (const [colour, background] of Object.entries(backgrounds)) {
      const colours: Colours = { line: '#ffffff', fill: background, mark: '#ffffff' };
      for (const name of names) {
        const draw = () => drawSymbol(name, affinitySize, { colours, background: { shape, colour: background } });
        const symbol = { size: affinitySize, theme: `Affinity-${shape}-${colour}`, filename: `${name}.svg`, draw };
        yield [`:/symbols/affinity/${shape}/${colour}/${name}.svg`, symbol];
      }
    }
  }
}

/** Built-in symbols by id. */
export const builtInSymbols: ReadonlyMap<string, BuiltInSymbol> = new Map([...classicSymbols(), ...affinitySymbols()]);

/** The classic symbol of this file name, with or without its ending in the id; undefined when there is none. */
export function findClassic(filename: string): BuiltInSymbol | undefined {
  return builtInSymbols.get(`${classicFolder}/${filename}`);
}

/** Theme to category to symbol id. */
export const defaultSymbols: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.freeze(
  Object.fromEntries([
    ['Classic', table(([, classic]) => `${classicFolder}/${classic}.svg`)],
    ...shapes.flatMap((shape) =>
      Object.keys(backgrounds)
        .filter((colour) => colour !== withoutTheme)
        .map((colour) => [
          `Affinity-${shape}-${colour}`,
          table(([, , affinity]) => `:/symbols/affinity/${shape}/${colour}/${affinity}.svg`),
        ]),
    ),
  ]),
);

function table(idOf: (row: (typeof categories)[number]) => string): Readonly<Record<string, string>> {
  return Object.freeze(Object.fromEntries(categories.map((row) => [row[0], idOf(row)])));
}
