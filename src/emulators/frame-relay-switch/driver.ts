/** The verbs of the kind "frame_relay_switch". */
import type { SwitchPortSettings } from '../../fabric/protocol.ts';
import type { Driver, Properties } from '../driver.ts';
import { type CircuitRules, checkMappings, circuitsOf } from '../fabric-switches/circuits.ts';
import { fabricDriver } from '../fabric-switches/fabric-driver.ts';
import type { Host } from '../host/host.ts';
import { endForm, frameRelaySwitchKind } from './kind.ts';

/** DLCI of two octets: 10 bits. Source: ITU-T Q.922 §3.3. */
const maxDlci = 1023;
const rules: CircuitRules = {
  form: endForm,
  accepts: ([dlci = -1, ...more]) => dlci >= 0 && dlci <= maxDlci && more.length === 0,
};

export function frameRelaySwitchDriver(host: Host): Driver {
  return fabricDriver(host, {
    kind: frameRelaySwitchKind,
    create: ({ mappings }) => ({ mappings: checkMappings(mappings, rules) }),
    update: (current, { mappings }) => (mappings === undefined ? current : { mappings: checkMappings(mappings, rules) }),
    settings: settingsOf,
  });
}

export function settingsOf(properties: Properties, port: number): SwitchPortSettings | undefined {
  const found = circuitsOf(properties, port);
  if (found.length === 0) return undefined;
  const circuits = found.map(({ own: [dlci = 0], other }) => ({ dlci, toPort: other.port, toDlci: other.numbers[0] ?? 0 }));
  return { medium: 'frame_relay', circuits };
}
