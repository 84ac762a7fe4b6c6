/** Imports the routers that EVE-NG runs by Dynamips: their platform, and modules where the platform has a place for them. */
import type { ForeignMap } from '../../src/schema/foreign-map.ts';
import {
  findRouterHardware,
  type RouterChassis,
  type RouterModule,
  type RouterPlatformName,
  routerHardware,
  routerModules,
} from '../../src/schema/router-hardware.ts';
import type { TreeMap } from '../file/read-yaml.ts';
import { type nodeKeys, slotKeys } from './eve-keys.ts';

/** Hardware of a node, with what of it is not as in the file. */
export interface EveHardware {
  readonly fields: TreeMap;
  readonly changed?: readonly string[];
  readonly missing?: readonly string[];
  /** Whether the node has a port; undefined: all that its file names. */
  readonly hasPort?: ((adapter: number, port: number) => boolean) | undefined;
}

export function routerOf(node: ForeignMap<keyof typeof nodeKeys>): EveHardware {
  const template = String(node.peek('template') ?? '');
  const { platform, chassisName, changed } = platformOf(template);
  const hardware = routerHardware[platform];
  const chassis = hardware.chassis[chassisName ?? hardware.standard];
  const given = slotKeys.flatMap((key, slot) => {
    const module = node.text(key);
    return module === undefined || module === '' || module === '0' ? [] : [{ key, slot, module }];
  });
  const fitting = given.filter(({ slot, module }) => isFitting({ platform, chassis }, slot, module));
  const modules = new Map<number, string>([
    ...(platform === 'c7200' ? [[0, 'C7200-IO-FE'] as const] : []),
    ...fitting.map(({ slot, module }) => [slot, module] as const),
    ...Object.entries(chassis?.boards ?? {}).map(([slot, board]) => [Number(slot), board] as const),
  ]);
  const [nvram, idlepc, ram] = [node.number('nvram'), node.text('idlepc'), node.number('ram')];
  const memory = ram || hardware.memory;
  return {
    fields: {
      memory,
      properties: {
        platform,
        ...(chassisName !== undefined && { chassis: chassisName }),
        ...(idlepc?.startsWith('0x') && idlepc !== '0x0' && { idlepc }),
        ...(nvram && { nvram }),
        ...Object.fromEntries(fitting.map(({ key, module }) => [key, module])),
      },
    },
    changed: [...(changed === undefined ? [] : [changed]), ...(ram ? [] : [`memory is ${memory} MiB`])],
    missing: given
      .filter((one) => !fitting.includes(one))
      .map(({ key, module }) => `${key} ${module.slice(0, 40)}: a ${chassisName ?? platform} has no place for it`),
    hasPort: (adapter, port) => port < (moduleOf(modules.get(adapter))?.ports ?? 0),
  };
}

function moduleOf(name: string | undefined): RouterModule | undefined {
  return name !== undefined && Object.hasOwn(routerModules, name) ? routerModules[name as keyof typeof routerModules] : undefined;
}

/** Whether a chassis takes a module in a slot: boards are soldered in, and modules are of two families. */
function isFitting(
  { platform, chassis }: { readonly platform: string; readonly chassis: RouterChassis | undefined },
  slot: number,
  module: string,
): boolean {
  if (chassis === undefined || slot >= chassis.slots || moduleOf(module) === undefined) return false;
  const board = chassis.boards[slot];
  if (board !== undefined) return module === board;
  if (platform === 'c7200') return module.startsWith(slot === 0 ? 'C7200-IO-' : 'PA-');
  return module.startsWith('NM-');
}

/** Returns the platform that a template names, and the chassis where the platform has several: `c1720` is a c1700. */
function platformOf(template: string): {
  readonly platform: RouterPlatformName;
  readonly chassisName?: string;
  readonly changed?: string;
} {
  const [, series, model = ''] = /^c(17|26|36)(\d\d(?:XM)?)$/i.exec(template) ?? [];
  if (series === undefined)
    return findRouterHardware(template)
      ? { platform: template as RouterPlatformName }
      : { platform: 'c7200', changed: `template "${template.slice(0, 100)}" is taken as a c7200` };
  const platform = `c${series}00` as RouterPlatformName;
  const chassisName = `${series}${model.toUpperCase()}`;
  const { chassis, standard } = routerHardware[platform];
  if (Object.hasOwn(chassis, chassisName)) return { platform, chassisName };
  return model === '00' ? { platform } : { platform, changed: `template ${template} is taken as a ${standard}` };
}
