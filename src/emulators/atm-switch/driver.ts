/** The verbs of the kind "atm_switch". */
import type { SwitchPortSettings } from '../../fabric/protocol.ts';
import type { Driver, Properties } from '../driver.ts';
import { type CircuitRules, checkMappings, circuitsOf } from '../fabric-switches/circuits.ts';
import { fabricDriver } from '../fabric-switches/fabric-driver.ts';
import type { Host } from '../host/host.ts';
import { atmSwitchKind, endForm } from './kind.ts';

/** Widths of the fields in the header at a user's interface: 8 and 16 bits. Source: ITU-T I.361 §2.2. */
const maxVpi = 255;
const maxVci = 65_535;
const rules: CircuitRules = {
  form: endForm,
  accepts: ([vpi = -1, vci = 0, ...more]) => vpi >= 0 && vpi <= maxVpi && vci <= maxVci && more.length === 0,
};

export function atmSwitchDriver(host: Host): Driver {
  return fabricDriver(host, {
    kind: atmSwitchKind,
    create: ({ mappings }) => ({ mappings: checkMappings(mappings, rules) }),
    update: (current, { mappings }) => (mappings === undefined ? current : { mappings: checkMappings(mappings, rules) }),
    settings: settingsOf,
  });
}

export function settingsOf(properties: Properties, port: number): SwitchPortSettings | undefined {
  const found = circuitsOf(properties, port);
  if (found.length === 0) return undefined;
  const circuits = found.map(({ own: [vpi = 0, vci], other }) => {
    const [toVpi = 0, toVci] = other.numbers;
    return { vpi, toPort: other.port, toVpi, ...(vci !== undefined && { vci }), ...(toVci !== undefined && { toVci }) };
  });
  return { medium: 'atm', circuits };
}
