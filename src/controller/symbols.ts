/** Sizes of the classic symbols, in pixels: clients lay out labels and links from them. Source: the established set. */
export const defaultSymbol = ':/symbols/computer.svg';

export interface Size {
  readonly width: number;
  readonly height: number;
}

const sizes: readonly (readonly [width: number, height: number, names: string])[] = [
  [65, 59, 'computer docker_guest qemu_guest vbox_guest vmware_guest vpcs_guest traceng'],
  [66, 45, 'router router_firewall router_netflow voice_router firewall PIX_firewall edge_label_switch_router'],
  [66, 56, 'gateway iosv_virl label_switch_router optical_router'],
  [72, 32, 'ethernet_switch hub access_point atm_bridge lightweight_ap wlan_controller'],
  [51, 48, 'atm_switch frame_relay_switch multilayer_switch iosv_l2_virl ids PBX access_server voice_access_server'],
  [159, 71, 'cloud nat'],
  [52, 60, 'asa'],
  [75, 47, 'call_manager'],
  [50, 53, 'dslam'],
  [40, 25, 'ip_phone'],
  [68, 67, 'printer'],
  [51, 66, 'route_switch_processor'],
  [70, 50, 'router.awp'],
  [49, 70, 'server'],
  [40, 60, 'sip_server'],
];
const byName: ReadonlyMap<string, Size> = new Map(
  sizes.flatMap(([width, height, names]) => names.split(' ').map((name) => [name, Object.freeze({ width, height })] as const)),
);
const defaultSize: Size = Object.freeze({ width: 65, height: 59 });

/** Size of a symbol; that of the default symbol for one that is not known. */
export function symbolSize(symbol: string): Size {
  const name = /^:\/symbols\/(?:classic\/)?([^/]+)\.svg$/.exec(symbol)?.[1];
  return (name === undefined ? undefined : byName.get(name)) ?? defaultSize;
}

/** The symbol as it is stored: the default for none, the file's name for a path of the client's machine. */
export function symbolOf(given: string | null | undefined): string {
  if (!given) return defaultSymbol;
  return given.startsWith('/') ? given.slice(given.lastIndexOf('/') + 1) || defaultSymbol : given;
}

/** Where a label stands by default, relative to its node: centred above. Halves are rounded to the even number. */
export function labelOffset(height: number): number {
  const offset = height / 2 + 10;
  const down = Math.floor(offset);
  const rounded = offset - down === 0.5 ? down + (down % 2) : Math.round(offset);
  return -rounded;
}
