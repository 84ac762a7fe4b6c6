/** A router's properties, complete: what was given, and the platform's own for the rest. */
import { fault } from '../../api/faults.ts';
import type { Properties } from '../driver.ts';
import { type Chassis, type PlatformName, platforms, standardChassis } from './platforms.ts';

const common: Properties = {
  auto_delete_disks: false,
  aux: null,
  disk1: 0,
  exec_area: 64,
  idlemax: 500,
  idlepc: '',
  idlesleep: 30,
  mac_addr: null,
  mmap: true,
  system_id: 'FTX0945W0MY',
  usage: '',
};

const engines: Properties = { midplane: 'vxr', npe: 'npe-400', power_supplies: [1, 1], sensors: [22, 22, 22, 22] };

/** @throws router_platform */
export function routerDefaults(given: Properties): Properties {
  const { platform: name, chassis: wanted, dynamips_id, image, ram } = given;
  const platform = platforms[name as PlatformName];
  if (!platform) throw badPlatform(given, `there is no platform "${name}"; known are ${Object.keys(platforms).join(', ')}`);
  const { chassis: known, engines: hasEngines, iomem, ...sizes } = platform;
  const chassisName = wanted ?? standardChassis[name as PlatformName] ?? '';
  const chassis = typeof chassisName === 'string' && Object.hasOwn(known, chassisName) ? known[chassisName] : undefined;
  if (!chassis) throw badPlatform(given, chassisProblem(String(chassisName), Object.keys(known)));
  return {
    ...common,
    ...sizes,
    ...(hasEngines && engines),
    ...(iomem !== undefined && { iomem }),
    ...(chassisName !== '' && { chassis: chassisName }),
    ...slotsOf(chassis, hasEngines ? ioBoard(given) : undefined),
    dynamips_id,
    image,
    platform: name,
    ram,
  };
}

/** Adds the boards of the chassis to the given properties, in their slots. */
export function withBoards(given: Properties): Properties {
  const chassis = platforms[given.platform as PlatformName]?.chassis[String(given.chassis ?? '')];
  const boards = Object.entries(chassis?.boards ?? {}).map(([slot, board]) => [`slot${slot}`, board]);
  return { ...given, ...Object.fromEntries(boards) };
}

function slotsOf({ slots, wics }: Chassis, first: string | undefined): Properties {
  const empty = (prefix: string, count: number) => Array.from({ length: count }, (_, number) => [`${prefix}${number}`, null]);
  return Object.fromEntries([...empty('slot', slots), ...empty('wic', wics), ...(first ? [['slot0', first]] : [])]);
}

function ioBoard({ npe }: Properties): string {
  return npe === 'npe-g2' ? 'C7200-IO-GE-E' : 'C7200-IO-FE';
}

function chassisProblem(chassis: string, known: readonly string[]): string {
  return known.includes('') ? 'it has no other chassis' : `there is no chassis "${chassis}"; known are ${known.join(', ')}`;
}

function badPlatform({ platform }: Properties, reason: string): Error {
  return fault('router_platform', { platform: String(platform), reason });
}
