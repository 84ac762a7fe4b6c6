/**
 * The templates that every server has: their ids, names and symbols are those that existing clients know. The ids are UUIDs made
 * from the name of the type (version 3, DNS namespace). Source: the established v2 API.
 */
import type { NodeType } from '../schema/node.ts';
import type { Category, Template } from '../schema/template.ts';
import { canonical } from './canonical.ts';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly format: string;
  readonly symbol: string;
  readonly category: Category;
  readonly more?: Readonly<Record<string, unknown>>;
}

const rows = {
  cloud: { id: '39e257dc-8412-3174-b6b3-0ee3ed6a43e9', name: 'Cloud', format: 'Cloud{0}', symbol: 'cloud', category: 'guest' },
  nat: { id: 'df8f4ea9-33b7-3e96-86a2-c39bc9bb649c', name: 'NAT', format: 'NAT{0}', symbol: 'nat', category: 'guest' },
  vpcs: {
    id: '19021f99-e36f-394d-b4a1-8aaa902ab9cc',
    name: 'VPCS',
    format: 'PC{0}',
    symbol: 'vpcs_guest',
    category: 'guest',
    more: { properties: { base_script_file: 'vpcs_base_config.txt' } },
  },
  ethernet_switch: {
    id: '1966b864-93e7-32d5-965f-001384eec461',
    name: 'Ethernet switch',
    format: 'Switch{0}',
    symbol: 'ethernet_switch',
    category: 'switch',
    more: { console_type: 'none' },
  },
  ethernet_hub: {
    id: 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0',
    name: 'Ethernet hub',
    format: 'Hub{0}',
    symbol: 'hub',
    category: 'switch',
  },
  frame_relay_switch: {
    id: 'dd0f6f3a-ba58-3249-81cb-a1dd88407a47',
    name: 'Frame Relay switch',
    format: 'FRSW{0}',
    symbol: 'frame_relay_switch',
    category: 'switch',
  },
  atm_switch: {
    id: 'aaa764e2-b383-300f-8a0e-3493bbfdb7d2',
    name: 'ATM switch',
    format: 'ATMSW{0}',
    symbol: 'atm_switch',
    category: 'switch',
  },
} as const satisfies Partial<Record<NodeType, Row>>;

export const builtInTemplates: readonly Template[] = Object.entries(rows).map(([type, row]) => {
  const { id, name, format, symbol, category, more }: Row = row;
  return canonical<Template>({
    ...more,
    builtin: true,
    category,
    compute_id: null,
    default_name_format: format,
    name,
    symbol: `:/symbols/${symbol}.svg`,
    template_id: id,
    template_type: type as NodeType,
  });
});
