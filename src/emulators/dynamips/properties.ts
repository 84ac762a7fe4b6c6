/** A router's properties, complete: what was given, and the platform's own for the rest. */
import { fault } from '../../api/faults.ts';
import { findRouterHardware, type RouterChassis, type RouterPlatformName } from '../../schema/router-hardware.ts';
import type { Properties } from '../driver.ts';

interface RouterPlatform {
  /** KiB. */
  readonly nvram: number;
  /** MiB of the first PCMCIA disk. */
  readonly disk0: number;
  /** Percent of the RAM that interfaces get; undefined where it cannot be set. */
  readonly iomem?: number;
  readonly sparsemem: boolean;
  readonly clock_divisor: number;
  /** Power supplies, sensors, engines: of c7200 only. */
  readonly engines?: true;
}

const platforms: Readonly<Record<RouterPlatformName, RouterPlatform>> = {
  c1700: { nvram: 32, disk0: 0, iomem: 15, sparsemem: false, clock_divisor: 8 },
  c2600: { nvram: 128, disk0: 0, iomem: 15, sparsemem: false, clock_divisor: 8 },
  c2691: { nvram: 112, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8 },
  c3600: { nvram: 128, disk0: 0, iomem: 5, sparsemem: true, clock_divisor: 4 },
  c3725: { nvram: 112, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8 },
  c3745: { nvram: 304, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8 },
  c7200: { nvram: 128, disk0: 64, sparsemem: true, clock_divisor: 4, engines: true },
};

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
  const [hardware, platform] = [findRouterHardware(String(name)), platforms[name as RouterPlatformName]];
  if (!hardware) throw badPlatform(given, `there is no platform "${name}"; known are ${Object.keys(platforms).join(', ')}`);
  const { chassis: known, standard } = hardware;
  const { engines: hasEngines, iomem, ...sizes } = platform;
  const chassisName = wanted ?? standard;
  const chassis = typeof chassisName === 'string' && Object.hasOwn(known, chassisName) ? known[chassisName] : undefined;
  if (!chassis) throw badPlatform(given, chassisProblem(String(chassisName), Object.keys(known)));
  requirePlaces(given, 'slot', chassis.slots);
  requirePlaces(given, 'wic', chassis.wics);
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

/** @throws router_platform for a module in a slot or bay that the chassis does not have */
function requirePlaces(given: Properties, prefix: 'slot' | 'wic', count: number): void {
  const [key, module] = Object.entries(given).find(
    ([one, value]) => one.startsWith(prefix) && value && Number(one.slice(prefix.length)) >= count,
  ) ?? [''];
  if (key === '') return;
  const known = count === 0 ? 'none' : Array.from({ length: count }, (_, number) => `${prefix}${number}`).join(', ');
  throw badPlatform(given, `there is no ${key} for ${String(module)}; known are ${known}`);
}

/** Adds the boards of the chassis to the given properties, in their slots. */
export function withBoards(given: Properties): Properties {
  const chassis = findRouterHardware(String(given.platform))?.chassis[String(given.chassis ?? '')];
  const boards = Object.entries(chassis?.boards ?? {}).map(([slot, board]) => [`slot${slot}`, board]);
  return { ...given, ...Object.fromEntries(boards) };
}

function slotsOf({ slots, wics }: RouterChassis, first: string | undefined): Properties {
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
