/** The template of Frame Relay switches: built in only. Source: the established v2 API. */

import { symbol } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

export const frameRelaySwitchTemplate: TemplateFacts = {
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
