/** Facts of the kind "atm_switch": cells take circuits by their path and channel. */

import { circuitPorts, circuitSchemas } from '../fabric-switches/circuits.ts';
import { fabricFacts } from '../fabric-switches/fabric-kind.ts';
import { withoutConsole } from '../facts/always-running.ts';
import type { Kind } from '../kind.ts';

export const endForm = 'port:vpi:vci or port:vpi, such as 1:0:100';

export const atmSwitchKind: Kind = {
  type: 'atm_switch',
  title: 'ATM switch',
  ...circuitSchemas(endForm),
  folder: 'atm-switch',
  ...fabricFacts,
  ...withoutConsole,
  ports: (properties) => circuitPorts(properties, { ATM: 'DLT_ATM_RFC1483' }),
};
