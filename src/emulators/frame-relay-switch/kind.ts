/** Facts of the kind "frame_relay_switch": frames take circuits by their DLCI. */
import { circuitPorts, circuitSchemas } from '../fabric-switches/circuits.ts';
import { fabricFacts } from '../fabric-switches/fabric-kind.ts';
import { withoutConsole } from '../facts/always-running.ts';
import { symbol } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

export const endForm = 'port:dlci, such as 1:101';

const template: TemplateFacts = {
  default_name_format: 'FRSW{0}',
  symbol: symbol('frame_relay_switch'),
  ownSymbol: {
    name: 'frame_relay_switch',
    width: 51,
    height: 48,
    figure: 'box',
    letters: 'FR',
    theme: { category: 'frame_relay_switch', affinity: 'isdn' },
  },
  category: 'switch',
  builtIn: { template_id: 'dd0f6f3a-ba58-3249-81cb-a1dd88407a47', name: 'Frame Relay switch' },
};

export const frameRelaySwitchKind: Kind = {
  type: 'frame_relay_switch',
  title: 'Frame Relay switch',
  template,
  ...circuitSchemas(endForm),
  folder: 'frame-relay-switch',
  ...fabricFacts,
  ...withoutConsole,
  ports: (properties) => circuitPorts(properties, { 'Frame Relay': 'DLT_FRELAY' }),
};
