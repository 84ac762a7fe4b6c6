/** Draws the built-in symbols: simple figures in a square of 100 units, stretched to the size that a symbol has. The artwork is our own. */
import { kindSymbols } from '../../emulators/kinds.ts';
import type { SymbolFigure } from '../../schema/symbol.ts';
import { pictureOf } from './symbol-icons.ts';

export interface Colours {
  readonly line: string;
  readonly fill: string;
  /** Colour of the details drawn upon the figure. */
  readonly mark: string;
}

export interface Look {
  readonly colours: Colours;
  /** Shape behind the figure, which is then smaller. */
  readonly background?: { readonly shape: 'square' | 'circle'; readonly colour: string };
}

type Figure = (colours: Colours, letters: string) => string;

const arrow = (from: string, to: string, head: string) => `<path d="M${from} L${to} M${head}" fill="none"/>`;

const letters = ({ mark }: Colours, text: string, y: number) =>
  text === ''
    ? ''
    : `<text x="50" y="${y}" font-family="sans-serif" font-size="${text.length > 2 ? 18 : 24}" font-weight="bold" ` +
      `text-anchor="middle" stroke="none" fill="${mark}">${text}</text>`;

const figures = {
  screen: (colours, text) =>
    `<rect x="6" y="6" width="88" height="62" rx="6"/><path d="M42 68 L38 88 L62 88 L58 68 Z"/>` +
    `<path d="M26 92 L74 92" fill="none"/>${letters(colours, text, 46)}`,
  tower: (colours, text) =>
    `<rect x="16" y="4" width="68" height="92" rx="6"/>` +
    `<g fill="none" stroke="${colours.mark}"><path d="M28 20 L72 20 M28 34 L72 34 M28 48 L60 48"/></g>${letters(colours, text, 82)}`,
  disc: (colours, text) =>
    `<path d="M4 34 L4 66 C4 84 25 96 50 96 C75 96 96 84 96 66 L96 34 Z"/><ellipse cx="50" cy="34" rx="46" ry="30"/>` +
    `<g stroke="${colours.mark}">${arrow('46 28', '24 18', '34 16 L24 18 L28 26')}${arrow('54 40', '76 50', '66 52 L76 50 L72 42')}` +
    `${arrow('76 18', '56 28', '58 20 L56 28 L66 30')}${arrow('24 50', '44 40', '42 48 L44 40 L34 38')}</g>${letters(colours, text, 86)}`,
  box: (colours, text) =>
    `<path d="M4 30 L18 6 L96 6 L82 30 Z"/><path d="M96 6 L96 70 L82 94 L82 30 Z"/><rect x="4" y="30" width="78" height="64"/>` +
    `<g stroke="${colours.mark}">${
      text === ''
        ? `${arrow('40 52', '14 52', '22 44 L14 52 L22 60')}${arrow('46 72', '72 72', '64 64 L72 72 L64 80')}`
        : letters(colours, text, 72).replace('x="50"', 'x="43"')
    }</g>`,
  cumulus: (colours, text) =>
    `<path d="M24 86 C4 86 2 58 18 54 C12 34 34 22 44 32 C50 10 80 14 80 36 C98 38 100 84 76 86 Z"/>${letters(colours, text, 68)}`,
  wall: ({ mark }) =>
    `<rect x="6" y="8" width="88" height="84" rx="3"/><g fill="none" stroke="${mark}">` +
    `<path d="M6 29 L94 29 M6 50 L94 50 M6 71 L94 71 M50 8 L50 29 M28 29 L28 50 M72 29 L72 50 M50 50 L50 71 M28 71 L28 92 M72 71 L72 92"/></g>`,
  plate: (colours, text) => `<rect x="6" y="10" width="88" height="80" rx="14"/>${letters(colours, text, 60)}`,
} as const satisfies Record<SymbolFigure, Figure>;

/** A figure, and the text upon it. */
type Content = readonly [figure: SymbolFigure, text?: string];

/** Figures by symbol name, for symbols that no kind of node has as its own. */
const general: Readonly<Record<string, Content>> = {
  computer: ['screen'],
  client: ['screen'],
  router: ['disc'],
  'router.awp': ['disc'],
  router_firewall: ['disc', 'FW'],
  router_netflow: ['disc', 'NF'],
  voice_router: ['disc', 'V'],
  edge_label_switch_router: ['disc', 'E'],
  label_switch_router: ['disc', 'L'],
  optical_router: ['disc', 'O'],
  iosv_virl: ['disc', 'I'],
  gateway: ['disc', 'G'],
  firewall: ['wall'],
  firewall3: ['wall'],
  PIX_firewall: ['wall'],
  asa: ['wall'],
  multilayer_switch: ['box', 'L3'],
  switch_multilayer: ['box', 'L3'],
  iosv_l2_virl: ['box', 'L2'],
  atm_bridge: ['box', 'BR'],
  access_point: ['box', 'AP'],
  lightweight_ap: ['box', 'LAP'],
  wlan_controller: ['box', 'WLC'],
  server: ['tower'],
  sip_server: ['tower', 'SIP'],
  access_server: ['tower', 'AS'],
  voice_access_server: ['tower', 'VAS'],
  route_switch_processor: ['tower', 'RSP'],
  PBX: ['plate', 'PBX'],
  call_manager: ['plate', 'CM'],
  dslam: ['plate', 'DSL'],
  ids: ['plate', 'IDS'],
  router2: ['disc'],
  router_cloud: ['cumulus', 'R'],
  vm: ['screen', 'VM'],
  template: ['screen', 'T'],
};

const contents: ReadonlyMap<string, Content> = new Map([
  ...kindSymbols.flatMap(({ name, figure, letters: text = '', theme }) =>
    [name, ...(theme ? [theme.affinity] : [])].map((file): [string, Content] => [file, [figure, text]]),
  ),
  ...Object.entries(general),
]);

/** The text of an SVG picture. */
export function drawSymbol(name: string, size: { readonly width: number; readonly height: number }, look: Look): string {
  const { colours, background } = look;
  const { width, height } = size;
  const [figure, text = ''] = contents.get(name) ?? ['plate'];
  const picture = contents.has(name) ? undefined : pictureOf(name);
  const drawn = picture ?? figures[figure](colours, text);
  const back =
    background === undefined
      ? ''
      : background.shape === 'circle'
        ? `<circle cx="50" cy="50" r="50" stroke="none" fill="${background.colour}"/>`
        : `<rect width="100" height="100" rx="12" stroke="none" fill="${background.colour}"/>`;
  const inner = background === undefined ? drawn : `<g transform="translate(22 22) scale(0.56)">${drawn}</g>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<g transform="scale(${width / 100} ${height / 100})" stroke="${colours.line}" stroke-width="3" stroke-linejoin="round" ` +
    `stroke-linecap="round" fill="${colours.fill}">${back}${inner}</g></svg>\n`
  );
}
