/** The page's own symbols of devices: a tile of 48 units with a glyph of strokes in a square of 24. The artwork is our own. */

/** Groups of devices by colour (`symbols.css`). */
export type SymbolRole =
  | 'router'
  | 'switch'
  | 'security'
  | 'host'
  | 'machine'
  | 'container'
  | 'server'
  | 'outside'
  | 'voice'
  | 'wireless';

export interface SymbolShape {
  readonly role: SymbolRole;
  /** Default: a rounded square. */
  readonly round?: true;
  readonly glyph: string;
  /** The glyph in a few strokes, for small tiles. */
  readonly small: string;
}

const screen = 'M3 4h18v12H3zM8 20h8M12 16v4';
const inAndOut = 'M14 10l6-6M15.5 4H20v4.5M10 14l-6 6M8.5 20H4v-4.5M4 4l6 6M10 5.5V10H5.5M20 20l-6-6M14 18.5V14h4.5';

export const symbolShapes = {
  router: { small: 'M5 5l14 14M19 5L5 19', role: 'router', round: true, glyph: inAndOut },
  firewallRouter: { small: 'M5 5l14 14M19 5L5 19M12 3v18', role: 'security', round: true, glyph: inAndOut },
  switch: { small: 'M4 8h14M14 4l4 4-4 4M20 17H6', role: 'switch', glyph: 'M3 8h16M15 4l4 4-4 4M21 16H5M9 12l-4 4 4 4' },
  multilayerSwitch: {
    small: 'M12 4v16M4 12h16',
    role: 'switch',
    round: true,
    glyph: 'M12 9V3M9 6l3-3 3 3M12 15v6M9 18l3 3 3-3M9 12H3M6 9l-3 3 3 3M15 12h6M18 9l3 3-3 3',
  },
  hub: { small: 'M3 12h18M7 8l-4 4 4 4M17 8l4 4-4 4', role: 'switch', glyph: 'M3 12h18M7 8l-4 4 4 4M17 8l4 4-4 4' },
  frameRelay: {
    small: 'M3 6h4l10 12h4M3 18h4L17 6h4',
    role: 'switch',
    glyph: 'M3 7h4l10 10h4M3 17h4L17 7h4M18 4l3 3-3 3M18 14l3 3-3 3',
  },
  atm: {
    small: 'M4 5v14M20 5v14M4 5l16 14M20 5L4 19',
    role: 'switch',
    glyph: 'M3 5h5v5H3zM16 5h5v5h-5zM3 14h5v5H3zM16 14h5v5h-5zM8 7.5h8M8 16.5h8M8 10l8 4M16 10l-8 4',
  },
  firewall: {
    small: 'M4 5h16v14H4zM4 12h16M12 5v7',
    role: 'security',
    glyph: 'M3 4h18v16H3zM3 9.3h18M3 14.6h18M12 4v5.3M7.5 9.3v5.3M16.5 9.3v5.3M12 14.6V20',
  },
  detector: {
    small: 'M3 12c5-8 13-8 18 0c-5 8-13 8-18 0z',
    role: 'security',
    glyph: 'M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 9a3 3 0 1 0 .1 0',
  },
  computer: { small: 'M4 5h16v11H4zM8 20h8', role: 'host', glyph: screen },
  terminal: { small: 'M5 6l6 6-6 6M13 18h7', role: 'host', glyph: `${screen}M7.5 7.5L10 10l-2.5 2.5M12.5 12.5h4` },
  route: {
    small: 'M5 18V9h14M14 4l5 5-5 5',
    role: 'host',
    glyph: 'M6 16a3 3 0 1 0 .1 0M18 4a3 3 0 1 0 .1 0M6 16V9a4 4 0 0 1 4-4h5M9 19h6a3 3 0 0 0 3-3v-6',
  },
  machine: {
    small: 'M6 6h12v12H6zM12 2v4M12 18v4M2 12h4M18 12h4',
    role: 'machine',
    glyph: 'M6 6h12v12H6zM10 10h4v4h-4zM9.5 3v3M14.5 3v3M9.5 18v3M14.5 18v3M3 9.5h3M3 14.5h3M18 9.5h3M18 14.5h3',
  },
  container: {
    small: 'M3 12h18v7H3zM9 5h6v7H9z',
    role: 'container',
    glyph: 'M3 12h5.5v5.5H3zM9.3 12h5.5v5.5H9.3zM15.6 12H21v5.5h-5.4zM9.3 5.5h5.5V11H9.3z',
  },
  server: {
    small: 'M5 4h14v16H5zM5 12h14',
    role: 'server',
    glyph: 'M5 3h14v7H5zM5 14h14v7H5zM8.5 6.5h.1M8.5 17.5h.1M12.5 6.5H16M12.5 17.5H16M12 10v4',
  },
  cloud: {
    small: 'M7 18a4.5 4.5 0 0 1-.6-8.95A6 6 0 0 1 18 8.6 4.8 4.8 0 0 1 17.4 18z',
    role: 'outside',
    glyph: 'M7 19a4.5 4.5 0 0 1-.6-8.95A6 6 0 0 1 18 9.6 4.8 4.8 0 0 1 17.4 19z',
  },
  internet: {
    small: 'M12 3a9 9 0 1 0 .1 0M3 12h18',
    role: 'outside',
    round: true,
    glyph: 'M12 3a9 9 0 1 0 .1 0M3.5 9h17M3.5 15h17M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  },
  phone: {
    small: 'M6 4c0 9 5 14 14 14',
    role: 'voice',
    glyph:
      'M6 3.5h3.5l1.8 4.6-2.4 1.7a11 11 0 0 0 5.3 5.3l1.7-2.4 4.6 1.8V18a2.5 2.5 0 0 1-2.5 2.5A14.5 14.5 0 0 1 3.5 6 2.5 2.5 0 0 1 6 3.5z',
  },
  wireless: {
    small: 'M12 19h.1M5 12a10 10 0 0 1 14 0',
    role: 'wireless',
    glyph: 'M12 18.5h.1M8.2 14.8a5.4 5.4 0 0 1 7.6 0M5 11.3a10 10 0 0 1 14 0M2 7.7a14.3 14.3 0 0 1 20 0',
  },
  modem: { small: 'M4 13h16v6H4zM12 13V4', role: 'outside', glyph: 'M3 14h18v6H3zM6.5 17h.1M11 17h6M12 11V4M8.5 7.5L12 4l3.5 3.5' },
  printer: { small: 'M7 9V4h10v5M4 9h16v8H4z', role: 'host', glyph: 'M7 8V3h10v5M3.5 8h17v8h-3.5M7 16H3.5V8M7 13h10v8H7z' },
} as const satisfies Record<string, SymbolShape>;

type ShapeName = keyof typeof symbolShapes;

/** File names of GNS3's classic symbols, by shape. */
const files: Readonly<Record<ShapeName, string>> = {
  router:
    'router router.awp router2 router_netflow voice_router edge_label_switch_router label_switch_router optical_router iosv_virl gateway',
  firewallRouter: 'router_firewall',
  switch: 'ethernet_switch access_server route_switch_processor atm_bridge',
  multilayerSwitch: 'multilayer_switch switch_multilayer iosv_l2_virl',
  hub: 'hub',
  frameRelay: 'frame_relay_switch',
  atm: 'atm_switch',
  firewall: 'firewall firewall3 PIX_firewall asa',
  detector: 'ids',
  computer: 'computer client',
  terminal: 'vpcs_guest',
  route: 'traceng',
  machine: 'qemu_guest vbox_guest vmware_guest vm template',
  container: 'docker_guest',
  server: 'server',
  cloud: 'cloud router_cloud',
  internet: 'nat',
  phone: 'ip_phone PBX call_manager sip_server voice_access_server',
  wireless: 'access_point lightweight_ap wlan_controller',
  modem: 'dslam',
  printer: 'printer',
};

const shapeOfFile: ReadonlyMap<string, SymbolShape> = new Map(
  Object.entries(files).flatMap(([shape, names]) =>
    names.split(' ').map((name) => [name, symbolShapes[shape as ShapeName]] as const),
  ),
);

/** Undefined for symbols of users and of other themes: they have pictures of their own. */
export function shapeOf(symbolId: string): SymbolShape | undefined {
  const file = /^:\/symbols\/(?:classic\/)?([^/]+)\.svg$/.exec(symbolId)?.[1];
  return file === undefined ? undefined : shapeOfFile.get(file);
}
