/** Facts of the kind "frame_relay_switch": frames take circuits by their DLCI. */

import { circuitPorts, circuitSchemas } from '../fabric-switches/circuits.ts';
import { fabricFacts } from '../fabric-switches/fabric-kind.ts';
import { withoutConsole } from '../facts/always-running.ts';
import type { Kind } from '../kind.ts';

export const endForm = 'port:dlci, such as 1:101';

export const frameRelaySwitchKind: Kind = {
  type: 'frame_relay_switch',
  title: 'Frame Relay switch',
  ...circuitSchemas(endForm),
  folder: 'frame-relay-switch',
  ...fabricFacts,
  ...withoutConsole,
  ports: (properties) => circuitPorts(properties, { 'Frame Relay': 'DLT_FRELAY' }),
};
