/** Sizes of the built-in symbols, from which nodes have theirs. Source: GNS3's set. */
import { kindSymbols } from '../../emulators/kinds.ts';
import type { Size } from './symbol.ts';

/** Clients lay out labels and links from these. */
export const classicSizes: readonly (readonly [width: number, height: number, names: string])[] = [
  ...kindSymbols.map(({ width, height, name }) => [width, height, name] as const),
  [65, 59, 'computer'],
  [66, 45, 'router router_firewall router_netflow voice_router firewall PIX_firewall edge_label_switch_router'],
  [66, 56, 'gateway iosv_virl label_switch_router optical_router'],
  [72, 32, 'access_point atm_bridge lightweight_ap wlan_controller'],
  [51, 48, 'multilayer_switch iosv_l2_virl ids PBX access_server voice_access_server'],
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
export const affinitySize: Size = Object.freeze({ width: 60, height: 60 });

const standard: Size = Object.freeze({ width: 65, height: 59 });
const classic: ReadonlyMap<string, Size> = new Map(
  classicSizes.flatMap(([width, height, names]) => names.split(' ').map((name) => [`${name}.svg`, { width, height }] as const)),
);

/** Returns the size of a built-in symbol; for any other id, that of the default symbol. */
export function builtInSize(symbolId: string): Size {
  if (symbolId.startsWith(':/symbols/affinity/')) return affinitySize;
  return classic.get(symbolId.slice(symbolId.lastIndexOf('/') + 1)) ?? standard;
}
