/** Facts that nodes and templates of VirtualBox and of VMware share. */
import { LongText, Name, nullable, oneOf, TcpPort } from '../../schema/common.ts';
import { CustomAdapters } from '../../schema/node.ts';
import type { TypeProperties } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import type { Properties } from '../driver.ts';
import type { Kind } from '../kind.ts';
import { namePorts } from './port-naming.ts';
import {
  autoStart,
  closeActions,
  customAdapters,
  flag as filledFlag,
  portNames,
  telnetOrNone,
  usage,
  word,
} from './template-pieces.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const virtualMachineFields = {
  adapter_type: Type.Optional(Name({ description: 'Model of the network adapters' })),
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(telnetOrNone)),
  custom_adapters: Type.Optional(CustomAdapters),
  headless: flag('No window'),
  on_close: Type.Optional(oneOf(closeActions)),
  usage: Type.Optional(LongText()),
  use_any_adapter: flag('Adapters that the machine uses otherwise are taken as well'),
};

/** Converts a VirtualBox or VMware machine to properties of a QEMU machine. Unknown properties get QEMU's own default. */
export function convertedMachine({
  adapters,
  adapterType,
  ram,
}: {
  adapters: unknown;
  adapterType?: string | undefined;
  ram?: unknown;
}) {
  return { adapters, ...(adapterType !== undefined && { adapter_type: adapterType }), ...(ram !== undefined && { ram }) };
}

export const virtualMachineDefaults: Properties = {
  adapters: 0,
  custom_adapters: [],
  headless: false,
  on_close: 'power_off',
  usage: '',
  use_any_adapter: false,
};

export const virtualMachineFacts = {
  can: {
    suspend: true,
    filter: true,
    resetConsole: true,
    reload: true,
    duplicate: false,
    startAnswersNode: false,
    addressesByPort: false,
  },
  alwaysRunning: false,
  isExternal: true,
  consoleTypes: telnetOrNone,
  defaults: { console_type: 'telnet', port_name_format: 'Ethernet{0}', port_segment_size: 0 },
  ports: (properties, naming) => {
    const { adapters, adapter_type } = properties;
    const model = typeof adapter_type === 'string' ? adapter_type : undefined;
    return namePorts({ count: typeof adapters === 'number' ? adapters : 1, adapter_type: model }, naming);
  },
} as const satisfies Partial<Kind>;

/** Settings of their templates. Source: the GNS3 2.2 v2 API. */
export const virtualMachineProperties: TypeProperties = {
  ...usage,
  ...portNames,
  ...autoStart,
  ...customAdapters,
  console_type: word(telnetOrNone, 'none'),
  headless: filledFlag(false),
  linked_clone: filledFlag(false),
  on_close: word(closeActions, 'power_off'),
  use_any_adapter: filledFlag(false),
};
