/**
 * A lab of switches with seven PCs each, in a chain. Three PCs of a switch share a VLAN with the link to the switch before it, four with that to
 * the next one: each broadcast domain has seven PCs and a link of the chain, as VPCS has only 255 hardware addresses.
 */
export const groupSize = 8;
/** PCs at these ports are in VLAN 1. */
const lastFormerPort = 3;

export interface Chain {
  readonly body: { readonly nodes: readonly object[]; readonly links: readonly object[] };
  /** Of the nodes, by index: the address that each PC is to reach; undefined for switches. */
  readonly neighbours: readonly (string | undefined)[];
}

/** The slices have about as many groups each, the first ones on the first slice. */
export function chainOver(slices: readonly string[], groups: number): Chain {
  const indexes = Array.from({ length: groups * groupSize }, (_, index) => index);
  const nodes = indexes.map((index) => {
    const group = groupOf(index);
    const compute_id = slices[Math.floor((group * slices.length) / groups)];
    const common = { ref: String(index), compute_id };
    if (isSwitch(index)) return { ...common, name: `S${group}`, node_type: 'ethernet_switch', properties: { ports_mapping } };
    const startup_script = `ip ${addressOf(index)}/16\n`;
    return { ...common, name: `PC${index}`, node_type: 'vpcs', properties: { startup_script } };
  });
  const links = indexes.flatMap((index) => {
    const ofGroup = index - (index % groupSize);
    if (index !== ofGroup) return [{ nodes: [end(index, 0), end(ofGroup, index - ofGroup)] }];
    return index === 0 ? [] : [{ nodes: [end(index - groupSize, groupSize), end(index, 0)] }];
  });
  const domains = Map.groupBy(
    indexes.filter((index) => !isSwitch(index)),
    domainOf,
  );
  const neighbours = indexes.map((index) => {
    if (isSwitch(index)) return undefined;
    const domain = domains.get(domainOf(index)) ?? [];
    return addressOf(domain[(domain.indexOf(index) + 1) % domain.length] ?? index);
  });
  return { body: { nodes, links }, neighbours };
}

const ports_mapping = Array.from({ length: groupSize + 1 }, (_, port_number) => ({
  name: `Ethernet${port_number}`,
  port_number,
  type: 'access',
  vlan: port_number <= lastFormerPort ? 1 : 2,
}));

const groupOf = (index: number) => Math.floor(index / groupSize);
const isSwitch = (index: number) => index % groupSize === 0;
const domainOf = (index: number) => groupOf(index) + (index % groupSize <= lastFormerPort ? 0 : 1);
const addressOf = (index: number) => `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
const end = (index: number, port_number: number) => ({ ref: String(index), adapter_number: 0, port_number });
