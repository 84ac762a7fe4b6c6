/**
 * The commands that make a router of a node's properties, from plain facts. Sources: the recording in `test/support/dynamips/`, and the
 * properties of the GNS3 2.2 v2 API.
 */
import { findRouterHardware } from '../../schema/router-hardware.ts';
import type { Properties } from '../driver.ts';
import { innerImage, innerPorts } from './confined.ts';
import type { CommandWord } from './hypervisor.ts';

export interface RouterFacts {
  /** Name of the router in its hypervisor. */
  readonly name: string;
  readonly properties: Properties;
  /** Files in the working folder, read into the NVRAM by the start; an empty one is none. */
  readonly startupConfig?: string;
  readonly privateConfig?: string;
  readonly hasAux: boolean;
  /** A ghost image that the router maps, as it sees it. */
  readonly ghost?: string;
  /** `[Dynamips] mmap_support` and `sparse_memory_support`. */
  readonly mmap: boolean;
  readonly sparsemem: boolean;
}

export type Command = readonly CommandWord[];

/** Default MAC address of a router, `caNN.xxxx.0000`: NN is its number, xxxx the end of the node's id. */
export function macAddress(id: number, nodeId: string): string {
  return `ca${id.toString(16).slice(-2).padStart(2, '0')}.${nodeId.replaceAll('-', '').slice(-4)}.0000`;
}

/** Commands up to the start, in the order in which they are sent. */
export function routerCommands(router: RouterFacts, nodeId: string): Command[] {
  const { name, properties, startupConfig, privateConfig, ghost } = router;
  const platform = String(properties.platform);
  const vm = (command: string, ...values: CommandWord[]): Command => ['vm', command, name, ...values];
  const configs = [startupConfig ?? '', ...(privateConfig === undefined ? [] : [privateConfig])];
  return [
    ['vm', 'create', name, Number(properties.dynamips_id), platform],
    ...platformCommands(router, nodeId),
    vm('set_ios', innerImage),
    ...sizeCommands(router).map(([command, value]) => vm(command, value)),
    ...idleCommands(name, properties),
    ...(ghost === undefined ? [] : [vm('set_ghost_status', 2), vm('set_ghost_file', ghost)]),
    vm('set_con_tcp_port', innerPorts.console),
    ...(router.hasAux ? [vm('set_aux_tcp_port', innerPorts.aux)] : []),
    ...pluggedModules(properties).map(({ slot, sub, module }) => vm('slot_add_binding', slot, sub, module)),
    ...(startupConfig === undefined && privateConfig === undefined ? [] : [vm('set_config', ...configs)]),
  ];
}

/** Memory, and what the router is of without being started: the same for the router that makes a ghost image. */
export function sizeCommands({ properties, mmap, sparsemem }: Pick<RouterFacts, 'properties' | 'mmap' | 'sparsemem'>) {
  const number = (key: string) => Number(properties[key]);
  return [
    ['set_ram', number('ram')],
    ['set_nvram', number('nvram')],
    ['set_ram_mmap', Number(mmap && properties.mmap === true)],
    ['set_sparse_mem', Number(sparsemem && properties.sparsemem === true)],
    ['set_clock_divisor', number('clock_divisor')],
    ['set_exec_area', number('exec_area')],
    ['set_disk0', number('disk0')],
    ['set_disk1', number('disk1')],
  ] as const;
}

function platformCommands({ name, properties }: RouterFacts, nodeId: string): Command[] {
  const { platform, chassis, midplane, npe, iomem, system_id, mac_addr, dynamips_id } = properties;
  const of = (command: string, ...values: CommandWord[]): Command => [String(platform), command, name, ...values];
  const mac = mac_addr ? String(mac_addr) : macAddress(Number(dynamips_id), nodeId);
  return [
    ...(chassis ? [of('set_chassis', String(chassis))] : []),
    ...(npe ? [of('set_npe', String(npe))] : []),
    ...(midplane ? [of('set_midplane', String(midplane))] : []),
    ...environmentCommands(name, properties),
    ...(typeof iomem === 'number' ? [of('set_iomem', iomem)] : []),
    of('set_system_id', String(system_id)),
    of('set_mac_addr', mac),
  ];
}

/** Sensors (degrees Celsius) and power supplies (on, off), of c7200 only. They may change while the router runs. */
export function environmentCommands(name: string, { platform, sensors, power_supplies }: Properties): Command[] {
  const each = (command: string, values: unknown): Command[] =>
    Array.isArray(values) ? values.map((value, index) => [String(platform), command, name, index, Number(value)]) : [];
  return [...each('set_temp_sensor', sensors), ...each('set_power_supply', power_supplies)];
}

/** The first processor is the only one. */
const cpu = 0;

export function idleCommands(name: string, { idlepc, idlemax, idlesleep }: Properties, isOnline = false): Command[] {
  const value = idlepc ? String(idlepc) : '0x0';
  return [
    isOnline ? ['vm', 'set_idle_pc_online', name, cpu, value] : ['vm', 'set_idle_pc', name, value],
    ['vm', 'set_idle_max', name, cpu, Number(idlemax)],
    ['vm', 'set_idle_sleep_time', name, cpu, Number(idlesleep)],
  ];
}

export interface PluggedModule {
  readonly slot: number;
  /** 0; of a WIC in bay b: 16 × (b + 1), the number of its first port. */
  readonly sub: number;
  readonly module: string;
}

/** Lists the modules in slots and bays, without the boards that are soldered in. */
export function pluggedModules(properties: Properties): PluggedModule[] {
  const chassis = findRouterHardware(String(properties.platform))?.chassis[String(properties.chassis ?? '')];
  const plugged = Object.entries(properties).flatMap(([key, module]): PluggedModule[] => {
    const [, kind = '', number = ''] = /^(slot|wic)(\d)$/.exec(key) ?? [];
    if (kind === '' || typeof module !== 'string' || module === '') return [];
    return [kind === 'slot' ? { slot: Number(number), sub: 0, module } : { slot: 0, sub: 16 * (Number(number) + 1), module }];
  });
  const isBoard = ({ slot, sub }: PluggedModule) => sub === 0 && chassis?.boards[slot] !== undefined;
  return plugged.filter((one) => !isBoard(one)).sort((one, other) => one.slot - other.slot || one.sub - other.sub);
}
